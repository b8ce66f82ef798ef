"""RESET, TARE and RESUME from a shell are done when the robot has confirmed them, and not before."""

import pytest

pytest.importorskip("rclpy")

from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.nodes.clients.confirmation import Confirmation
from telerobot_nodes.operator.client import OperatorClient, QueueStatus, Result, RobotStatus, commands


class NoPort:
    """Nothing is sent."""

    def call(self, command, answer):
        pass

    def halt(self, number, agent, reason):
        pass

    estop = halt


class Desk:
    """States of queue and robot that come one after the other, a hundredth of a second apart."""

    def __init__(self, **robot):
        self.client, self.now = OperatorClient(NoPort()), 0.0
        self.queue(0)
        self.robot(**robot)
        self.confirmation = Confirmation(self.client)
        self.confirmation.sent()

    def queue(self, unacknowledged):
        self.now += 0.01
        self.client.receive_queue(QueueStatus(unacknowledged=unacknowledged), self.now)

    def robot(self, **values):
        self.now += 0.01
        self.client.receive_robot(RobotStatus(**values), self.now)

    def confirm(self, **robot):
        """The operation is sent, and acknowledged."""
        for unacknowledged in (1, 1, 0):
            self.queue(unacknowledged)
            assert not self.confirmation.step()
        self.robot(**robot)
        return self.confirmation.step()


def outcome(desk, command):
    found = desk.confirmation.outcome(command)
    return found.result, found.text


def test_it_is_done_when_the_robot_has_acknowledged_it():
    desk = Desk()
    assert desk.confirm()
    assert outcome(desk, commands.Tare()) == (Result.DONE, "confirmed by the robot")


def test_a_hand_that_goes_on_laying_points_does_not_keep_it_back():
    """Something is always under way then; the robot's count tells."""
    desk = Desk(applied_number=100)
    for applied in (101, 103, 112):  # 103 + 10 under way: it is at most the 113th
        desk.queue(10)
        assert not desk.confirmation.step()
        desk.robot(applied_number=applied)
        assert not desk.confirmation.step()
    desk.queue(10)
    desk.robot(applied_number=113)
    assert desk.confirmation.step()
    desk.queue(11)
    assert outcome(desk, commands.Resume())[0] is Result.DONE


def test_a_state_of_the_queue_from_before_its_answer_confirms_nothing():
    desk = Desk()
    desk.queue(0)  # under way when the queue answered
    desk.robot()
    assert not desk.confirmation.step()
    assert outcome(desk, commands.Reset())[0] is Result.NO_ANSWER


def test_a_robot_that_is_silent_confirms_nothing_and_the_time_is_told():
    desk = Desk()
    for _ in range(5):
        desk.queue(1)
        assert not desk.confirmation.step()
    assert outcome(desk, commands.Reset()) == (
        Result.NO_ANSWER,
        "sent; the robot has not confirmed it in 5 s",
    )


@pytest.mark.parametrize("command", [commands.Reset(), commands.Tare(), commands.Resume()], ids=str)
def test_a_refusal_is_told_with_its_reason_and_an_old_one_is_not(command):
    desk = Desk(refused_number=7, refusal="an old one")
    assert desk.confirm(refused_number=7, refusal="an old one")
    assert outcome(desk, command)[0] is Result.DONE
    desk = Desk(refused_number=7, refusal="an old one")
    desk.robot(refused_number=8, refusal="not allowed while the arm moves")
    assert desk.confirmation.step()
    assert outcome(desk, command) == (Result.REFUSED, "the robot refused it: not allowed while the arm moves")


@pytest.mark.parametrize("mode", [ExecutorMode.PAUSED, ExecutorMode.HALTED, ExecutorMode.FAULT])
def test_a_resume_after_which_the_robot_is_still_stopped_is_not_done(mode):
    desk = Desk()
    assert desk.confirm(mode=mode, reason="off the plan")
    assert not desk.confirmation.settled
    assert outcome(desk, commands.Resume()) == (
        Result.REFUSED,
        f"the robot is still {mode.name.lower()}: off the plan",
    )


def test_a_resume_does_not_release_the_e_stop():
    desk = Desk()
    assert desk.confirm(estop=True)
    assert outcome(desk, commands.Resume()) == (Result.REFUSED, "the e-stop is latched; allowed: after reset")


def test_a_resume_tells_what_the_robot_does_now():
    desk = Desk()
    assert desk.confirm(mode=ExecutorMode.RUNNING)
    assert outcome(desk, commands.Resume()) == (Result.DONE, "confirmed by the robot; it is running")
