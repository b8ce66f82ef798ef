"""The operator's host: `ros2 launch telerobot operator.launch.py robot:=panda namespace:=left`."""

from telerobot_nodes.runtime import launch_description


def generate_launch_description():  # noqa: ANN201 -- the type exists only where ROS does
    """Return the launch description made from the graph table."""
    return launch_description("operator")
