"""The link emulator as a node: what crosses, when, and what is counted."""

import time
from itertools import pairwise

import pytest

pytest.importorskip("rclpy")

from telerobot.msg import ExecutorState, Halt, LinkStatus, PlanOperations
from telerobot.srv import SetLink
from telerobot_nodes import graph
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.graph import OPERATOR_SIDE
from telerobot_nodes.nodes.framework import qos_profile
from telerobot_nodes.nodes.tools.link_emulator import LinkEmulatorNode

OPERATIONS, STATE = "plan_executor/operations", "plan_executor/state"
OPEN = {"delay": 0.0, "jitter": 0.0, "loss": 0.0, "duplicate": 0.0, "reorder": False, "up": True, "down": True}


class Ends:
    """Both ends of the link: sends numbered operations up and states down, notes when they arrive."""

    def __init__(self, ros):
        self.ros = ros
        self.up, self.down, self.sent, self.status = [], [], {}, []
        command, state = (qos_profile(graph.topic(name).qos) for name in (OPERATIONS, STATE))
        probe = ros.probe
        self._up = probe.create_publisher(PlanOperations, OPERATOR_SIDE + OPERATIONS, command)
        self._down = probe.create_publisher(ExecutorState, STATE, state)
        probe.create_subscription(PlanOperations, OPERATIONS, self._note(self.up), command)
        probe.create_subscription(ExecutorState, OPERATOR_SIDE + STATE, self._note(self.down), state)
        probe.create_subscription(LinkStatus, "link_emulator/status", self.status.append, state)

    def _note(self, arrivals):
        return lambda message: arrivals.append((message.link.number, time.monotonic()))

    def connect(self):
        """Wait until both directions pass; then forget what was sent."""
        assert self.ros.until(lambda: self._send(self._up, PlanOperations(), 0) or self.up)
        assert self.ros.until(lambda: self._send(self._down, ExecutorState(), 0) or self.down)
        self.ros.until(lambda: False, 0.2)
        self.up.clear()
        self.down.clear()

    def send_up(self, number):
        self._send(self._up, PlanOperations(), number)

    def send_down(self, number):
        self._send(self._down, ExecutorState(), number)

    def _send(self, publisher, message, number):
        message.link.number = number
        self.sent[number] = time.monotonic()
        publisher.publish(message)


@pytest.fixture
def ends(ros):
    both = Ends(ros)
    ros.add(LinkEmulatorNode(NodeOptions("link_emulator", graph="demo")))
    both.connect()
    return both


def test_messages_arrive_after_the_delay_that_was_set_in_order(ros, ends):
    assert ros.call(SetLink, "link_emulator/set", **{**OPEN, "delay": 0.2, "jitter": 0.05}).success
    for number in range(1, 41):
        ends.send_up(number)
        ros.until(lambda: False, 0.005)
    assert ros.until(lambda: len(ends.up) == 40)
    assert [number for number, _ in ends.up] == list(range(1, 41))
    assert ros.call(SetLink, "link_emulator/set", **{**OPEN, "delay": 0.2}).success
    ends.send_up(99)
    assert ros.until(lambda: len(ends.up) == 41)
    assert ends.up[-1][1] - ends.sent[99] >= 0.2


def test_an_outage_of_one_direction_leaves_the_other_open(ros, ends):
    assert ros.call(SetLink, "link_emulator/set", **{**OPEN, "up": False}).success
    ends.send_up(1)
    ends.send_down(2)
    assert ros.until(lambda: ends.down)
    assert ros.call(SetLink, "link_emulator/set", **OPEN).success
    ends.send_up(3)
    assert ros.until(lambda: ends.up)
    assert [number for number, _ in ends.up] == [3]


def test_what_was_received_delivered_and_lost_is_counted(ros, ends):
    assert ros.until(lambda: ends.status)
    assert ros.call(SetLink, "link_emulator/set", **{**OPEN, "loss": 1.0}).success
    before = ends.status[-1]
    for number in range(1, 6):
        ends.send_up(number)
    assert ros.until(lambda: ends.status[-1].up_lost >= before.up_lost + 5)
    last = ends.status[-1]
    assert last.up_received == last.up_delivered + last.up_lost
    assert last.loss == 1.0


@pytest.mark.parametrize(
    ("fields", "names"),
    [({"delay": -1.0}, "delay"), ({"jitter": 1.0}, "jitter"), ({"loss": float("nan")}, "loss")],
)
def test_bad_settings_are_refused_by_name_and_change_nothing(ros, ends, fields, names):
    answer = ros.call(SetLink, "link_emulator/set", **{**OPEN, **fields})
    assert not answer.success
    assert answer.message.startswith(f"{names}:")
    ends.send_up(7)
    assert ros.until(lambda: ends.up)


def test_every_crossing_topic_is_bridged_the_way_the_table_says(ros, ends):
    halts = []
    qos = qos_profile(graph.topic("halt").qos)
    publisher = ros.probe.create_publisher(Halt, OPERATOR_SIDE + "halt", qos)
    ros.probe.create_subscription(Halt, "halt", lambda message: halts.append(message.number), qos)
    assert ros.until(lambda: publisher.publish(Halt(number=5)) or halts)
    for entry in graph.crossing():
        ends_of = [entry.name, OPERATOR_SIDE + entry.name]
        into = ends_of if not graph.is_upward(entry) else ends_of[::-1]
        assert any(info.node_name == "link_emulator" for info in ros.probe.get_subscriptions_info_by_topic(into[0]))
        assert any(info.node_name == "link_emulator" for info in ros.probe.get_publishers_info_by_topic(into[1]))


def test_numbers_come_out_as_bytes_that_went_in(ros, ends):
    for number in range(1, 30):
        ends.send_up(number)
    assert ros.until(lambda: len(ends.up) == 29)
    assert all(b > a for a, b in pairwise(number for number, _ in ends.up))
