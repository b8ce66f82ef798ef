"""Requests of operators over the emulated link: one delay each way, through loss and outage, once."""

import time

import pytest
from in_turn import answer, call

pytest.importorskip("rclpy")

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient

from telerobot.action import ExecutePrimitive
from telerobot.msg import PrimitiveParameters, PrimitiveReport
from telerobot.srv import ChangePrimitive, SetLink
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.graph import OPERATOR_SIDE
from telerobot_nodes.nodes.framework import GraphNode
from telerobot_nodes.nodes.tools.link_emulator import LinkEmulatorNode

EXECUTE, CHANGE = "gcmsf_control/execute", "gcmsf_control/change"
OPEN = {"delay": 0.0, "jitter": 0.0, "loss": 0.0, "duplicate": 0.0, "reorder": False, "up": True, "down": True}
WAY = 0.2  # [s]


def result(reason):
    return ExecutePrimitive.Result(report=PrimitiveReport(reason=reason))


class Robot(GraphNode):
    """Keeps goals until the test ends them; a cancelled one ends at once."""

    def __init__(self):
        super().__init__(NodeOptions("gcmsf_control"))
        self.goals, self.changes = [], []
        self.act(EXECUTE, self.goals.append, lambda goal: goal.cancel(result("cancelled")))
        self.serve(CHANGE, self._change)

    def _change(self, request, response):
        self.changes.append(list(request.keys))
        response.success, response.message = True, "in force"


class Ends:
    """The robot, the link, and an operator's client of the action."""

    def __init__(self, ros):
        self.ros, self.robot, self.reports = ros, ros.add(Robot()), []
        self.link = ros.add(LinkEmulatorNode(NodeOptions("link_emulator", graph="practice")))
        self.client = ActionClient(ros.probe, ExecutePrimitive, OPERATOR_SIDE + EXECUTE)
        assert ros.until(self.client.server_is_ready)
        assert ros.until(lambda: all(client.server_is_ready() for client in self.link._action_clients))

    def set(self, **settings):
        assert self.ros.call(SetLink, "link_emulator/set", **{**OPEN, **settings}).success

    def send(self):
        goal = ExecutePrimitive.Goal(parameters=PrimitiveParameters(name="gcm"))
        keep = lambda message: self.reports.append(message.feedback.report)  # noqa: E731
        handle = answer(self.ros.executor, lambda: self.client.send_goal_async(goal, keep))
        assert handle.accepted
        return handle

    def result(self, handle):
        return answer(self.ros.executor, handle.get_result_async)


@pytest.fixture
def ends(ros):
    both = Ends(ros)
    yield both
    call(ros.executor, both.client.destroy)


def test_a_goal_begins_one_delay_later_and_its_reports_and_end_come_back_one_later(ros, ends):
    ends.set(delay=WAY)
    began = time.monotonic()
    handle = ends.send()
    assert ros.until(lambda: ends.robot.goals)
    assert time.monotonic() - began >= WAY
    (goal,) = ends.robot.goals
    goal.feedback(ExecutePrimitive.Feedback(report=PrimitiveReport(elapsed=0.5)))
    assert ros.until(lambda: ends.reports)
    assert ends.reports[0].elapsed == 0.5
    ended = time.monotonic()
    goal.succeed(result("completed"))
    answered = ends.result(handle)
    assert time.monotonic() - ended >= WAY
    assert (answered.status, answered.result.report.reason) == (GoalStatus.STATUS_SUCCEEDED, "completed")


def test_a_cancelled_goal_ends_at_the_robot_and_says_so(ros, ends):
    handle = ends.send()
    assert ros.until(lambda: ends.robot.goals)
    answer(ros.executor, handle.cancel_goal_async)
    answered = ends.result(handle)
    assert (answered.status, answered.result.report.reason) == (GoalStatus.STATUS_CANCELED, "cancelled")


def test_what_the_link_loses_is_sent_again_and_what_it_duplicates_arrives_once(ros, ends):
    ends.set(up=False)
    handle = ends.send()
    change = ros.begin(ChangePrimitive, OPERATOR_SIDE + CHANGE, keys=["gain"], values=["1"])
    assert ros.until(lambda: len(ends.link._lost) == 2)
    assert not ends.robot.goals
    assert not ends.robot.changes
    ends.set(duplicate=1.0)
    assert change().success
    assert ros.until(lambda: ends.robot.goals)
    ends.robot.goals[0].abort(result("refused"))
    assert ends.result(handle).result.report.reason == "refused"
    assert (len(ends.robot.goals), ends.robot.changes) == (1, [["gain"]])
