"""The plan queue as a node: samples of the device are counted, and those that come late are reported."""

import math
import time

import pytest

pytest.importorskip("rclpy")

from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from std_srvs.srv import SetBool, Trigger

from telerobot.msg import PlanOperation, PlanOperations, PlanQueueState
from telerobot_nodes import graph
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.nodes.framework import qos_profile
from telerobot_nodes.nodes.operator import path_plan_queue
from telerobot_nodes.nodes.operator.path_plan_queue import PathPlanQueueNode
from telerobot_nodes.nodes.robot.plan_executor import PlanExecutorNode

TOPIC = "path_plan_queue/pose_target_cmds"


class Device:
    """Sends poses to the queue, with a stamp so many seconds ago; None: without one."""

    def __init__(self, ros, node):
        self.ros, self.node = ros, node
        self.publisher = ros.probe.create_publisher(PoseStamped, TOPIC, qos_profile(graph.topic(TOPIC).qos))
        assert ros.until(self.publisher.get_subscription_count)

    def send(self, ago, frame="device", x=0.0):
        message = PoseStamped()
        message.header.frame_id, message.pose.orientation.w, message.pose.position.x = frame, 1.0, x
        if ago is not None:
            message.header.stamp = (self.ros.probe.get_clock().now() - Duration(seconds=ago)).to_msg()
        self.publisher.publish(message)

    def counts(self):
        values = self.node.health().values
        return values["samples_received"], values["samples_late"]


@pytest.fixture
def device(ros):
    return Device(ros, ros.add(PathPlanQueueNode(NodeOptions("path_plan_queue", graph="demo"))))


def test_samples_that_come_late_are_counted_with_the_largest_lateness(ros, device):
    device.send(10.0)
    device.send(20.0)
    assert ros.until(lambda: device.counts() == (2, 2))
    assert device.node.health().values["samples_worst_ms"] == pytest.approx(20_000, rel=0.2)


def test_what_the_hand_did_while_the_queue_was_busy_is_no_jump(ros, device):
    """Eleven samples of a fast hand at once: the stamps say that it took its time."""
    for k in range(11):
        device.send(0.5 - 0.01 * k, x=0.02 * k)
    assert ros.until(lambda: device.counts()[0] == 11)
    assert device.node.health().values["jumps"] == 0
    device.send(0.385, x=0.5)
    assert ros.until(lambda: device.node.health().values["jumps"] == 1)


@pytest.mark.parametrize("before", [True, False], ids=["before a reading", "after a reading"])
def test_a_stall_while_the_clocks_are_read_loses_nothing_of_the_hands_way(ros, device, monkeypatch, before):
    """By two clocks a sample is judged: with a stall between them it is older or newer than its neighbours."""
    read, follow, readings = device.node.now, device.node._follow_pose, []

    def stalls_twice():
        readings.append(read())
        stall = 0.12 if len(readings) in (9, 18) else 0.0
        time.sleep(stall if before else 0.0)
        now = read()
        time.sleep(0.0 if before else stall)
        return now

    def follow_with_stalls(message):
        with monkeypatch.context() as stalling:
            stalling.setattr(device.node, "now", stalls_twice)
            return follow(message)

    monkeypatch.setattr(device.node, "_follow_pose", follow_with_stalls)
    for k in range(20):
        device.send(0.16 - 0.008 * k, x=0.002 * k)
    shaper = device.node._queue._recorder.sampler.shaper
    assert ros.until(lambda: shaper.target[0] == pytest.approx(0.038)), shaper.target
    assert device.node.health().values["jumps"] == 0


def test_a_queue_that_cannot_keep_up_follows_the_hand_of_now_and_says_so(ros, device):
    """What lay in the queue's history for longer than `drop_after` was meant for the arm of then."""
    refused = lambda: device.node.health().values["refused"]  # noqa: E731
    device.send(1.2, x=math.nan)  # a value that the queue refuses where it looks at it
    told = "1.2 s late by their stamp: not followed"  # the notice comes after the count, in the same callback
    assert ros.until(lambda: told in device.node.health().message)
    assert device.node.health().values["samples_dropped"] == 1
    assert refused() == 0
    device.send(0.5, x=math.nan)
    assert ros.until(lambda: refused() == 1)
    device.send(None, x=math.nan)  # no stamp: nothing tells that it is late
    assert ros.until(lambda: refused() == 2)
    assert device.node.health().values["samples_dropped"] == 1


def test_what_waits_behind_a_sample_that_is_too_late_is_dropped_in_the_same_turn(ros):
    """A turn of the executor for each was as slow as the device: the queue never came to the hand of now."""
    node = PathPlanQueueNode(NodeOptions("path_plan_queue", graph="demo"))
    node.trigger_configure()
    node.trigger_activate()
    try:
        device, turns = Device(ros, node), SingleThreadedExecutor()
        turns.add_node(node)
        for ago in (*[2.0] * 100, None, None):  # without a stamp: never late, however slow the machine
            device.send(ago)
        assert device.publisher.wait_for_all_acked(Duration(seconds=10.0))

        def turn():
            turns.spin_once(timeout_sec=0.1)  # the node's timers take turns too
            return device.counts()[0]

        assert ros.until(turn)
        assert device.counts()[0] == 101
        assert node.health().values["samples_dropped"] == 100
        assert ros.until(lambda: turn() == 102)
        turns.shutdown()
    finally:
        node.trigger_deactivate()
        node.destroy_node()


def test_a_sample_without_a_stamp_is_not_late_and_goals_of_the_console_are_no_samples(ros, device):
    device.send(None)
    device.send(10.0, frame="world")
    device.send(None)
    assert ros.until(lambda: device.counts() == (2, 0))


def test_the_path_is_published_to_who_comes_to_see_it(ros, device):
    """Nobody has subscribed when the node starts; messages of the path are made only for those who have."""
    name, shown = "path_plan_queue/path", []
    ros.probe.create_subscription(Path, name, shown.append, qos_profile(graph.topic(name).qos))
    assert ros.until(lambda: shown)
    assert shown[0].header.frame_id == "world"


NEVER = 1e6  # [s]


def received(ros, kind, name):
    messages = []
    ros.probe.create_subscription(kind, name, messages.append, qos_profile(graph.topic(name).qos))
    return messages


def pressed(ros, kind, name, request, success=True):
    service = ros.probe.create_client(kind, f"path_plan_queue/{name}")
    assert ros.until(service.service_is_ready)
    answer = service.call_async(request)
    assert ros.until(answer.done)
    assert answer.result().success is success
    return answer.result().message


def test_what_a_person_has_pressed_is_shown_at_once_and_not_with_the_next_period(ros, monkeypatch):
    monkeypatch.setattr(path_plan_queue, "STATE_PERIOD", NEVER)
    states = received(ros, PlanQueueState, "path_plan_queue/state")
    node = ros.add(PathPlanQueueNode(NodeOptions("path_plan_queue", graph="demo")))
    pressed(ros, SetBool, "time_clutch", SetBool.Request(data=False))
    assert ros.until(lambda: states and not states[-1].time_clutch)
    pressed(ros, SetBool, "time_clutch", SetBool.Request(data=True))
    assert ros.until(lambda: states[-1].time_clutch)
    assert node.health().values["refused"] == 0


def test_a_pause_leaves_at_once_and_not_with_the_next_points(ros):
    sent = received(ros, PlanOperations, "plan_executor/operations")
    ros.add(PlanExecutorNode(NodeOptions("plan_executor")))
    node = ros.add(PathPlanQueueNode(NodeOptions("path_plan_queue", graph="demo")))
    assert ros.until(lambda: node._queue.has_authority)
    next(timer for timer in node.timers if timer.timer_period_ns == 1e9 * path_plan_queue.POLL_PERIOD).cancel()
    pressed(ros, Trigger, "pause", Trigger.Request())
    pauses = lambda: [one for message in sent for one in message.operations if one.kind == PlanOperation.PAUSE]  # noqa: E731
    assert ros.until(pauses)


def test_a_press_before_the_robot_has_reported_is_answered_in_words_for_a_person(ros):
    ros.add(PathPlanQueueNode(NodeOptions("path_plan_queue", graph="demo")))
    answer = pressed(ros, Trigger, "pause", Trigger.Request(), success=False)
    assert answer == "an operation on the plan is not possible now: no report yet"
