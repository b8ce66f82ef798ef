"""Force back to the hand as topics: the haptic device's port answers each motion, a gamepad rumbles."""

import numpy as np
import pytest

pytest.importorskip("rclpy")

from geometry_msgs.msg import TwistStamped, WrenchStamped
from sensor_msgs.msg import Joy, JoyFeedback
from std_srvs.srv import SetBool

from telerobot.msg import ExecutorState, PrimitiveReport
from telerobot_nodes import graph
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.motion.law import sensor_in_tool
from telerobot_nodes.nodes.framework import qos_profile
from telerobot_nodes.nodes.operator.operator_input import OperatorInputNode

DOWN = [0.5, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0]  # the tool's z axis points down
PRESSES = 6.0  # [N] along the tool's z axis


def qos(name):
    return qos_profile(graph.topic(name).qos)


class Hand:
    """A haptic device and a robot that presses, around the node."""

    def __init__(self, ros):
        self.ros, self.node = ros, ros.add(OperatorInputNode(NodeOptions("operator_input", graph="demo")))
        self.felt, self.rumble, self.moved = [], [], {"path_plan_queue/delta_twist_cmds": []}
        self.moved["gcmsf_control/teleop_cmds"] = []
        self._listen(WrenchStamped, "operator_input/reflected", self.felt)
        self._listen(JoyFeedback, "joy/set_feedback", self.rumble)
        for name, messages in self.moved.items():
            self._listen(TwistStamped, name, messages)
        self._hand = ros.probe.create_publisher(TwistStamped, "operator_input/hand", qos("operator_input/hand"))
        self._state = ros.probe.create_publisher(ExecutorState, "plan_executor/state", qos("plan_executor/state"))
        self._report = ros.probe.create_publisher(PrimitiveReport, "gcmsf_control/report", qos("gcmsf_control/report"))
        self._joy = ros.probe.create_publisher(Joy, "joy", qos("joy"))
        ends = (self._hand, self._state, self._report, self._joy)
        assert ros.until(lambda: all(end.get_subscription_count() for end in ends))
        T = sensor_in_tool(load_robot("arm"))
        self.sensor = [*(T.rotation.T @ np.array([0.0, 0.0, PRESSES])), 0.0, 0.0, 0.0]

    def _listen(self, kind, name, into):
        self.ros.probe.create_subscription(kind, name, into.append, qos(name))
        assert self.ros.until(lambda: self.node.count_subscribers(name) > 0)

    def touch(self, wrench=None):
        self._state.publish(ExecutorState(tool_pose=DOWN, wrench=self.sensor if wrench is None else wrench))

    def move(self, frame="world", z=0.0):
        message = TwistStamped()
        message.header.frame_id, message.twist.linear.z = frame, z
        self._hand.publish(message)

    def press(self, frame="world"):
        """Press on until the whole force has come smoothly."""

        def settled():
            self.touch()
            self.move(frame, -0.05 if frame == "world" else 0.05)
            forces = [message.wrench.force.z for message in self.felt if message.header.frame_id == frame]
            return len(forces) > 20 and forces[-1] == pytest.approx(forces[-6], abs=0.01) and forces[-1] != 0.0

        assert self.ros.until(settled)
        return [message for message in self.felt if message.header.frame_id == frame][-1]


@pytest.fixture
def hand(ros):
    return Hand(ros)


def test_the_hand_feels_the_surface_in_its_own_axes(hand):
    felt = hand.press("world")
    assert felt.wrench.force.z == pytest.approx(PRESSES, abs=0.1)  # up, the tool presses down
    assert felt.wrench.force.x == pytest.approx(0.0, abs=1e-6)
    felt = hand.press("tool")
    assert felt.wrench.force.z == pytest.approx(-PRESSES, abs=0.1)


def test_the_gain_of_the_running_primitive_counts_until_it_ends(hand):
    running = PrimitiveReport(state=PrimitiveReport.RUNNING, reading_names=["reflect_gain"], readings=[0.5])
    hand._report.publish(running)
    assert hand.ros.until(lambda: hand.node._reflected.reflection.primitive_gain == 0.5)
    assert hand.press().wrench.force.z == pytest.approx(0.5 * PRESSES, abs=0.1)
    hand._report.publish(PrimitiveReport(state=PrimitiveReport.STOPPED, reading_names=["reflect_gain"], readings=[0.5]))
    assert hand.ros.until(lambda: hand.node._reflected.reflection.primitive_gain == 1.0)


def test_the_hand_moves_the_plan_or_the_primitive(hand):
    hand.move("tool", 0.02)
    plan, primitive = hand.moved.values()
    assert hand.ros.until(lambda: plan)
    assert (plan[0].twist.linear.z, plan[0].header.frame_id) == (0.02, "tool")
    assert hand.ros.call(SetBool, "operator_input/direct", data=True).success
    hand.move("world", 0.03)
    assert hand.ros.until(lambda: primitive)
    assert (primitive[0].twist.linear.z, primitive[0].header.frame_id) == (0.03, "world")


def test_a_hand_that_falls_silent_is_let_go(hand):
    hand.press()
    count = len(hand.felt)
    assert hand.ros.until(lambda: len(hand.felt) > count + 2 and hand.felt[-1].wrench.force.z == 0.0)


def test_the_force_ends_when_the_robot_falls_silent(hand):
    hand.press()

    def released():
        hand.move()
        return hand.felt[-1].wrench.force.z == 0.0

    assert hand.ros.until(released)


def test_an_arm_without_a_sensor_reflects_nothing(hand):
    hand.touch([])
    hand.move()
    assert hand.ros.until(lambda: hand.felt)
    assert hand.felt[-1].wrench.force.z == 0.0


def test_a_motion_in_other_axes_or_not_finite_is_refused_by_name(hand):
    hand.move("camera")
    assert hand.ros.until(lambda: hand.node.refusals == 1)
    assert "hand.header.frame_id" in hand.node.last_refusal
    hand.move("world", float("nan"))
    assert hand.ros.until(lambda: hand.node.refusals == 2)
    assert "hand.twist" in hand.node.last_refusal
    assert not any(hand.moved.values())


def test_a_gamepad_rumbles_by_the_force_and_without_one_nothing_rumbles(hand):
    hand.touch()
    hand.move()
    assert hand.ros.until(lambda: hand.felt)  # after the state, in order of the executor
    assert not hand.rumble

    def rumbles():
        hand._joy.publish(Joy(axes=[0.0] * 5, buttons=[0] * 7))
        hand.touch()
        return bool(hand.rumble)

    assert hand.ros.until(rumbles)
    assert hand.rumble[-1].type == JoyFeedback.TYPE_RUMBLE
    assert hand.rumble[-1].intensity == pytest.approx(PRESSES / 15.0, abs=0.01)
