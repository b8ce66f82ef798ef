"""RESET, TARE and RESUME are done when the robot has confirmed them, and not before: for every client."""

import pytest

from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.operator.client import OperatorClient, Outcome, QueueStatus, Result, RobotStatus, commands

DONE = Outcome(Result.DONE, "confirmed by the robot")


class Port:
    """Commands leave to a queue that answers when the test says so."""

    def call(self, command, answer):
        self.answer = answer

    def halt(self, number, reason):
        pass

    estop = halt


class Desk:
    """One client with a queue and a robot that report a hundredth of a second apart."""

    def __init__(self, command, robot=None, **queue):
        self.port, self.now, self.outcomes = Port(), 0.0, []
        self.client = OperatorClient(self.port)
        self.queue(**queue)
        self.robot(**(robot or {}))
        self.client.ask(command, self.now, self.outcomes.append)

    def sent(self, outcome=DONE):
        self.port.answer(outcome, self.now)
        return self

    def queue(self, **values):
        self.now += 0.01
        self.client.receive_queue(QueueStatus(epoch=values.pop("epoch", 1), **values), self.now)
        return self

    def counted(self, **values):
        """The two states after the queue's answer: the first may have been under way before it."""
        return self.queue(**values).queue(**values)

    def robot(self, **values):
        self.now += 0.01
        self.client.receive_robot(RobotStatus(epoch=values.pop("epoch", 1), **values), self.now)
        return self

    def wait(self, seconds):
        self.now += seconds
        self.client.tick(self.now)
        return self


KINDS = pytest.mark.parametrize(
    ("command", "kind"), [(commands.Reset(), "reset"), (commands.Tare(), "tare")], ids=["reset", "tare"]
)


@KINDS
def test_it_is_done_when_the_node_that_serves_it_has_answered(command, kind):
    desk = Desk(command).sent().counted(**{f"{kind}_number": 7}).robot(applied_number=7)
    assert desk.outcomes == []  # acknowledged, not answered
    desk.robot(applied_number=7, **{f"{kind}_number": 7})
    assert desk.outcomes == [DONE]
    assert desk.client.notices[-1].text == f"{kind}: confirmed by the robot"


@KINDS
def test_a_refusal_is_told_with_its_own_reason_whatever_else_was_refused(command, kind):
    desk = Desk(command, {"refused_number": 5, "refusal": "an old one"}).sent().counted(**{f"{kind}_number": 7})
    desk.robot(applied_number=9, refused_number=9, refusal="points are too far")
    assert desk.outcomes == []
    desk.robot(refused_number=9, refusal="points are too far", **{f"{kind}_number": 7, f"{kind}_refusal": "arm moves"})
    assert desk.outcomes == [Outcome(Result.REFUSED, "the robot refused it: arm moves")]


def test_a_reset_and_a_tare_at_the_same_time_get_their_own_answers():
    desk, tared = Desk(commands.Reset()).sent(), []
    desk.client.ask(commands.Tare(), desk.now, tared.append)
    desk.sent().counted(reset_number=7, tare_number=8)
    desk.robot(tare_number=8, tare_refusal="arm moves")
    assert (desk.outcomes, tared) == ([], [Outcome(Result.REFUSED, "the robot refused it: arm moves")])
    desk.robot(reset_number=7, tare_number=8, tare_refusal="arm moves")
    assert desk.outcomes == [DONE]


@KINDS
def test_the_answer_to_an_earlier_one_confirms_nothing(command, kind):
    name = f"{kind}_number"
    desk = Desk(command, {name: 4}, **{name: 3}).sent().queue(**{name: 4})  # under way when the queue answered
    assert desk.outcomes == []
    desk.queue(**{name: 6}).robot(**{name: 4})
    assert desk.outcomes == []
    desk.robot(**{name: 6})
    assert desk.outcomes == [DONE]


@KINDS
def test_a_client_that_knows_no_state_yet_takes_no_old_answer(command, kind):
    port, outcomes = Port(), []
    client = OperatorClient(port)
    client.ask(command, 0.0, outcomes.append)
    port.answer(DONE, 0.1)
    client.receive_queue(QueueStatus(epoch=1, **{f"{kind}_number": 4}), 0.2)
    client.receive_robot(RobotStatus(epoch=1, **{f"{kind}_number": 4}), 0.3)
    assert outcomes == []


@KINDS
def test_each_press_of_a_button_gets_the_answer_to_its_own_operation(command, kind):
    """The second one is refused, because the first was done."""
    name, refusal = f"{kind}_number", f"{kind}_refusal"
    desk, second = Desk(command).sent().counted(**{name: 7}), []
    desk.client.ask(command, desk.now, second.append)
    desk.sent().counted(**{name: 8})
    desk.robot(**{name: 7})
    assert (desk.outcomes, second) == ([DONE], [])
    desk.robot(**{name: 8, refusal: "nothing is latched"})
    assert second == [Outcome(Result.REFUSED, "the robot refused it: nothing is latched")]


@KINDS
def test_a_report_of_another_epoch_confirms_nothing(command, kind):
    name = f"{kind}_number"
    desk = Desk(command, {"epoch": 1}, epoch=2).sent().counted(epoch=2, **{name: 4}).robot(epoch=1, **{name: 500})
    assert desk.outcomes == []
    desk.robot(epoch=2, **{name: 4})
    assert desk.outcomes == [DONE]


@KINDS
def test_an_epoch_that_ends_before_the_answer_is_told_at_once(command, kind):
    desk = Desk(command).sent().counted(**{f"{kind}_number": 4}).queue(epoch=2)
    ended = "sent; another epoch of authority began before the robot confirmed it"
    assert desk.outcomes == [Outcome(Result.NO_ANSWER, ended)]


def test_what_the_queue_refuses_is_refused_at_once():
    refused = Outcome(Result.REFUSED, "no authority")
    assert Desk(commands.Tare()).sent(refused).outcomes == [refused]


def test_a_robot_that_is_silent_confirms_nothing_and_the_time_is_told():
    desk = Desk(commands.Reset(), round_trip=2.0).sent().counted(reset_number=7, round_trip=2.0).wait(14.0)
    assert desk.outcomes == []
    desk.wait(1.1)  # 2 s for the queue, 7 s and three round trips for the robot
    assert desk.outcomes == [Outcome(Result.NO_ANSWER, "sent; the robot has not confirmed it in 15 s")]
    desk.robot(reset_number=7)
    assert len(desk.outcomes) == 1


def test_a_queue_that_is_silent_is_told_after_its_own_limit():
    assert Desk(commands.Reset()).wait(2.1).outcomes == [Outcome(Result.NO_ANSWER, "no answer in 2 s")]


def test_a_late_answer_of_the_queue_changes_nothing():
    desk = Desk(commands.Reset()).wait(2.1).sent().counted(reset_number=7).robot(reset_number=7)
    assert [outcome.result for outcome in desk.outcomes] == [Result.NO_ANSWER]
    assert not desk.client.requests.pending


def test_it_waits_on_the_display_until_it_is_confirmed():
    desk = Desk(commands.Tare()).sent().counted(tare_number=7)
    assert len(desk.client.requests.pending) == 1
    desk.robot(tare_number=7)
    assert not desk.client.requests.pending


# resume


def resumed(**robot):
    return Desk(commands.Resume()).sent().counted(resume_number=7).robot(applied_number=7, **robot)


def test_a_resume_tells_what_the_robot_does_now():
    outcome = Outcome(Result.DONE, "confirmed by the robot; it is running")
    assert resumed(mode=ExecutorMode.RUNNING).outcomes == [outcome]


def test_a_resume_is_not_confirmed_before_the_robot_counts_it():
    desk = Desk(commands.Resume()).sent().counted(resume_number=7).robot(applied_number=6, mode=ExecutorMode.RUNNING)
    assert desk.outcomes == []


def test_points_laid_meanwhile_keep_no_resume_back_and_their_refusal_is_not_its_own():
    desk = Desk(commands.Resume()).sent().counted(resume_number=7, unacknowledged=40)
    desk.robot(applied_number=8, refused_number=8, refusal="points are too far", mode=ExecutorMode.RUNNING)
    assert desk.outcomes == [Outcome(Result.DONE, "confirmed by the robot; it is running")]


def test_a_refused_resume_tells_why():
    outcome = Outcome(Result.REFUSED, "the robot refused it: off the plan")
    assert resumed(refused_number=7, refusal="off the plan", mode=ExecutorMode.HALTED).outcomes == [outcome]


@pytest.mark.parametrize("mode", [ExecutorMode.PAUSED, ExecutorMode.HALTED, ExecutorMode.FAULT])
def test_a_resume_after_which_the_robot_is_still_stopped_is_not_done(mode):
    desk = resumed(mode=mode, reason="off the plan")
    assert desk.outcomes == []  # the control loop needs a moment to end a halt
    desk.wait(2.1)
    assert desk.outcomes == []  # and a link that is silent tells nothing
    desk.robot(applied_number=7, mode=mode, reason="off the plan")
    assert desk.outcomes == [Outcome(Result.REFUSED, f"the robot is still {mode.name.lower()}: off the plan")]


def test_a_resume_does_not_release_the_e_stop():
    desk = resumed(estop=True).wait(2.1).robot(applied_number=7, estop=True)
    assert desk.outcomes == [Outcome(Result.REFUSED, "the e-stop is latched; allowed: after reset")]


def test_a_robot_that_moves_again_within_the_moment_is_resumed():
    desk = resumed(mode=ExecutorMode.HALTED).wait(1.0).robot(applied_number=7, mode=ExecutorMode.IDLE)
    assert desk.outcomes == [Outcome(Result.DONE, "confirmed by the robot; it is idle")]
