"""Action `rtc_decision_unit/run` over DDS: feedback of every step, one result, cancel, refusal."""

import pytest
from in_turn import answer, call

pytest.importorskip("rclpy")

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient

from telerobot.action import RunCommand
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.nodes.decision.rtc_decision_unit import RtcDecisionUnitNode

PATIENCE = 20.0  # [s]


class Client:
    """Runs texts as goals on the thread of the harness."""

    def __init__(self, ros):
        self.unit = ros.add(RtcDecisionUnitNode(NodeOptions("rtc_decision_unit")))
        self._executor = ros.executor
        self._client = ActionClient(ros.probe, RunCommand, "rtc_decision_unit/run")
        assert self._client.wait_for_server(PATIENCE)
        self.feedback = []

    def begin(self, text):
        goal = RunCommand.Goal(sender="test", text=text)
        keep = lambda message: self.feedback.append(message.feedback.report)  # noqa: E731
        return self.answer(lambda: self._client.send_goal_async(goal, keep))

    def run(self, text):
        ended = self.answer(self.begin(text).get_result_async)
        return ended.status, ended.result

    def answer(self, ask):
        return answer(self._executor, ask, PATIENCE)

    def close(self):
        """A node whose action client lives on keeps its participant."""
        call(self._executor, self._client.destroy)


@pytest.fixture
def client(ros):
    made = Client(ros)
    yield made
    made.close()


def test_every_step_of_every_command_of_a_text_is_in_the_feedback(client, ros):
    status, result = client.run("wait for 0.1 s; wait for 0.2 s; wait for 0.3 s")
    assert (status, result.success, result.report.outcome) == (GoalStatus.STATUS_SUCCEEDED, True, "succeeded")
    assert ros.until(lambda: len(client.feedback) >= 6, 5.0), client.feedback
    found = [(report.command - client.feedback[0].command, report.step, report.reason) for report in client.feedback]
    assert sorted(found) == sorted((n, "wait", text) for n in range(3) for text in ("begun", "done"))
    assert found.index((0, "wait", "begun")) < found.index((0, "wait", "done"))


def test_a_goal_that_is_cancelled_ends_cancelled(client, ros):
    handle = client.begin("wait for 1000 s")
    assert ros.until(lambda: client.feedback)
    client.answer(handle.cancel_goal_async)
    ended = client.answer(handle.get_result_async)
    assert (ended.status, ended.result.report.outcome) == (GoalStatus.STATUS_CANCELED, "cancelled")


@pytest.mark.parametrize("text", ["", "move nothing to dock", "wait for -1 s", "\x00", "(" * 10_000, "wait for 1e12 s"])
def test_a_text_that_starts_nothing_is_answered_and_aborted(client, text):
    status, result = client.run(text)
    assert (status, result.success) == (GoalStatus.STATUS_ABORTED, False)
    assert result.report.text or result.report.reason


def test_a_question_is_answered_by_the_result(client):
    status, result = client.run("where module")
    assert (status, result.success) == (GoalStatus.STATUS_SUCCEEDED, True)
    assert "module" in result.report.text
    assert client.feedback == []
