"""Halt, pause and resume in the plan executor, also when they overtake the points before them."""

from dataclasses import replace

import numpy as np
import pytest
from executor_side import ROBOT, K, Side

from telerobot_nodes.core.protocol import ControlState, ExecutorMode
from telerobot_nodes.plan.executor import ExecutorMemory, PlanExecutor
from telerobot_nodes.plan.log import ControlReport


def test_a_halt_stops_the_arm_on_its_path_keeps_the_plan_and_needs_resume():
    side = Side()
    side.lay(150)
    side.run(1.2)
    side.halt()
    side.run(1.0)
    report = side.report()
    assert side.still()
    assert (report.mode, report.halt_count, report.tail_seq) == (ExecutorMode.HALTED, 1, 150)
    assert report.reason == "halt 1 by eve: too near"
    side.send(K.RESUME)
    side.finish()
    assert side.executed == list(range(1, 151))


@pytest.mark.parametrize("count", [0, 1, 3, 2**63, 2**64 - 1])
def test_a_resume_of_another_count_is_refused_and_the_halt_stays(count):
    side = Side()
    side.lay(150)
    side.run(0.5)
    for _ in range(2):
        side.halt()
    side.run(0.5)
    report = side.send(K.RESUME, halt_count=count)
    assert f"operation.halt_count: {count}" in report.refusal
    assert "allowed: 2" in report.refusal
    side.run(1.0)
    assert side.report().mode is ExecutorMode.HALTED
    assert side.still()
    assert side.executor.resuming is None


def test_a_resume_on_its_way_does_not_end_the_halt_that_came_after_it():
    side = Side()
    side.lay(150)
    side.run(0.5)
    side.halt()
    side.send(K.RESUME)
    side.halts += 1  # another operator's, before the resume arrived at the loop
    side.report_control()
    side.run(1.0)
    assert (side.report().mode, side.report().halt_count) == (ExecutorMode.HALTED, 2)
    assert side.still()


def test_a_resume_of_a_count_never_given_is_refused_while_nothing_is_halted():
    side = Side()
    report = side.send(K.RESUME, halt_count=1)
    assert "allowed: 0" in report.refusal
    side.halt()
    side.run(0.2)
    assert side.report().mode is ExecutorMode.HALTED


def only_the_boss(operation, control):
    return "" if operation.agent == "boss" else f"{operation.agent} has not made halt {control.halt_count}"


def test_a_resume_that_the_policy_refuses_changes_nothing_and_loses_nothing():
    side = Side(may_end=only_the_boss)
    side.lay(150)
    side.send(K.PAUSE)
    side.send(K.RESUME)  # of a pause: no stop is ended
    assert side.report().refused_number == 0
    side.run(0.5)
    side.halt()
    report = side.send(K.RESUME)
    assert (report.refused_number, report.refusal) == (side.number, "ann has not made halt 1")
    assert side.executor.resuming is None
    side.send(K.RATE, rate=2.0)  # what follows is taken
    side.run(0.5)
    report = side.report()
    assert (report.mode, report.tail_seq, report.rate_goal) == (ExecutorMode.HALTED, 150, 2.0)
    side.halted = False  # the boss has ended it at the loop
    side.report_control()
    side.finish()
    assert side.executed == list(range(1, 151))


def test_a_reset_that_the_policy_refuses_asks_no_node_and_is_answered():
    side = Side(may_end=only_the_boss)
    stopped = ControlReport(ControlState.FAULT, 0, 0, 0.0, ROBOT.home, np.zeros(ROBOT.dof), estop=True)
    side.executor.on_control(side.now, stopped)
    report = side.send(K.RESET)
    assert (report.reset_number, report.reset_refusal) == (side.number, "ann has not made halt 0")
    assert side.executor.drain_requests() == []
    side.executor.on_control(side.now, replace(stopped, estop=False))  # a fault of the hardware is nobody's stop
    side.send(K.RESET)
    assert len(side.executor.drain_requests()) == 1


def test_resume_waits_for_the_reset_of_the_estop_and_reset_for_something_to_reset():
    side = Side()
    assert "allowed: while the e-stop or a fault is latched" in side.send(K.RESET).refusal
    stopped = ControlReport(ControlState.FAULT, 0, 0, 0.0, ROBOT.home, np.zeros(ROBOT.dof), estop=True)
    side.executor.on_control(side.now, stopped)
    side.send(K.RATE, rate=1.0)
    assert "allowed: after a reset" in side.send(K.RESUME).refusal
    side.send(K.RATE, rate=1.0)
    side.send(K.RESET)
    (request,) = side.executor.drain_requests()
    assert (request.kind, request.agent) == (K.RESET, "ann")
    side.executor.answer_request(request, "RESET: no node serves it")
    assert side.report().refusal == "RESET: no node serves it"
    assert side.executor.drain_requests() == []


def test_a_request_is_reported_as_answered_when_its_node_has_answered_and_not_before():
    side = Side()
    report = side.send(K.TARE)
    number = side.number
    assert (report.applied_number, report.tare_number) == (number, 0)
    (request,) = side.executor.drain_requests()
    side.send(K.RATE, rate=1.0)
    side.executor.answer_request(request)
    report = side.report()
    assert (report.tare_number, report.tare_refusal, report.reset_number) == (number, "", 0)


def test_a_refused_request_keeps_its_own_reason_right_after_another_refusal():
    side = Side()
    side.lay(150)
    side.run(0.3)
    report = side.send(K.RESET)
    assert "allowed: while the e-stop or a fault is latched" in report.reset_refusal
    assert report.reset_number == side.number
    report = side.send(K.TARE)  # the arm moves
    assert report.tare_number == side.number
    assert report.refusal == report.tare_refusal
    assert "follows a refused operation" not in report.refusal
    assert "reset" not in report.refusal.lower()


def test_a_resume_that_the_estop_overtook_does_not_act_after_the_reset():
    """It was sent for the halt; somebody has pressed the e-stop meanwhile, and its reset alone lets nothing move."""
    side = Side()
    side.lay(150)
    side.run(0.5)
    side.halt()
    side.run(1.0)
    side.send(K.RESUME)
    assert side.executor.resuming == 1
    at = side.executor.motion.control.joint_position
    halted = ControlReport(ControlState.STOPPED, 0, 0, 0.0, at, np.zeros(ROBOT.dof), halted=True, halt_count=1)
    for estop in (True, False):
        state = ControlState.FAULT if estop else ControlState.STOPPED
        side.executor.on_control(side.now, replace(halted, state=state, estop=estop))
        assert side.executor.resuming is None


def test_tare_is_for_an_arm_at_rest():
    side = Side()
    side.lay(100)
    side.run(0.6)
    assert "allowed: while the arm rests" in side.send(K.TARE).refusal
    side.finish()
    side.send(K.TARE)
    assert [request.kind for request in side.executor.drain_requests()] == [K.TARE]


def test_a_pause_keeps_the_plan_and_resume_goes_on():
    side = Side()
    side.lay(100)
    side.run(0.8)
    side.send(K.PAUSE)
    side.run(1.0)
    assert side.still()
    assert side.report().mode is ExecutorMode.PAUSED
    side.send(K.RESUME)
    side.finish()
    assert side.executed == list(range(1, 101))


@pytest.mark.parametrize("stop", [K.PAUSE, K.CLEAR])
def test_a_stop_holds_the_arm_before_the_points_that_it_overtook_arrive(stop):
    side = Side()
    side.lay(100)
    side.run(0.8)
    late = side.operation(K.APPEND, points=side.points(20), after_seq=100)
    side.send(stop)
    side.run(1.0)
    assert side.still()
    assert side.report().applied_number == late.number - 1  # its turn has not come
    seen = len(side.executed)
    side.run(0.5)
    assert len(side.executed) == seen
    side.executor.receive(side.now, [late])
    assert side.report().applied_number == side.number
    side.send(K.RESUME)
    side.finish()
    assert side.executed[-1] == 120 if stop is K.PAUSE else seen <= side.executed[-1] <= seen + 10


def test_a_resume_that_overtook_as_well_lets_the_arm_go_on():
    side = Side()
    side.lay(100)
    side.number += 1  # lost
    side.send(K.PAUSE)
    side.send(K.RESUME)
    side.run(3.0)
    assert side.executed[-1] == 100


def test_an_overtaking_brake_holds_the_arm_only_where_its_points_begin():
    side = Side()
    side.lay(200)
    side.run(0.5)
    missing = side.operation(K.RATE, rate=1.0)
    side.send(K.TRUNCATE, after_seq=120)
    side.run(6.0)
    assert side.still()
    assert 60 < len(side.executed) <= 120
    side.executor.receive(side.now, [missing])
    side.finish()
    assert side.executed == list(range(1, 121))


def test_a_successor_keeps_pause_and_rate():
    side = Side()
    side.send(K.RATE, rate=0.1)
    side.send(K.PAUSE)
    successor = PlanExecutor(ROBOT, memory=ExecutorMemory.from_text(side.executor.memory().text()))
    side.executor = successor
    side.report_control()
    report = side.report()
    assert (report.mode, report.rate_goal) == (ExecutorMode.PAUSED, 0.1)
    side.send(K.RESUME)
    side.lay(20)
    side.run(1.0)
    assert side.report().rate == pytest.approx(0.1, abs=0.01)
