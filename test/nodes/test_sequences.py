"""A sequence as an object: over real actions, with a server that does as a test tells it."""

import threading
from threading import Condition
from time import monotonic

import pytest

pytest.importorskip("rclpy")

import rclpy
from rclpy.executors import SingleThreadedExecutor

from telerobot.action import RunSequence
from telerobot.msg import PrimitiveReport
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.core.protocol import PrimitiveOutcome
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.clients.under_way import OwnCarrier, Sequences
from telerobot_nodes.nodes.clients.under_way.goal_sender import LOST_LIMIT
from telerobot_nodes.nodes.framework import GraphNode
from telerobot_nodes.operator.client import PrimitiveEnd, PrimitiveStep

LIMIT = 20.0  # [s]
ACTION = "gcmsf_control/run_sequence"
STEPS = [PrimitiveStep("move_to_touch", {"tr_rel_dest": [0, 0, 0.1, 0, 0, 0, 1]}, ("touched", "completed"))]
STEPS += [PrimitiveStep("gcm", {"end_time": 1.0})]


def report(state, reason, detail=""):
    return PrimitiveReport(id=7, name="gcm", state=int(state), phase="ended", reason=reason, detail=detail)


class Control(GraphNode):
    """The control node's side of the action; a test says how each goal ends."""

    def __init__(self, decide):
        super().__init__(NodeOptions("gcmsf_control"))
        self.goals, self._decide = [], decide
        self.act(ACTION, self._take, lambda _goal: None)

    def _take(self, goal):
        self.goals.append(goal.request)
        self._decide(goal)


class Ends:
    """A control node on a thread, and the sequences of an operator's client."""

    def __init__(self, decide):
        self.executor, self._end = SingleThreadedExecutor(), threading.Event()
        self.control = Control(decide)
        self.control.trigger_configure()
        self.control.trigger_activate()
        self.executor.add_node(self.control)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()
        changed = Condition()
        self.carrier = OwnCarrier("operator", "", changed)
        self.sequences = Sequences(self.carrier, changed, "test")
        self.carrier.every(0.02, lambda: self.sequences.step(self.carrier.now()))

    def _spin(self):
        while not self._end.is_set():
            self.executor.spin_once(timeout_sec=0.05)

    def close(self):
        self.carrier.close()
        if self.control is not None:
            self.lose_control()

    def lose_control(self):
        """The control node leaves, whatever it runs."""
        self._end.set()
        self._thread.join(5.0)
        if self.control.active:
            self.control.trigger_deactivate()
        self.executor.shutdown()
        self.control.destroy_node()
        self.control = None


@pytest.fixture
def asked():
    rclpy.init()
    ends = []

    def ask(decide):
        ends.append(Ends(decide))
        return ends[-1]

    yield ask
    for one in ends:
        one.close()
    rclpy.try_shutdown()


def completes(goal):
    goal.begin()
    for number, reason in ((1, "touched"), (2, "completed")):
        goal.feedback(RunSequence.Feedback(step=number, report=report(PrimitiveOutcome.STOPPED, reason)))
    goal.succeed(RunSequence.Result(done=2, report=report(PrimitiveOutcome.STOPPED, "completed")))


def test_it_is_sent_whole_and_every_step_is_reported(asked):
    ends = asked(completes)
    running = ends.sequences.begin("insert", STEPS, LIMIT)
    ended = running.wait()
    assert (ended.end, ended.done, ended.reason, ended.ok) == (PrimitiveEnd.SUCCEEDED, 2, "completed", True)
    assert [one.primitive.reason for one in running] == ["touched", "completed"]
    (goal,) = ends.control.goals
    assert (goal.name, goal.agent, list(goal.accept)) == ("insert", "test", ["touched completed", ""])
    assert [(step.name, list(step.values)) for step in goal.steps] == [
        ("move_to_touch", ["[0, 0, 0.1, 0, 0, 0, 1]"]),
        ("gcm", ["1.0"]),
    ]


def test_a_refusal_says_why_and_that_nothing_was_done(asked):
    def refuses(goal):
        goal.abort(RunSequence.Result(report=report(PrimitiveOutcome.REFUSED, "refused", "steps[1].end_time: 1")))

    ended = asked(refuses).sequences.begin("insert", STEPS, LIMIT).wait()
    assert (ended.end, ended.done, ended.reason, ended.ok) == (
        PrimitiveEnd.REFUSED,
        0,
        "steps[1].end_time: 1",
        False,
    )


def test_a_result_that_is_not_accepted_ends_it_at_its_step(asked):
    def stops(goal):
        goal.abort(RunSequence.Result(done=1, report=report(PrimitiveOutcome.STOPPED, "timed_out")))

    ended = asked(stops).sequences.begin("insert", STEPS, LIMIT).wait()
    assert (ended.end, ended.done, ended.reason, ended.ok) == (PrimitiveEnd.STOPPED, 1, "timed_out", False)


def test_without_an_active_control_node_it_is_not_served(asked):
    ends = asked(completes)
    ends.control.trigger_deactivate()
    ended = ends.sequences.begin("insert", STEPS, LIMIT).wait()
    assert (ended.end, ended.done, ended.ok) == (PrimitiveEnd.NOT_SERVED, 0, False)
    assert ends.control.goals == []


def test_when_the_control_node_is_gone_nobody_waits_for_the_end_longer_than_the_limit(asked):
    ends = asked(lambda goal: goal.begin())
    running = ends.sequences.begin("insert", STEPS, LIMIT)
    deadline = monotonic() + LIMIT
    while not ends.control.goals and monotonic() < deadline:
        running.wait(0.05)
    assert running.wait(0.2).end is PrimitiveEnd.RUNNING
    ends.lose_control()
    began = monotonic()
    ended = running.wait()
    assert (ended.end, ended.done, ended.reason) == (PrimitiveEnd.NO_ANSWER, 0, "the end was not reported")
    assert monotonic() - began >= 0.5 * LOST_LIMIT


def test_a_sequence_without_a_step_is_refused(asked):
    with pytest.raises(InvalidValueError, match="steps"):
        asked(completes).sequences.begin("empty", [], LIMIT)
