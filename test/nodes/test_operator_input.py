"""Operator input as a node: replays reach the plan's topic as recorded, joy becomes velocity, refusals are clear."""

from functools import partial

import numpy as np
import pytest

pytest.importorskip("rclpy")

import rclpy
from geometry_msgs.msg import PoseStamped, TwistStamped
from sensor_msgs.msg import Joy
from std_srvs.srv import SetBool, Trigger

from telerobot.msg import ExecutorState, Halt, HaltReceipt, InputState, PlanQueueState
from telerobot.srv import ReplayHand, SetMode
from telerobot_nodes import graph
from telerobot_nodes.core.config import NodeOptions, load_parameters, share_path
from telerobot_nodes.core.protocol import ESTOP_SENDER
from telerobot_nodes.nodes.framework import leave, qos_profile
from telerobot_nodes.nodes.operator.operator_input import WISHES, OperatorInputNode
from telerobot_nodes.operator.client import HaltStage
from telerobot_nodes.operator.devices import JoyMapping

COMMAND = qos_profile(graph.topic("path_plan_queue/pose_target_cmds").qos)
STATE = qos_profile(graph.topic("plan_executor/state").qos)
LATCHED = qos_profile(graph.topic("operator_input/state").qos)
PREFIXES = (("halt", ""), ("estop", ESTOP_SENDER))  # of the sender in a receipt
HEADER = "t[s],x[m],y[m],z[m]\n"


@pytest.fixture
def node(ros):
    return ros.add(OperatorInputNode(NodeOptions("operator_input", graph="demo")))


@pytest.fixture
def receive(ros):
    """Subscribes to the poses as a node of this name does, and returns the list of what it receives."""

    def subscribe(name):
        received, node = [], rclpy.create_node(name)
        node.create_subscription(PoseStamped, "path_plan_queue/pose_target_cmds", received.append, COMMAND)
        ros.executor.add_node(node)
        ros.at_end(partial(leave, node))  # not under the spin, which would end with an exception
        return received

    return subscribe


@pytest.fixture
def poses(node, receive):
    return receive("path_plan_queue")


def replay(ros, file="", speed=1.0, scale=0.0):
    return ros.call(ReplayHand, "operator_input/replay", file=str(file), speed=speed, scale=scale)


def short_hand(tmp_path, samples=30, step=0.001):
    path = tmp_path / "short.csv"
    path.write_text(HEADER + "".join(f"{0.01 * i},{step * i},0,0\n" for i in range(samples)))
    return path


def test_a_replay_sends_every_pose_in_order_and_says_that_it_finished(ros, node, poses, tmp_path):
    answer = replay(ros, short_hand(tmp_path))
    assert answer.success, answer.message
    assert answer.duration == pytest.approx(0.29)
    assert ros.until(lambda: node.health().values["replay"] == "finished")
    assert ros.until(lambda: len(poses) == 30)
    np.testing.assert_allclose([m.pose.position.x for m in poses], answer.scale * 0.001 * np.arange(30), atol=1e-12)
    assert {m.header.frame_id for m in poses} == {"device"}
    stamps = [m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in poses]
    np.testing.assert_allclose(np.diff(stamps), 0.01, atol=0.002)  # as recorded, however late they were sent
    assert node.health().values["poses_sent"] == 30


def test_a_replay_waits_until_the_queue_receives_its_poses_and_none_is_lost(ros, node, receive, tmp_path):
    receive("bag_recorder")  # a subscription, but not the queue's
    answer = ros.begin(ReplayHand, "operator_input/replay", file=str(short_hand(tmp_path)), speed=1.0)
    assert ros.until(lambda: node._waiting is not None)
    assert not replay(ros, short_hand(tmp_path)).success  # one at a time
    assert node.health().values["replay"] == "idle"
    poses = receive("path_plan_queue")
    assert answer().success
    assert ros.until(lambda: len(poses) == 30)


def test_a_replay_that_nobody_receives_is_refused_with_the_reason(ros, node, monkeypatch):
    monkeypatch.setattr("telerobot_nodes.nodes.operator.operator_input.RECEIVER_LIMIT", 0.3)
    answer = replay(ros)
    assert not answer.success
    assert answer.message.startswith("path_plan_queue does not receive the poses")
    assert node.health().values["replay"] == "idle"
    assert node._poses_sent == 0


def test_a_replay_that_waits_can_be_stopped(ros, node):
    answer = ros.begin(ReplayHand, "operator_input/replay", speed=1.0)
    assert ros.until(lambda: node._waiting is not None)
    assert ros.call(Trigger, "operator_input/stop_replay").message == "stopped"
    assert not answer().success
    assert answer().message == "stopped before it began"
    assert node._poses_sent == 0


def test_without_a_file_the_demo_recording_is_played(ros, node, poses):
    answer = replay(ros, speed=10.0)
    assert answer.success, answer.message
    assert "demo_hand.csv" in answer.message
    assert ros.until(lambda: len(poses) > 5)


def test_a_wide_motion_is_scaled_into_the_workspace_and_the_scale_is_said(ros, node, poses, tmp_path):
    answer = replay(ros, short_hand(tmp_path, step=0.03))
    assert answer.success, answer.message
    assert 0.1 <= answer.scale < 1.0
    assert f"scale {answer.scale:.2f}" in answer.message


def test_a_replay_can_be_stopped(ros, node, poses, tmp_path):
    assert replay(ros, short_hand(tmp_path, samples=3000, step=0.00001)).success
    assert ros.until(lambda: poses)
    assert not replay(ros).success
    assert ros.call(Trigger, "operator_input/stop_replay").message == "stopped"
    assert node.health().values["replay"] == "stopped"
    assert ros.call(Trigger, "operator_input/stop_replay").message == "no replay was running"


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"file": "/nowhere/hand.csv"}, "file:"),
        ({"speed": 0.0}, "speed:"),
        ({"speed": float("nan")}, "speed:"),
        ({"scale": -1.0}, "scale:"),
        ({"scale": float("inf")}, "scale:"),
    ],
)
def test_a_bad_request_is_refused_by_name_and_nothing_is_sent(ros, node, poses, fields, names):
    answer = replay(ros, **fields)
    assert not answer.success
    assert answer.message.startswith(names)
    assert node.health().values["replay"] == "idle"


def test_joy_becomes_velocity_and_a_device_without_the_axis_is_refused(ros, node):
    twists = []
    ros.probe.create_subscription(TwistStamped, "path_plan_queue/delta_twist_cmds", twists.append, COMMAND)
    joy = ros.probe.create_publisher(Joy, "joy", COMMAND)
    assert ros.until(lambda: node._twist.get_subscription_count() and joy.get_subscription_count())
    joy.publish(Joy(axes=[0.0, 1.0], buttons=[0, 0, 0, 0, 1]))
    assert ros.until(lambda: node.refusals == 1)
    assert "axes[2] (linear z)" in node.last_refusal
    joy.publish(Joy(axes=[0.0, 1.0, 0.0, 0.0, 0.0], buttons=[0, 0, 0, 0, 1]))
    assert ros.until(lambda: twists)
    assert twists[0].twist.linear.x == pytest.approx(JoyMapping().linear)
    assert twists[0].header.frame_id == "world"


def test_the_joy_file_says_what_the_defaults_are():
    assert load_parameters(JoyMapping, share_path("config/joy.yaml"), "operator_input") == JoyMapping()


def test_direct_sends_the_device_to_the_running_primitive_and_lets_the_plan_rest(ros, node):
    plan, primitive = [], []
    ros.probe.create_subscription(TwistStamped, "path_plan_queue/delta_twist_cmds", plan.append, COMMAND)
    ros.probe.create_subscription(TwistStamped, "gcmsf_control/teleop_cmds", primitive.append, COMMAND)
    joy = ros.probe.create_publisher(Joy, "joy", COMMAND)
    ends = (node._twist, node._teleop, joy)
    assert ros.until(lambda: all(end.get_subscription_count() for end in ends))
    moving = Joy(axes=[0.0, 1.0, 0.0, 0.0, 0.0], buttons=[0, 0, 0, 0, 1])
    joy.publish(moving)
    assert ros.until(lambda: len(plan) == 1)
    assert ros.call(SetBool, "operator_input/direct", data=True).success
    assert ros.until(lambda: len(plan) == 2)
    assert plan[1].twist.linear.x == 0.0
    joy.publish(moving)  # held all the time
    joy.publish(Joy(axes=[0.0] * 5, buttons=[0] * 5))
    joy.publish(moving)
    assert ros.until(lambda: primitive)
    assert primitive[0].twist.linear.x == pytest.approx(JoyMapping().linear)
    assert len(plan) == 2
    assert len(primitive) == 1  # a stick that was held moved nothing


def states(ros):
    received = []
    ros.probe.create_subscription(InputState, "operator_input/state", received.append, LATCHED)
    return received


def test_in_supervision_the_device_moves_nothing_and_what_it_moved_comes_to_rest(ros, node):
    plan, shown = [], states(ros)
    ros.probe.create_subscription(TwistStamped, "path_plan_queue/delta_twist_cmds", plan.append, COMMAND)
    joy = ros.probe.create_publisher(Joy, "joy", COMMAND)
    assert ros.until(lambda: node._twist.get_subscription_count() and joy.get_subscription_count() and shown)
    assert (shown[-1].mode, shown[-1].plan) == (InputState.TELEOPERATION, True)
    moving = Joy(axes=[0.0, 1.0, 0.0, 0.0, 0.0], buttons=[0, 0, 0, 0, 1])
    joy.publish(moving)
    assert ros.until(lambda: len(plan) == 1)
    answer = ros.call(SetMode, "operator_input/mode", mode="supervisory")
    assert answer.success
    assert "moves nothing" in answer.message
    assert ros.until(lambda: len(plan) == 2 and shown[-1].mode == InputState.SUPERVISORY)
    assert plan[1].twist.linear.x == 0.0
    assert not (shown[-1].plan or shown[-1].primitive)
    joy.publish(moving)
    assert ros.call(SetMode, "operator_input/mode", mode="teleoperation").success
    for message in (moving, moving, Joy(axes=[0.0] * 5, buttons=[0] * 5), moving):  # held; let go; moved
        joy.publish(message)
    assert ros.until(lambda: len(plan) > 2)
    assert len(plan) == 3


def test_traded_the_device_lays_the_plan_while_this_operator_holds_it(ros, node):
    shown = states(ros)
    queue = ros.probe.create_publisher(PlanQueueState, "path_plan_queue/state", STATE)
    assert ros.until(lambda: queue.get_subscription_count() and shown)
    assert ros.call(SetMode, "operator_input/mode", mode="traded").success
    for held in (True, False, True):

        def followed(held=held):
            queue.publish(PlanQueueState(has_authority=held))
            return shown[-1].plan is held

        assert ros.until(followed)
        assert shown[-1].mode == InputState.TRADED


def test_autonomous_gives_the_plan_up_and_teleoperation_requests_it(ros, node):
    asked = []

    def answer(name):
        def serve(_request, response):
            asked.append(name)
            response.success = True
            return response

        ros.probe.create_service(Trigger, f"path_plan_queue/{name}_control", serve)

    answer("release")
    answer("request")
    queue = ros.probe.create_publisher(PlanQueueState, "path_plan_queue/state", STATE)
    clients = [node._client._port._clients[deed] for deed in WISHES.values()]
    assert ros.until(lambda: queue.get_subscription_count() and all(c.service_is_ready() for c in clients))
    for held, mode, expected in ((True, "autonomous", "release"), (False, "teleoperation", "request")):

        def known(held=held):
            queue.publish(PlanQueueState(has_authority=held))
            return node._client.queue.has_authority is held and node._client.received.queue is not None

        assert ros.until(known)
        assert ros.call(SetMode, "operator_input/mode", mode=mode).success
        assert ros.until(lambda expected=expected: asked[-1:] == [expected])
    assert asked == ["release", "request"]


def test_a_replay_ends_where_the_plan_passes_to_another_in_mode_traded(ros, node, poses, tmp_path):
    queue = ros.probe.create_publisher(PlanQueueState, "path_plan_queue/state", STATE)
    assert ros.until(queue.get_subscription_count)

    def known(held):
        queue.publish(PlanQueueState(has_authority=held))
        return node._client.queue.has_authority is held and node._client.received.queue is not None

    assert ros.until(lambda: known(True))
    assert ros.call(SetMode, "operator_input/mode", mode="traded").success
    assert replay(ros, short_hand(tmp_path, samples=3000, step=1e-5)).success
    assert ros.until(lambda: len(poses) > 3)
    assert ros.until(lambda: known(False))
    assert ros.until(lambda: node.health().values["replay"] == "stopped")


def test_an_unknown_mode_is_refused_and_changes_nothing(ros, node):
    shown = states(ros)
    answer = ros.call(SetMode, "operator_input/mode", mode="autopilot")
    assert not answer.success
    assert "mode" in answer.message
    assert "supervisory" in answer.message
    assert ros.until(lambda: shown)
    assert shown[-1].mode == InputState.TELEOPERATION


def test_a_hand_is_replayed_only_where_the_device_lays_the_plan(ros, node):
    assert ros.call(SetMode, "operator_input/mode", mode="shared").success
    answer = replay(ros)
    assert not answer.success
    assert "in mode shared" in answer.message


class Phone:
    """A tracked device that is held, and what it moves."""

    def __init__(self, ros, node, poses):
        self.ros, self.poses, self.primitive = ros, poses, []
        self.publisher = ros.probe.create_publisher(PoseStamped, "operator_input/device_pose", COMMAND)
        ros.probe.create_subscription(TwistStamped, "gcmsf_control/teleop_cmds", self.primitive.append, COMMAND)
        assert ros.until(lambda: self.publisher.get_subscription_count() and node._pose.get_subscription_count())
        assert ros.until(node._teleop.get_subscription_count)

    def hold(self, x=0.0, time=10.0):
        message = PoseStamped()
        message.header.stamp.sec, message.header.stamp.nanosec = int(time), round(1e9 * (time % 1.0))
        message.pose.position.x, message.pose.orientation.w = x, 1.0
        self.publisher.publish(message)


@pytest.fixture
def phone(ros, node, poses):
    return Phone(ros, node, poses)


def test_a_held_device_lays_the_plan_and_its_stamps_are_kept(ros, phone):
    phone.hold(0.1, 10.25)
    assert ros.until(lambda: phone.poses)
    message = phone.poses[0]
    assert (message.header.frame_id, message.header.stamp.sec, message.pose.position.x) == ("device", 10, 0.1)
    assert message.header.stamp.nanosec == 250_000_000
    assert phone.primitive == []


def test_in_mode_shared_its_velocity_moves_the_primitive_and_ends_when_it_is_let_go(ros, phone):
    assert ros.call(SetMode, "operator_input/mode", mode="shared").success
    phone.hold(0.0, 10.0)
    phone.hold(0.002, 10.02)
    assert ros.until(lambda: len(phone.primitive) >= 3)
    speeds = [message.twist.linear.x for message in phone.primitive]
    assert speeds == pytest.approx([0.0, 0.1, 0.0])
    assert {message.header.frame_id for message in phone.primitive} == {"world"}
    assert phone.poses == []


def test_in_other_modes_it_moves_nothing_and_what_is_held_meanwhile_counts_once_it_was_let_go(ros, node, phone):
    assert ros.call(SetMode, "operator_input/mode", mode="supervisory").success
    phone.hold(0.0, 10.0)
    assert ros.until(lambda: node._held._latest is not None)
    assert ros.call(SetMode, "operator_input/mode", mode="teleoperation").success
    phone.hold(0.1, 10.1)
    assert ros.until(lambda: node._held._latest is None)  # let go
    phone.hold(0.2, 11.0)
    assert ros.until(lambda: phone.poses)
    assert [message.pose.position.x for message in phone.poses] == [0.2]
    assert phone.primitive == []


def test_a_malformed_pose_is_refused_and_the_next_one_counts(ros, phone):
    phone.hold(float("nan"))
    phone.hold(0.3)
    assert ros.until(lambda: phone.poses)
    assert [message.pose.position.x for message in phone.poses] == [0.3]


def test_buttons_halt_and_latch_the_e_stop_until_the_robot_shows_the_receipt(ros, node):
    said = {"halt": [], "estop": []}
    for topic, messages in said.items():
        ros.probe.create_subscription(Halt, topic, messages.append, COMMAND)
    joy = ros.probe.create_publisher(Joy, "joy", COMMAND)
    state = ros.probe.create_publisher(ExecutorState, "plan_executor/state", STATE)
    assert ros.until(lambda: joy.get_subscription_count() and state.get_subscription_count())
    assert ros.until(lambda: node.count_subscribers("halt") and node.count_subscribers("estop"))
    joy.publish(Joy(axes=[0.0] * 5, buttons=[0, 1, 0, 0, 0, 0, 1]))
    assert ros.until(lambda: min(map(len, said.values())) > 3)  # repeated
    assert {message.agent.split("/")[1] for messages in said.values() for message in messages} == {"gamepad"}
    receipts = [HaltReceipt(agent=p + said[topic][-1].agent, number=said[topic][-1].number) for topic, p in PREFIXES]

    def confirmed():
        state.publish(ExecutorState(state=ExecutorState.HALTED, estop=True, halts_received=receipts))
        return node._client.halt_watch.stage is node._client.estop_watch.stage is HaltStage.CONFIRMED

    assert ros.until(confirmed)
