"""Open requests and the stages of a halt."""

import pytest

from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.operator.client import HaltStage, RobotStatus, commands
from telerobot_nodes.operator.client.requests import HaltWatch, Requests


def test_a_request_ends_once_by_its_answer():
    requests = Requests(limit=2.0)
    ticket = requests.open(commands.Clear(), 0.0)
    assert requests.close(ticket).command == commands.Clear()
    assert requests.close(ticket) is None


@pytest.mark.parametrize(("now", "ended"), [(2.0, 0), (2.1, 1)])
def test_a_request_ends_after_its_time_limit(now, ended):
    requests = Requests(limit=2.0)
    ticket = requests.open(commands.Clear(), 0.0)
    assert len(requests.expired(now)) == ended
    assert (requests.close(ticket) is None) == bool(ended)


def test_tickets_differ_and_the_oldest_request_comes_first():
    requests = Requests(limit=2.0)
    tickets = [requests.open(commands.Rate(value), value) for value in (1.0, 0.5)]
    assert len(set(tickets)) == 2
    assert [request.ticket for request in requests.pending] == tickets


def robot(mode, *received):
    return RobotStatus(mode=mode, halts_received=received)


@pytest.fixture
def watch():
    return HaltWatch("me", lambda status: status.mode is ExecutorMode.HALTED)


@pytest.mark.parametrize("mode", [ExecutorMode.RUNNING, ExecutorMode.FAULT, ExecutorMode.HALTED])
def test_a_halt_is_confirmed_only_by_its_own_receipt(watch, mode):
    watch.asked("stop", 4, 1.0)
    watch.report(robot(mode, ("you", 4), ("me", 3)))
    assert watch.stage is HaltStage.ASKED
    watch.report(robot(ExecutorMode.HALTED, ("me", 4)))
    assert watch.stage is HaltStage.CONFIRMED


def test_a_halt_of_another_operator_is_shown_and_ends_with_the_robots_report(watch):
    watch.report(robot(ExecutorMode.HALTED))
    assert watch.stage is HaltStage.CONFIRMED
    watch.report(robot(ExecutorMode.RUNNING))
    assert watch.stage is HaltStage.NONE


def test_a_repeated_request_keeps_time_and_number_of_the_first(watch):
    watch.asked("stop", 4, 1.0)
    watch.asked("again", 5, 2.0)
    assert (watch.since, watch.reason, watch.number) == (1.0, "stop", 4)
