"""Actions of the graph: goals queue, report, end once, and can be cancelled, on both of rclpy's single threads."""

import threading
import time

import pytest
from in_turn import answer

pytest.importorskip("rclpy")

import rclpy
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.experimental import EventsExecutor

from telerobot.action import ExecutePrimitive
from telerobot.msg import PrimitiveParameters, PrimitiveReport
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.errors import GraphError, InvalidValueError
from telerobot_nodes.nodes.framework import GraphNode, leave

NAME = "gcmsf_control/execute"


class Worker(GraphNode):
    """Takes goals one by one; a test ends them."""

    def __init__(self):
        super().__init__(NodeOptions("gcmsf_control"))
        self.queue, self.cancelled = [], []
        self.act(NAME, self._take, self._cancel)

    def _take(self, goal):
        if goal.request.parameters.name == "bad":
            raise InvalidValueError("name", "bad", "allowed: good")
        self.queue.append(goal)

    def _cancel(self, goal):
        self.cancelled.append(goal)
        goal.cancel(result("cancelled"))


def result(reason):
    return ExecutePrimitive.Result(report=PrimitiveReport(reason=reason))


class Spun:
    """A worker and a client on one executor that spins on a thread as nodes do."""

    def __init__(self, executor):
        self.executor = executor
        self.worker = Worker()
        self.worker.trigger_configure()
        self.worker.trigger_activate()
        self.node = rclpy.create_node("client")
        self.client = ActionClient(self.node, ExecutePrimitive, NAME)
        self.feedback, self._end = [], threading.Event()
        for node in (self.worker, self.node):
            executor.add_node(node)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()
        assert self.client.wait_for_server(20.0)

    def _spin(self):
        while not self._end.is_set():
            self.executor.spin_once(timeout_sec=0.05)

    def until(self, condition, timeout=20.0):
        end = time.monotonic() + timeout
        while not condition() and time.monotonic() < end:
            time.sleep(0.002)
        assert condition()

    def answer(self, ask):
        return answer(self.executor, ask)

    def send(self, name="good"):
        goal = ExecutePrimitive.Goal(parameters=PrimitiveParameters(name=name))
        keep = lambda message: self.feedback.append(message.feedback)  # noqa: E731
        return self.answer(lambda: self.client.send_goal_async(goal, keep))

    def close(self):
        if self.worker.active:
            self.worker.trigger_deactivate()
        self._end.set()
        self._thread.join(5.0)
        self.executor.shutdown()
        self.client.destroy()  # a node whose action client lives on keeps its participant
        self.worker.destroy_node()
        leave(self.node)


@pytest.fixture(params=[SingleThreadedExecutor, EventsExecutor], ids=["single", "events"])
def spun(request):
    rclpy.init()
    harness = Spun(request.param())
    yield harness
    harness.close()
    rclpy.try_shutdown()


def test_a_goal_reports_while_it_runs_and_ends_with_its_result(spun):
    handle = spun.send()
    spun.until(lambda: spun.worker.queue)
    goal = spun.worker.queue[0]
    goal.begin()
    spun.until(lambda: handle.status == GoalStatus.STATUS_EXECUTING)
    goal.feedback(ExecutePrimitive.Feedback(report=PrimitiveReport(elapsed=0.5)))
    spun.until(lambda: spun.feedback)
    assert spun.feedback[0].report.elapsed == 0.5
    goal.succeed(result("completed"))
    goal.abort(result("too late"))
    ended = spun.answer(handle.get_result_async)
    assert ended.status == GoalStatus.STATUS_SUCCEEDED
    assert ended.result.report.reason == "completed"


def test_goals_wait_in_the_queue_and_each_can_be_cancelled_before_its_turn(spun):
    first, second = spun.send(), spun.send()
    spun.until(lambda: len(spun.worker.queue) == 2)
    spun.worker.queue[0].begin()
    spun.answer(second.cancel_goal_async)
    assert spun.answer(second.get_result_async).status == GoalStatus.STATUS_CANCELED
    assert not spun.worker.queue[0].over
    spun.answer(first.cancel_goal_async)
    ended = spun.answer(first.get_result_async)
    assert (ended.status, ended.result.report.reason) == (GoalStatus.STATUS_CANCELED, "cancelled")
    assert spun.worker.cancelled == spun.worker.queue[::-1]


def test_a_goal_that_is_refused_is_aborted_and_the_node_lives(spun):
    bad = spun.send("bad")
    assert spun.answer(bad.get_result_async).status == GoalStatus.STATUS_ABORTED
    assert "bad" in spun.worker.last_refusal
    spun.send()
    spun.until(lambda: spun.worker.queue)


def test_an_inactive_node_accepts_no_goal_and_aborts_those_it_had(spun):
    handle = spun.send()
    spun.until(lambda: spun.worker.queue)
    spun.worker.trigger_deactivate()
    assert spun.answer(handle.get_result_async).status == GoalStatus.STATUS_ABORTED
    assert not spun.send().accepted


def test_a_waiting_goal_costs_no_processor_time(spun):
    spun.send()
    spun.until(lambda: spun.worker.queue)
    spun.worker.queue[0].begin()
    before = time.process_time()
    threading.Event().wait(0.5)
    assert time.process_time() - before < 0.25


def test_actions_that_the_table_does_not_give_are_refused(spun):
    with pytest.raises(GraphError, match="does not let node gcmsf_control serve"):
        spun.worker.act("gcmsf_control/nosuch", lambda goal: None)
    with pytest.raises(GraphError, match="run"):
        spun.worker.action_client(NAME)
