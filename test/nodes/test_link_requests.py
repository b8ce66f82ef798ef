"""Requests of operators over a link, emulated or between two hosts: one delay each way, through loss, once."""

import time
import zlib

import pytest
from free_ports import write_loopback_hosts
from in_turn import answer, call

pytest.importorskip("rclpy")

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from std_srvs.srv import Trigger

from telerobot.action import ExecutePrimitive, RunSequence
from telerobot.msg import PrimitiveParameters, PrimitiveReport
from telerobot.srv import ChangePrimitive, SetLink
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.core.protocol import PrimitiveOutcome
from telerobot_nodes.graph import OPERATOR_SIDE
from telerobot_nodes.link.requests.messages import Begin, Ended, RequestEnd, unpack_answer
from telerobot_nodes.nodes.framework import GraphNode
from telerobot_nodes.nodes.tools.link import LinkNode
from telerobot_nodes.nodes.tools.link_emulator import LinkEmulatorNode

EXECUTE, SEQUENCE, CHANGE, STOP = (f"gcmsf_control/{name}" for name in ("execute", "run_sequence", "change", "stop"))
OPEN = {"delay": 0.0, "jitter": 0.0, "loss": 0.0, "duplicate": 0.0, "reorder": False, "up": True, "down": True}
WAY = 0.2  # [s]


def result(reason):
    return ExecutePrimitive.Result(report=PrimitiveReport(reason=reason))


class Robot(GraphNode):
    """Keeps goals until the test ends them; a cancelled one ends at once."""

    def __init__(self):
        super().__init__(NodeOptions("gcmsf_control"))
        self.goals, self.sequences, self.changes = [], [], []
        self.act(EXECUTE, self.goals.append, lambda goal: goal.cancel(result("cancelled")))
        self.act(SEQUENCE, self.sequences.append)
        self.serve(CHANGE, self._change)
        self.serve(STOP, self._stop)

    def _change(self, request, response):
        self.changes.append(list(request.keys))
        response.success, response.message = True, "in force"

    def _stop(self, _request, response):
        for goal in self.goals:
            goal.abort(result("external_stop"))
        response.success, response.message = True, f"{len(self.goals)} primitives stopped"


class Ends:
    """The robot, and an operator's client of the action at the other side of a link."""

    def __init__(self, ros, links):
        self.ros, self.robot, self.reports = ros, ros.add(Robot()), []
        self.links = [ros.add(link) for link in links]
        self.client = ActionClient(ros.probe, ExecutePrimitive, OPERATOR_SIDE + EXECUTE)
        assert ros.until(self.client.server_is_ready)
        runs = [client for link in self.links for client in link._action_clients]
        calls = [client for link in self.links for client in link.clients]
        assert ros.until(lambda: all(one.server_is_ready() for one in runs))
        assert ros.until(lambda: all(one.service_is_ready() for one in calls))

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


def hosts_links(tmp_path):
    file = write_loopback_hosts(tmp_path)
    return [LinkNode(NodeOptions("link", graph=name, hosts=file, robot="arm")) for name in ("robot", "operator")]


def emulated_link(_tmp_path):
    return [LinkEmulatorNode(NodeOptions("link_emulator", graph="practice"))]


def made(ros, links):
    both = Ends(ros, links)
    yield both
    call(ros.executor, both.client.destroy)


@pytest.fixture(params=[emulated_link, hosts_links], ids=["emulated", "hosts"])
def ends(ros, tmp_path, request):
    yield from made(ros, request.param(tmp_path))


@pytest.fixture
def emulated(ros, tmp_path):
    yield from made(ros, emulated_link(tmp_path))


def test_a_goal_its_reports_its_change_and_its_end_cross_as_they_are(ros, ends):
    handle = ends.send()
    assert ros.until(lambda: ends.robot.goals)
    (goal,) = ends.robot.goals
    assert goal.request.parameters.name == "gcm"
    goal.feedback(ExecutePrimitive.Feedback(report=PrimitiveReport(elapsed=0.5)))
    assert ros.until(lambda: ends.reports)
    assert ends.reports[0].elapsed == 0.5
    assert ros.call(ChangePrimitive, OPERATOR_SIDE + CHANGE, keys=["gain"], values=["1"]).message == "in force"
    assert ends.robot.changes == [["gain"]]
    goal.succeed(result("completed"))
    answered = ends.result(handle)
    assert (answered.status, answered.result.report.reason) == (GoalStatus.STATUS_SUCCEEDED, "completed")


def test_a_cancelled_goal_ends_at_the_robot_and_says_so(ros, ends):
    handle = ends.send()
    assert ros.until(lambda: ends.robot.goals)
    answer(ros.executor, handle.cancel_goal_async)
    answered = ends.result(handle)
    assert (answered.status, answered.result.report.reason) == (GoalStatus.STATUS_CANCELED, "cancelled")


def test_a_stop_ends_what_runs(ros, ends):
    handle = ends.send()
    assert ros.until(lambda: ends.robot.goals)
    assert ros.call(Trigger, OPERATOR_SIDE + STOP).message == "1 primitives stopped"
    answered = ends.result(handle)
    assert (answered.status, answered.result.report.reason) == (GoalStatus.STATUS_ABORTED, "external_stop")


@pytest.mark.parametrize("body", [b"not compressed", zlib.compress(b"no goal")])
def test_a_request_whose_bytes_are_no_goal_is_refused_and_begins_nothing(ros, emulated, body):
    runner, answers = emulated.links[0]._runner, []
    runner._send = lambda _channel, data: answers.append(unpack_answer(data))
    begin = Begin(1, runner._core._life, 1, EXECUTE, body)
    call(ros.executor, lambda: runner._receive(begin.pack()))
    (ended,) = (one for one in answers if isinstance(one, Ended))
    assert ended.end is RequestEnd.REFUSED
    assert "ExecutePrimitive" in ended.reason
    assert emulated.robot.goals == []


def test_a_sequence_of_five_thousand_steps_crosses_whole_and_its_end_comes_back(ros, ends):
    steps = [
        PrimitiveParameters(name="cartesian_guarded", keys=["tr_rel_dest"], values=[f"[0, 0, {1e-6 * at}, 0, 0, 0, 1]"])
        for at in range(5000)
    ]
    goal = RunSequence.Goal(name="long", agent="test", steps=steps, accept=[""] * len(steps))
    client = ActionClient(ros.probe, RunSequence, OPERATOR_SIDE + SEQUENCE)
    try:
        assert ros.until(client.server_is_ready)
        handle = answer(ros.executor, lambda: client.send_goal_async(goal))
        assert handle.accepted
        assert ros.until(lambda: ends.robot.sequences)
        (sequence,) = ends.robot.sequences
        assert sequence.request == goal
        sequence.succeed(RunSequence.Result(done=5000))
        assert answer(ros.executor, handle.get_result_async).result.done == 5000
    finally:
        call(ros.executor, client.destroy)


def test_a_request_that_the_robot_does_not_serve_is_refused_with_its_name(ros, ends):
    ros.deactivate(ends.robot)
    report = ends.result(ends.send()).result.report
    assert (report.state, report.reason) == (PrimitiveOutcome.REFUSED, "refused")
    assert EXECUTE in report.detail
    assert report.name == "gcm"


def test_each_way_takes_the_delay_of_the_emulated_link(ros, emulated):
    emulated.set(delay=WAY)
    began = time.monotonic()
    handle = emulated.send()
    assert ros.until(lambda: emulated.robot.goals)
    assert time.monotonic() - began >= WAY
    ended = time.monotonic()
    emulated.robot.goals[0].succeed(result("completed"))
    emulated.result(handle)
    assert time.monotonic() - ended >= WAY


def test_what_the_link_loses_is_sent_again_and_what_it_duplicates_arrives_once(ros, emulated):
    status = ros.call(ChangePrimitive, OPERATOR_SIDE + CHANGE, keys=["before"], values=["1"])
    assert status.success  # the robot's side is known
    emulated.set(up=False)
    handle = emulated.send()
    change = ros.begin(ChangePrimitive, OPERATOR_SIDE + CHANGE, keys=["gain"], values=["1"])
    assert not ros.until(lambda: emulated.robot.goals, 1.0)
    emulated.set(duplicate=1.0)
    assert change().success
    assert ros.until(lambda: emulated.robot.goals)
    emulated.robot.goals[0].abort(result("refused"))
    assert emulated.result(handle).result.report.reason == "refused"
    assert (len(emulated.robot.goals), emulated.robot.changes) == (1, [["before"], ["gain"]])


def test_without_a_link_a_request_ends_with_a_word_for_it(ros, emulated):
    assert ros.call(ChangePrimitive, OPERATOR_SIDE + CHANGE).success
    emulated.set(up=False, down=False)
    report = emulated.result(emulated.send()).result.report
    assert (report.state, report.reason) == (PrimitiveOutcome.REFUSED, "link_down")
    answered = ros.call(ChangePrimitive, OPERATOR_SIDE + CHANGE)
    assert not answered.success
    assert answered.message.startswith("link_down: ")
    assert emulated.robot.goals == []
