"""The robot's plan buffer: operations, what was executed, rates, faults; with the loop's own window follower."""

import numpy as np
import pytest
from executor_side import ROBOT, K, Side, poses_at
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import ControlState, ExecutorMode
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.plan.executor import PlanExecutor
from telerobot_nodes.plan.log import EPOCH_BLOCK, ControlReport


def test_every_point_is_executed_exactly_once_and_in_order():
    side = Side()
    for _ in range(10):
        side.lay(10)
    report = side.finish()
    assert side.executed == list(range(1, 101))
    assert report.executed_seq == report.tail_seq == 100
    assert report.queue_length == 0
    assert side.still()


def test_the_tool_ends_at_the_last_point():
    side = Side()
    side.lay(80)
    side.finish()
    tool = ROBOT.forward(side.follower.q).translation
    np.testing.assert_allclose(tool, poses_at([side.time])[0, :3], atol=1e-6)


def test_operations_sent_again_have_no_effect():
    side = Side()
    operation = side.operation(K.APPEND, points=side.points(20), after_seq=0)
    side.executor.receive(side.now, [operation])
    side.executor.receive(side.now, [operation, operation])
    assert side.report().tail_seq == 20
    side.finish()
    assert side.executed == list(range(1, 21))


def test_truncation_keeps_the_committed_stretch_and_says_so():
    side = Side()
    side.lay(200)
    side.run(1.5)
    committed = side.report().committed_seq
    report = side.send(K.TRUNCATE, after_seq=1)
    assert report.tail_seq == committed > report.executed_seq
    assert report.refused_number == 0
    side.lay(
        20,
        first=201,
        time=report.tail_time + 0.02 * np.arange(1, 21),
        pose=poses_at(report.tail_time + 0.02 * np.arange(1, 21)),
    )
    side.finish()
    assert side.executed == [*range(1, committed + 1), *range(201, 221)]


def test_clear_before_anything_moved_leaves_nothing():
    side = Side()
    side.lay(50)
    assert side.send(K.CLEAR).tail_seq == 0
    side.run(0.5)
    assert side.executed == []
    assert side.still()


@pytest.mark.parametrize("error", [OverflowError, ZeroDivisionError, MemoryError])
def test_whatever_fails_in_one_operation_those_behind_it_are_applied(monkeypatch, error):
    side = Side()
    side.lay(50)

    def fails(*_args):
        raise error("unforeseen")

    monkeypatch.setattr(side.executor, "_append", fails)
    append = side.operation(K.APPEND, points=side.points(20), after_seq=50)
    side.executor.receive(side.now, [append, side.operation(K.PAUSE), side.operation(K.RATE, rate=0.5)])
    report = side.report()
    assert (report.mode, report.rate_goal) == (ExecutorMode.PAUSED, 0.5)
    assert (report.applied_number, report.refused_number) == (side.number, append.number)
    assert report.refusal == f"APPEND failed: {error.__name__}('unforeseen')"


@pytest.mark.lengthy
def test_a_higher_rate_finishes_sooner_and_a_lower_one_later():
    def duration(rate):
        side = Side()
        side.send(K.RATE, rate=rate)
        side.lay(200)
        begun = side.now
        side.finish(120.0)
        return side.now - begun

    normal = duration(1.0)
    assert duration(3.0) < 0.6 * normal
    assert duration(0.5) > 1.7 * normal


def test_until_the_arm_was_at_rest_once_the_executor_is_starting_and_that_is_no_fault():
    executor = PlanExecutor(ROBOT)
    first = executor.report(0.0)
    assert (first.mode, first.reason) == (ExecutorMode.STARTING, "the arm has not been at rest yet")
    assert Side().report().mode is ExecutorMode.IDLE


def test_a_loop_that_stops_in_motion_is_a_fault_with_its_reason_until_resume():
    side = Side()
    side.lay(200)
    side.run(1.0)
    side.report_control(ControlState.STOPPING, "follow error")
    side.follower.hold(side.follower.q.copy(), side.follower.plan_time)
    side.run(0.3)
    assert (side.report().mode, side.report().reason) == (ExecutorMode.FAULT, "follow error")
    assert side.still()
    side.send(K.RESUME)
    side.finish()
    assert side.executed == list(range(1, 201))


def test_an_arm_moved_by_something_else_is_where_the_next_plan_starts():
    side = Side()
    side.lay(20)
    side.finish()
    moved = side.follower.q + 0.01
    side.follower.hold(moved, side.follower.plan_time)
    side.run(1.0)
    pose = np.tile(pose_from_se3(ROBOT.forward(moved)), (5, 1))
    assert side.lay(5, pose=pose).refused_number != side.number
    side.finish()
    np.testing.assert_allclose(side.follower.q, moved, atol=1e-6)


def begin_another(side, q):
    """Send the first point of another plan, where the arm was seen at joints `q`."""
    pose = pose_from_se3(ROBOT.forward(q)).reshape(1, 7)
    return side.lay(1, first=EPOCH_BLOCK, time=np.array([side.report().tail_time + 0.5]), pose=pose)


def test_the_first_point_of_another_plan_is_executed_where_the_arm_rests_and_moves_nothing():
    side = Side()
    side.lay(20)
    side.finish()
    q = side.follower.q.copy()
    report = begin_another(side, q + 1e-3)  # as far as a servo at rest may be
    assert (report.refused_number, report.executed_seq, report.tail_seq) == (0, EPOCH_BLOCK, EPOCH_BLOCK)
    side.run(1.0)
    assert np.array_equal(side.follower.q, q)
    assert side.executed == [*range(1, 21), EPOCH_BLOCK]


def test_the_first_point_ever_is_refused_where_the_arm_no_longer_rests_and_nothing_moves():
    side = Side()
    seen = side.follower.q.copy()
    side.follower.hold(seen + 0.02, side.follower.plan_time)
    side.run(1.0)
    pose = pose_from_se3(ROBOT.forward(seen)).reshape(1, 7)
    report = side.lay(1, pose=pose)
    assert (report.refused_number, report.executed_seq) == (side.number, 0)
    assert "where the arm rests" in report.refusal
    side.run(1.0)
    np.testing.assert_allclose(side.follower.q, seen + 0.02, atol=1e-9)


@pytest.mark.parametrize(("by", "allowed"), [(0.02, "where the arm rests"), (0.4, "(step)")])
def test_the_first_point_of_another_plan_is_refused_where_the_arm_no_longer_rests(by, allowed):
    side = Side()
    side.lay(20)
    side.finish()
    seen = side.follower.q.copy()
    side.follower.hold(seen + by, side.follower.plan_time)
    side.run(1.0)
    report = begin_another(side, seen)
    assert report.refused_number == side.number
    assert allowed in report.refusal
    side.run(1.0)
    np.testing.assert_allclose(side.follower.q, seen + by, atol=1e-9)


def test_a_report_with_the_wrong_number_of_joints_is_refused():
    side = Side()
    with pytest.raises(ValueError, match="joint_position"):
        side.executor.on_control(side.now, ControlReport(ControlState.HOLDING, 0, 0, 0.0, np.zeros(3), np.zeros(3)))


def test_the_committed_time_is_where_the_arm_stops_when_the_executor_falls_silent():
    side = Side()
    side.lay(300)
    side.run(1.0)
    stop = side.report().committed_time
    side.tick = 1e9
    side.run(2.0)
    assert side.follower.plan_time == pytest.approx(stop, abs=1e-6)


STEPS = st.one_of(
    st.tuples(st.just("lay"), st.integers(1, 40)),
    st.tuples(st.just("truncate"), st.integers(0, 150)),
    st.tuples(st.just("clear"), st.just(0)),
    st.tuples(st.just("halt"), st.just(0)),
    st.tuples(st.just("pause"), st.just(0)),
    st.tuples(st.just("resume"), st.just(0)),
    st.tuples(st.just("rate"), st.sampled_from([0.1, 0.5, 1.0, 4.0])),
    st.tuples(st.just("run"), st.floats(0.0, 0.6)),
)


@pytest.mark.lengthy
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEPS, min_size=3, max_size=14))
def test_whatever_is_asked_points_are_executed_once_in_order_and_never_after_being_dropped(steps):
    side = Side()
    dropped = set()
    for kind, value in steps:
        before = side.report()
        if kind == "lay":
            side.seq = max(side.seq, before.tail_seq)
            times = before.tail_time + 0.02 * np.arange(0 if before.tail_seq == 0 else 1, value + 1)
            side.lay(value, time=times, pose=poses_at(times))
        elif kind in ("truncate", "clear"):
            report = side.send(K.TRUNCATE, after_seq=value) if kind == "truncate" else side.send(K.CLEAR)
            dropped |= set(range(report.tail_seq + 1, side.seq + 1))
        elif kind == "halt":
            side.halt()
        elif kind == "run":
            side.run(value)
        else:
            side.send({"pause": K.PAUSE, "resume": K.RESUME, "rate": K.RATE}[kind], rate=value or 1.0)
    side.send(K.RESUME)
    side.send(K.RATE, rate=2.0)
    report = side.finish()
    assert report.mode is ExecutorMode.IDLE
    assert side.executed == sorted(set(side.executed))
    assert not dropped & set(side.executed)
    assert report.executed_seq == report.tail_seq
    assert side.still()
