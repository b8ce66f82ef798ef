"""A practice robot behind a delay, in its own namespace: `ros2 launch telerobot practice.launch.py delay:=4`."""

from telerobot_nodes.runtime import launch_description


def generate_launch_description():  # noqa: ANN201 -- the type exists only where ROS does
    """Return the launch description made from the graph table."""
    return launch_description("practice")
