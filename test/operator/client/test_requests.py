"""Open requests and the stages of a halt."""

import pytest

from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.operator.client import HaltStage, RobotStatus, commands
from telerobot_nodes.operator.client.requests import REPEATED, HaltWatch, RepeatedStop, Requests


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
def sent():
    return []


@pytest.fixture
def watch(sent):
    return HaltWatch("me", lambda *copy: sent.append(copy), in_force=lambda status: status.mode is ExecutorMode.HALTED)


@pytest.mark.parametrize("mode", [ExecutorMode.RUNNING, ExecutorMode.FAULT, ExecutorMode.HALTED])
def test_a_halt_is_confirmed_only_by_its_own_receipt(watch, mode):
    watch.ask("stop", 1.0)
    watch.report(robot(mode, ("you", 1), ("me", 0)))
    assert watch.stage is HaltStage.ASKED
    watch.report(robot(ExecutorMode.HALTED, ("me", 1)))
    assert watch.stage is HaltStage.CONFIRMED


def test_a_halt_of_another_operator_is_shown_and_ends_with_the_robots_report(watch):
    watch.report(robot(ExecutorMode.HALTED))
    assert watch.stage is HaltStage.CONFIRMED
    watch.report(robot(ExecutorMode.RUNNING))
    assert watch.stage is HaltStage.NONE


def test_a_repeated_request_is_a_copy_of_the_first_sent_at_once(watch, sent):
    watch.ask("stop", 1.0)
    watch.ask("again", 1.001)
    assert sent == [(1, "stop"), (1, "stop")]
    assert watch.since == 1.0


def test_a_stop_is_sent_again_at_its_pace_until_it_is_confirmed(sent):
    stop = RepeatedStop(lambda *copy: sent.append(copy))
    stop.step(0.0)
    assert sent == []
    for number in (1, 2):
        sent.clear()
        start = 10.0 * number
        stop.begin("stop", start)
        for step in range(1000):  # 1 s
            stop.step(start + 0.001 * step)
        assert set(sent) == {(number, "stop")}
        assert len(sent) == pytest.approx(1.0 / REPEATED, abs=1)
        stop.confirmed()
        sent.clear()
        stop.step(start + 5.0)
        assert sent == []
