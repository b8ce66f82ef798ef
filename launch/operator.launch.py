"""The operator's host: `ros2 launch telerobot operator.launch.py robot:=panda namespace:=left`."""

from telerobot_nodes.launching import launch_description


def generate_launch_description():  # noqa: ANN201 -- the type exists only where ROS does
    """Made from the graph table."""
    return launch_description("operator")
