"""Nodes of the practice robot move no real arm, whatever arm file and workcell they were given."""

import pytest

pytest.importorskip("rclpy")

import rclpy
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

from telerobot.srv import SetLink
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.nodes.framework.table_node import TableNode
from telerobot_nodes.nodes.robot.hardware_interface import HardwareInterfaceNode
from telerobot_nodes.nodes.tools.link_emulator import LinkEmulatorNode

REAL = "urdf: ur5\ndriver: ros2_control\noptions: {namespace: /cell}\n"
OPEN = {"delay": 0.5, "jitter": 0.0, "loss": 0.0, "duplicate": 0.0, "reorder": False, "up": True, "down": True}


@pytest.fixture
def practice():
    rclpy.init(args=["--ros-args", "-r", "__ns:=/practice"])
    yield
    rclpy.try_shutdown()


@pytest.mark.parametrize(("graph", "place"), [("practice", "/practice/left"), ("robot", "/left")])
def test_another_arm_of_the_workcell_is_looked_for_inside_the_own_namespace(practice, graph, place):
    node = TableNode(NodeOptions("rtc_decision_unit", graph=graph))
    try:
        halt = node.publisher("rtc_decision_unit/halt", namespace="left")
        execute = node.action_client("gcmsf_control/execute", namespace="left")
        assert halt.topic_name == f"{place}/rtc_decision_unit/halt"
        assert execute._action_name == f"{place}/gcmsf_control/execute"
        assert node.publisher("rtc_decision_unit/halt").topic_name == "/practice/rtc_decision_unit/halt"
    finally:
        node.destroy_node()


def test_an_arm_file_with_a_real_driver_is_simulated(ros, tmp_path):
    file, states = tmp_path / "cell.yaml", []
    file.write_text(REAL)
    ros.probe.create_subscription(JointState, "joint_states", states.append, qos_profile_sensor_data)
    ros.add(HardwareInterfaceNode(NodeOptions("hardware_interface", robot=str(file), graph="practice")))
    assert ros.until(lambda: states)  # nobody serves the driver's topics
    assert not [name for name, _ in ros.probe.get_topic_names_and_types() if name.startswith("/cell")]


def test_a_recorded_delay_is_followed_until_the_link_is_set(ros, tmp_path):
    profile, parameters = tmp_path / "delay.csv", tmp_path / "parameters.yaml"
    profile.write_text("t[s],up[s],down[s]\n0,0.2,0.4\n1,0.2,0.4\n")
    parameters.write_text(f"link_emulator:\n  ros__parameters:\n    profile: {profile}\n")
    node = ros.add(LinkEmulatorNode(NodeOptions("link_emulator", params=parameters, graph="practice")))
    line = node._lines[True]
    assert node.health().message.startswith("delay 0.3 s")
    assert (line.delay_at(node.now()), node._lines[False].delay_at(node.now())) == pytest.approx((0.2, 0.4))
    assert ros.call(SetLink, "link_emulator/set", **OPEN).success
    assert line.delay_at is None
    assert node.health().message.startswith("delay 0.5 s")
