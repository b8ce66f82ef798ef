"""The hardware interface as a node: what it publishes carries the time of the measurement."""

import dataclasses

import pytest

pytest.importorskip("rclpy")

from geometry_msgs.msg import WrenchStamped
from rclpy.qos import qos_profile_sensor_data
from rclpy.time import Time
from sensor_msgs.msg import JointState

from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.nodes.robot.hardware_interface import HardwareInterfaceNode

AGE = 2.0  # [s]


@pytest.mark.parametrize(
    ("kind", "topic"), [(JointState, "joint_states"), (WrenchStamped, "hardware_interface/wrench")]
)
def test_the_age_of_a_message_is_that_of_its_measurement(ros, monkeypatch, kind, topic):
    """A driver may deliver late what it measured; whoever computes a speed from two messages must not see that."""
    node, ages = HardwareInterfaceNode(NodeOptions("hardware_interface", graph="demo")), []

    def hear(message):
        ages.append((ros.probe.get_clock().now() - Time.from_msg(message.header.stamp)).nanoseconds * 1e-9)

    measured = node._arm.measured
    monkeypatch.setattr(node._arm, "measured", lambda: dataclasses.replace(measured(), time=node.now() - AGE))
    ros.probe.create_subscription(kind, topic, hear, qos_profile_sensor_data)
    ros.add(node)
    assert ros.until(lambda: len(ages) > 10)
    assert min(ages) == pytest.approx(AGE, abs=0.5)
    assert min(ages) >= AGE - 1e-6
