"""The robot's plan buffer: operations, refusals, what was executed, halts; with the loop's own window follower."""

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import ControlState, ExecutorMode, OperationKind
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.motion.tracking import WindowFollower
from telerobot_nodes.plan.executor import ExecutorConfig, ExecutorMemory, PlanExecutor
from telerobot_nodes.plan.log import ControlReport, Operation, PlanPoints

K = OperationKind
ROBOT = load_robot("arm")
START = pose_from_se3(ROBOT.forward(ROBOT.home))


def poses_at(times, speed=1.0):
    """A small closed motion of the tool that starts at rest at the arm's home."""
    t = np.asarray(times) * speed
    rows = np.tile(START, (t.size, 1))
    ease = np.clip(t, 0.0, 1.0) ** 3
    rows[:, 0] += 0.03 * ease * np.sin(2.0 * t)
    rows[:, 1] += 0.05 * ease * np.sin(1.3 * t)
    rows[:, 2] += 0.02 * ease * np.sin(3.1 * t)
    return rows


class Side:
    """Executor and loop at 2 ms, and the operator's bookkeeping of the log."""

    def __init__(self, config=None, tick=0.04):
        self.executor = PlanExecutor(ROBOT, config)
        self.follower = WindowFollower(ROBOT.dof, ROBOT.limits)
        self.follower.hold(ROBOT.home, 0.0)
        self.now = 10.0
        self.follower.sample(self.now)
        self.rest, self.tick, self.step = True, tick, 0
        self.number, self.seq, self.time = 0, 0, -0.02
        self.executed, self.plan_times = [], []
        self.halts, self.halted = 0, False  # as the control loop counts them
        self.report_control()
        self.send(K.AUTHORITY)

    def operation(self, kind, agent="ann", epoch=1, **values):
        self.number += 1
        return Operation(epoch, self.number, kind, agent, **values)

    def halt(self):
        """The control loop has obeyed a halt."""
        self.halts, self.halted = self.halts + 1, True
        self.report_control()

    def send(self, kind, **values):
        if kind is K.RESUME:
            values.setdefault("halt_count", self.halts)
        self.executor.receive(self.now, [self.operation(kind, **values)])
        return self.report()

    def points(self, n, first=None, author="ann", pose=None, time=None):
        first = self.seq + 1 if first is None else first
        times = self.time + 0.02 * np.arange(1, n + 1) if time is None else np.asarray(time, float)
        return PlanPoints(first, times, poses_at(times) if pose is None else pose, np.zeros(times.size), author)

    def lay(self, n, after=None, **values):
        points = self.points(n, **values)
        tail = self.report().tail_seq
        report = self.send(K.APPEND, points=points, after_seq=tail if after is None else after)
        if report.refused_number != self.number:
            self.seq, self.time = points.last_seq, float(points.time[-1])
        return report

    def report(self):
        return self.executor.report(self.now)

    def report_control(self, state=None, reason=""):
        f = self.follower
        state = state if state is not None else (ControlState.HOLDING if self.rest else ControlState.TRACKING)
        report = ControlReport(
            state, f.number, f.refused, f.plan_time, f.q.copy(), f.v.copy(), f.number, f.plan_time, reason=reason
        )
        if self.halted and self.executor.resuming == self.halts:
            self.halted = False
        report = dataclasses.replace(report, halted=self.halted, halt_count=self.halts, halt_reason="eve: too near")
        self.executor.on_control(self.now, report)

    def run(self, duration):
        for _ in range(round(duration / 0.002)):
            self.now += 0.002
            self.step += 1
            self.rest = self.follower.sample(self.now)
            if self.step % 5 == 0:
                self.report_control()
            if self.step % round(self.tick / 0.002) == 0:
                window = self.executor.tick(self.now)
                if window is not None:
                    self.follower.offer(self.now, window)
            for done in self.executor.drain_executed():
                self.executed.extend(range(done.first_seq, done.last_seq + 1))

    def finish(self, longest=60.0):
        until = self.now + longest
        while self.now < until and self.report().mode is not ExecutorMode.IDLE:
            self.run(0.2)
        return self.report()

    def still(self):
        return bool(np.all(np.abs(self.follower.v) < 1e-9))  # the mean of a motion at rest ends in rounding


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


def refused(side, contains, held):
    report = side.report()
    assert report.refused_number == side.number
    assert contains in report.refusal
    assert report.tail_seq == held


def test_a_first_point_far_from_the_arm_is_refused():
    side = Side()
    far = poses_at([0.0])
    far[0, 2] += 0.2
    side.lay(1, pose=far)
    refused(side, "points.pose[0] (step): 0.2", 0)


def test_points_out_of_reach_are_refused_and_later_ones_do_not_jump_the_gap():
    side = Side()
    side.lay(20)
    pose = np.tile(poses_at([side.time]), (30, 1))
    pose[:, 0] += 0.09 * np.arange(1, 31)
    side.lay(30, pose=pose)
    refused(side, "poses[", 20)
    side.send(K.APPEND, points=side.points(5, first=51), after_seq=50)
    refused(side, "follows a refused operation: poses[", 20)
    side.lay(5, first=56)
    assert side.report().tail_seq == 60
    side.finish()
    assert side.executed == [*range(1, 21), *range(56, 61)]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"author": "bob"}, "points.author: 'bob'"),
        ({"time": [0.05, 0.07]}, "points.time[0]: 0.05"),
        ({"after": 7}, "operation.after_seq: 7"),
    ],
)
def test_points_that_do_not_continue_the_plan_are_refused_naming_field_and_value(values, field):
    side = Side()
    side.lay(20)
    side.lay(2, **values)
    refused(side, field, 20)


def test_numbers_of_dropped_points_are_not_taken_again():
    side = Side()
    side.lay(20)
    side.send(K.TRUNCATE, after_seq=10)
    side.lay(2, first=15)
    refused(side, "points.first_seq: 15", 10)


def test_a_jump_between_points_is_refused():
    side = Side()
    side.lay(20)
    pose = poses_at(side.time + 0.02 * np.arange(1, 4))
    pose[2, 1] += 0.15
    side.lay(3, pose=pose)
    refused(side, "points.pose[2] (step)", 20)


def test_points_beyond_the_capacity_are_refused():
    side = Side(ExecutorConfig(capacity=50))
    side.lay(40)
    side.lay(20)
    refused(side, "20 do not fit; allowed: 10 more", 40)


def test_nothing_is_accepted_before_the_arm_has_reported():
    executor = PlanExecutor(ROBOT)
    pose = poses_at([0.0])
    operations = [
        Operation(1, 1, K.AUTHORITY, "ann"),
        Operation(1, 2, K.APPEND, "ann", PlanPoints(1, np.zeros(1), pose, np.zeros(1), "ann")),
    ]
    executor.receive(0.0, operations)
    assert "after the arm's first report" in executor.report(0.0).refusal
    assert executor.tick(0.0) is None


def test_operations_of_a_stranger_or_an_old_epoch_change_nothing():
    side = Side()
    side.lay(20)
    before = side.report().tail_seq
    side.executor.receive(side.now, [Operation(1, side.number + 1, K.CLEAR, "bob")])
    side.executor.receive(side.now, [Operation(0, 1, K.CLEAR, "ann")])
    assert side.report().tail_seq == before


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
    side.executor.refuse_request(request, "RESET: no node serves it")
    assert side.report().refusal == "RESET: no node serves it"
    assert side.executor.drain_requests() == []


def test_tare_is_for_an_arm_at_rest():
    side = Side()
    side.lay(100)
    side.run(0.6)
    assert "allowed: while the arm rests" in side.send(K.TARE).refusal
    side.finish()
    side.send(K.TARE)
    assert [request.kind for request in side.executor.drain_requests()] == [K.TARE]


@pytest.mark.parametrize("first", [2**32 + 151, 2**62, 2**63, 2**64 - 200])
def test_no_point_can_leave_no_number_for_the_next(first):
    side = Side()
    side.lay(150)
    assert "points.first_seq" in side.send(K.APPEND, points=side.points(50, first=first), after_seq=150).refusal
    side.lay(20)
    side.finish()
    assert side.executed == list(range(1, 171))


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
