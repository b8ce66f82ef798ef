"""Both hosts on one machine with an emulated link: `ros2 launch telerobot demo.launch.py robot:=panda`."""

from telerobot_nodes.runtime import launch_description


def generate_launch_description():  # noqa: ANN201 -- the type exists only where ROS does
    """Return the launch description made from the graph table."""
    return launch_description("demo")
