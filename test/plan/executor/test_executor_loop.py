"""The executor against the whole control step: halts, stale data and faults of the loop, with the plan kept."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.protocol import ControlState, ExecutorMode, OperationKind
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.motion.loop import ControlStep
from telerobot_nodes.plan.executor import PlanExecutor
from telerobot_nodes.plan.log import ControlReport, Operation, PlanPoints

pytestmark = pytest.mark.lengthy  # together some seconds

ROBOT = load_robot("arm")
PERIOD = 0.005


class Robot:
    """Executor and control step at 200 Hz on an arm that is where its setpoint is."""

    def __init__(self, points=200):
        self.executor = PlanExecutor(ROBOT)
        self.loop = ControlStep(ROBOT, PERIOD)
        self.now, self.count, self.number = 100.0, 0, 0
        self.q, self.qd = ROBOT.home.copy(), np.zeros(ROBOT.dof)
        self.executed = []
        self.followed = 0  # setpoint that the hardware followed last
        self.fast = self.hard = 0.0
        self.run(0.3)
        self.send(OperationKind.AUTHORITY)
        times = 0.02 * np.arange(points)
        poses = np.tile(pose_from_se3(ROBOT.forward(ROBOT.home)), (points, 1))
        poses[:, 1] += 0.05 * np.sin(1.5 * times) * np.minimum(times, 1.0) ** 2
        self.send(OperationKind.APPEND, points=PlanPoints(1, times, poses, np.zeros(points), "ann"))

    def send(self, kind, **values):
        if kind is OperationKind.RESUME:
            values.setdefault("halt_count", self.executor.report(self.now).halt_count)
        self.number += 1
        self.executor.receive(self.now, [Operation(1, self.number, kind, "ann", **values)])

    def halt(self, told):
        self.loop.halt(told, "test")

    def run(self, duration, measured=True, state=0):
        for _ in range(round(duration / PERIOD)):
            self.now += PERIOD
            self.count += 1
            if measured:
                self.loop.measure(self.now, self.q, self.qd)
            self.loop.set_hardware(state, "brake" if state else "")
            self.loop.arrival.hardware(self.now, self.followed, math.nan, math.nan)
            out = self.loop.step(self.now)
            if state == 0:
                self.followed = out.number
            self.fast = max(self.fast, np.abs(out.qd / ROBOT.limits.velocity).max())
            self.hard = max(self.hard, np.abs(out.qdd / ROBOT.limits.acceleration).max())
            self.q, self.qd = out.q.copy(), out.qd.copy()
            if self.count % 2 == 0:
                self._report(out)
            if self.executor.resuming is not None:
                self.loop.resume(self.executor.resuming)
            if self.count % 8 == 0:
                window = self.executor.tick(self.now)
                if window is not None:
                    self.loop.offer(self.now, window)
            for done in self.executor.drain_executed():
                self.executed.extend(range(done.first_seq, done.last_seq + 1))

    def _report(self, out):
        motion = (out.plan_time, out.q.copy(), out.qd.copy(), out.arrived_window, out.arrived_time)
        values = (ControlState(out.state), out.window, out.refused, *motion, out.waiting_text, out.reason)
        halt = {"halted": bool(out.halted), "halt_count": out.halt_count, "halt_reason": out.halt_reason}
        self.executor.on_control(self.now, ControlReport(*values, bool(out.recoverable), **halt))

    def finish(self, longest=30.0):
        until = self.now + longest
        while self.now < until and self.executor.report(self.now).mode is not ExecutorMode.IDLE:
            self.run(0.2)
        return self.executor.report(self.now)


def assert_all_executed_once(robot, points=200):
    assert robot.executed == list(range(1, points + 1))
    assert robot.fast <= 1.0 + 1e-6
    assert robot.hard <= 1.0 + 1e-3


def test_a_plan_runs_through_the_control_step():
    robot = Robot()
    robot.finish()
    assert_all_executed_once(robot)


def test_a_halt_stops_the_arm_until_resume_whatever_the_executor_asks():
    robot = Robot()
    robot.run(1.2)
    robot.halt(1)
    robot.run(1.0)
    assert np.abs(robot.qd).max() < 1e-6
    assert robot.executor.report(robot.now).mode is ExecutorMode.HALTED
    q = robot.q.copy()
    robot.run(0.5)
    np.testing.assert_array_equal(robot.q, q)
    robot.send(OperationKind.RESUME)
    robot.finish()
    assert_all_executed_once(robot)


KINDS = st.sampled_from(["halt", "copy", "resume", "stray"])


@settings(max_examples=15, deadline=None)
@given(
    events=st.lists(st.tuples(st.sampled_from(["halt", "copy", "resume", "stray"]), st.floats(0.01, 0.3)), max_size=25)
)
def test_halts_and_resumes_of_two_senders_in_any_order_move_nothing_that_is_halted(events):
    robot, told = Robot(), 0
    for kind, duration in events:
        before = robot.loop.output.halted
        if kind in ("halt", "copy"):
            told += kind == "halt" or told == 0
            robot.halt(told)
        elif kind == "resume":
            robot.send(OperationKind.RESUME)
        else:
            robot.send(OperationKind.RESUME, halt_count=robot.executor.report(robot.now).halt_count + 1)
        robot.run(duration)
        if kind in ("halt", "copy"):
            assert robot.loop.output.halted
        elif kind == "stray":
            assert robot.loop.output.halted == before
        still = robot.q.copy()
        if kind != "resume" and robot.loop.output.halted and not np.abs(robot.qd).any():  # a resume needs one more step
            robot.run(0.1)
            np.testing.assert_allclose(robot.q, still, rtol=0.0, atol=1e-12)  # [rad] rounding
    robot.run(0.1)
    robot.send(OperationKind.RESUME)
    robot.finish(60.0)
    assert_all_executed_once(robot)


def test_a_resume_soon_after_a_halt_still_goes_on():
    robot = Robot()
    robot.run(1.2)
    robot.halt(1)
    robot.run(0.1)
    robot.send(OperationKind.RESUME)
    robot.run(1.0)
    robot.send(OperationKind.RESUME)
    robot.finish()
    assert_all_executed_once(robot)


def test_stale_measurements_stop_the_arm_and_the_plan_goes_on_by_itself():
    robot = Robot()
    robot.run(1.2)
    robot.run(0.5, measured=False)
    robot.finish()
    assert_all_executed_once(robot)


def test_halts_again_and_again_lose_nothing():
    robot = Robot()
    for number in range(1, 7):
        robot.run(0.3 + 0.07 * number)
        robot.halt(number)
        robot.run(0.6)
        robot.send(OperationKind.RESUME)
    robot.finish()
    assert_all_executed_once(robot)


def test_hardware_not_ready_in_motion_is_a_fault_and_the_plan_is_kept():
    robot = Robot()
    robot.run(1.2)
    robot.run(0.5, state=3)
    report = robot.executor.report(robot.now)
    assert report.mode is ExecutorMode.FAULT
    assert report.tail_seq == 200
    robot.run(1.0)
    robot.send(OperationKind.RESUME)
    robot.finish()
    assert robot.executed == list(range(1, 201))
