"""The input device as a node: events become Joy messages that move the tool, its end is said, feedback rumbles."""

import pytest

pytest.importorskip("rclpy")

from geometry_msgs.msg import TwistStamped
from recorded_device import Recorded
from sensor_msgs.msg import Joy, JoyFeedback

from telerobot_nodes import graph
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.nodes.devices.input_device import InputDeviceNode
from telerobot_nodes.nodes.framework import qos_profile
from telerobot_nodes.nodes.operator.operator_input import OperatorInputNode
from telerobot_nodes.operator.devices import ROLE_FRAME, JoyMapping


def qos(name):
    return qos_profile(graph.topic(name).qos)


@pytest.fixture
def pad(tmp_path):
    return Recorded(tmp_path).plug()


@pytest.fixture
def node(ros, pad, tmp_path):
    file = tmp_path / "params.yaml"
    file.write_text(f"input_device:\n  ros__parameters:\n    root: {tmp_path}\n")
    return ros.add(InputDeviceNode(NodeOptions("input_device", params=file, graph="demo")))


@pytest.fixture
def joys(ros, node):
    received = []
    ros.probe.create_subscription(Joy, "joy", received.append, qos("joy"))
    assert ros.until(lambda: received)
    return received


def test_events_become_messages_with_a_stamp_in_the_layout_of_the_roles(ros, node, pad, joys):
    pad.send(BTN_TL=1)
    pad.send(ABS_Y=-32768)
    assert ros.until(lambda: joys[-1].axes[0] == 1.0)
    assert list(joys[-1].buttons) == [1, 0, 0, 0, 0]
    assert joys[-1].header.frame_id == ROLE_FRAME
    assert joys[-1].header.stamp.sec > 0


def test_the_device_moves_the_tool_and_unplugging_ends_it_and_is_said(ros, node, pad, joys):
    hand = ros.add(OperatorInputNode(NodeOptions("operator_input", graph="demo")))
    twists = []
    ros.probe.create_subscription(TwistStamped, "path_plan_queue/delta_twist_cmds", twists.append, qos("joy"))
    assert ros.until(lambda: hand._twist.get_subscription_count() and node._joy.get_subscription_count() > 1)
    pad.send(BTN_TL=1)
    pad.send(ABS_Y=-32768)
    assert ros.until(lambda: twists)
    assert ros.until(lambda: twists[-1].twist.linear.x == pytest.approx(JoyMapping().linear))
    pad.unplug()
    assert ros.until(lambda: twists[-1].twist.linear.x == 0.0)
    health = node.health()
    assert "'Test Pad'" in health.message
    assert "unplugged, the motion has ended" in health.message
    assert (health.values["connection"], health.values["unplugged"]) == ("unplugged", 1)
    assert health.level != b"\0"
    count = len(joys)
    assert ros.until(lambda: not ros.until(lambda: len(joys) > count, 0.3))  # silence
    pad.plug()
    assert ros.until(lambda: node.health().values["connection"] == "connected")
    assert "let go" in node.health().message


def test_feedback_rumbles_and_a_bad_one_is_refused_by_name(ros, node, pad):
    feedback = ros.probe.create_publisher(JoyFeedback, "joy/set_feedback", qos("joy/set_feedback"))
    assert ros.until(feedback.get_subscription_count)
    assert ros.until(lambda: node.health().values["connection"] == "connected")
    feedback.publish(JoyFeedback(type=JoyFeedback.TYPE_LED, intensity=1.0))
    feedback.publish(JoyFeedback(type=JoyFeedback.TYPE_RUMBLE, intensity=float("nan")))
    feedback.publish(JoyFeedback(type=JoyFeedback.TYPE_RUMBLE, intensity=0.25))
    assert ros.until(lambda: pad.feedback()[1])
    assert pad.feedback()[0] == pytest.approx([0.25], abs=1e-4)
    assert "intensity" in node.last_refusal


def test_a_node_that_stops_ends_the_motion(ros, node, pad, joys):
    pad.send(BTN_TL=1)
    pad.send(ABS_Y=-32768)
    assert ros.until(lambda: joys[-1].axes[0] == 1.0)
    node.trigger_deactivate()
    assert ros.until(lambda: not any(joys[-1].axes) and not any(joys[-1].buttons))
