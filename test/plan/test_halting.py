"""A halt is repeated until the robot says it is halted, whatever others do meanwhile."""

import dataclasses

import pytest

from telerobot_nodes.plan.halting import REPEAT, HaltSender
from telerobot_nodes.plan.operations import ExecutorMode, ExecutorReport

RUNNING = ExecutorReport(
    mode=ExecutorMode.RUNNING,
    reason="",
    epoch=1,
    authority="operator",
    applied_number=1,
    refused_number=0,
    refusal="",
    executed_seq=1,
    committed_seq=2,
    tail_seq=3,
    halt_number=4,
    plan_time=0.1,
    committed_time=0.2,
    tail_time=0.3,
    rate=1.0,
    rate_goal=1.0,
    queue_length=2,
    capacity=100,
)


def report(mode, number):
    return dataclasses.replace(RUNNING, mode=mode, halt_number=number)


@pytest.fixture
def sender():
    made = HaltSender()
    made.on_report(RUNNING)
    return made


def test_a_new_halt_has_a_number_above_every_halt_the_robot_knows(sender):
    assert sender.ask(0.0, "why") == 5


def test_it_is_due_at_once_and_again_until_confirmed(sender):
    sender.ask(1.0, "why")
    assert sender.due(1.0)
    assert not sender.due(1.0 + 0.5 * REPEAT)
    assert sender.due(1.0 + REPEAT)
    sender.on_report(report(ExecutorMode.HALTED, 5))
    assert not sender.open
    assert not sender.due(9.0)


def test_a_report_from_before_the_halt_confirms_nothing(sender):
    sender.ask(0.0, "why")
    sender.on_report(report(ExecutorMode.HALTED, 4))
    assert sender.open


def test_asking_twice_before_the_confirmation_is_the_same_halt(sender):
    assert sender.ask(0.0, "why") == sender.ask(0.1, "still")


@pytest.mark.parametrize("number", [5, 6])
def test_a_robot_resumed_by_somebody_else_is_halted_again_with_a_higher_number(sender, number):
    sender.ask(0.0, "why")
    sender.on_report(report(ExecutorMode.RUNNING, number))
    assert sender.open
    assert sender.number == number + 1
