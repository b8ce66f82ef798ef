"""Executed means done by the arm: executor, control step and hardware with MuJoCo, with every fault at every phase.

A point may be reported as executed only after the measured arm was at it, in order, and the fingers with it. After each
fault the plan goes on by itself, or after what a person does, and nothing is left over.
"""

import numpy as np
import pytest

from telerobot_nodes.core.protocol import ControlState, ExecutorMode, HardwareState, OperationKind
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values.frames import pose_from_se3
from telerobot_nodes.hardware import Hardware, Setpoint
from telerobot_nodes.motion.loop import ControlStep
from telerobot_nodes.plan.executor import PlanExecutor
from telerobot_nodes.plan.log import ControlReport, Operation, PlanPoints

pytestmark = pytest.mark.lengthy  # physics

ROBOT = load_robot("arm")
PERIOD = 0.005
NEAR = 0.03  # [m] between a point and the arm: 0.02 rad of a joint, and the lag of the servo
FINGERS_NEAR = 0.003  # [m]
WIDE = ROBOT.gripper.max_opening
POINTS = 100


def plan(kind):
    """Points 20 ms apart: a path, a dwell, or the fingers alone."""
    times = 0.02 * np.arange(POINTS)
    poses = np.tile(pose_from_se3(ROBOT.forward(ROBOT.home)), (POINTS, 1))
    opening = np.full(POINTS, WIDE)
    if kind == "path":
        poses[:, 1] += 0.15 * (1.0 - np.cos(np.pi * times / times[-1]))
    if kind == "fingers":
        opening = np.linspace(WIDE, 0.0, POINTS)
    return PlanPoints(1, times, poses, np.zeros(POINTS), "ann", opening)


class Robot:
    """Executor at 25 Hz, control step at 200 Hz, arm in physics; `cut` names the connections that are cut."""

    def __init__(self, kind, start):
        self.executor, self.loop = PlanExecutor(ROBOT), ControlStep(ROBOT, PERIOD)
        self.hardware = Hardware(ROBOT, 0.001, task_board=False)
        self.now, self.count, self.number = start, 0, 0
        self.cut = frozenset()
        self.arm, self.done = [], []  # (position, opening) at each period; (period, point) of those executed
        self.plan = plan(kind)
        self.hardware.open(self.now)
        self.run(0.5)
        self.send(OperationKind.AUTHORITY)
        self.send(OperationKind.APPEND, points=self.plan)

    def send(self, kind, **values):
        if kind is OperationKind.RESUME:
            values["halt_count"] = self.executor.report(self.now).halt_count
        self.number += 1
        self.executor.receive(self.now, [Operation(1, self.number, kind, "ann", **values)])
        for request in self.executor.drain_requests():
            assert request.kind is OperationKind.RESET
            self.hardware.reset()

    def run(self, duration, cut=()):
        self.cut = frozenset(cut)
        for _ in range(round(duration / PERIOD)):
            self.now += PERIOD
            self.count += 1
            self._hardware()
            if "loop" not in self.cut:
                self._loop()
            if self.count % 8 == 0:
                self._executor()
        self.cut = frozenset()

    def _hardware(self):
        self.hardware.step(self.now)
        measured, status = self.hardware.measured(), self.hardware.status()
        self.arm.append((ROBOT.forward(measured.position).translation.copy(), status.gripper))
        if "joints" not in self.cut:
            self.loop.measure(self.now, measured.position, measured.velocity)
        if "status" not in self.cut and self.count % 4 == 0:
            self.loop.set_hardware(status.state, status.reason, self.now, status.gripper)
            self.loop.arrival.hardware(self.now, status.setpoint_number, status.gripper, status.gripper_reference)

    def _loop(self):
        out = self.loop.step(self.now)
        if out.commanding and "setpoints" not in self.cut:
            joints = (out.q.copy(), out.qd.copy(), out.qdd.copy())
            self.hardware.command(self.now, Setpoint(out.number, self.now, *joints, out.gripper))
        if self.count % 4 == 0 and "reports" not in self.cut:
            self.executor.on_control(self.now, report_of(out))
        if self.executor.resuming is not None:
            self.loop.resume(self.executor.resuming)

    def _executor(self):
        window = self.executor.tick(self.now)
        if window is not None and "windows" not in self.cut:
            self.loop.offer(self.now, window)
        for ran in self.executor.drain_executed():
            self.done += [(len(self.arm), seq) for seq in range(ran.first_seq, ran.last_seq + 1)]

    def finish(self):
        for _ in range(150):
            report = self.executor.report(self.now)
            if report.mode is ExecutorMode.IDLE and report.queue_length == 0:
                break
            self.run(0.2)
        return report

    def check(self):
        """Every point reported was reached by the measured arm before, in order."""
        assert [seq for _, seq in self.done] == list(range(1, len(self.done) + 1))
        where = np.array([position for position, _ in self.arm])
        opening = np.array([width for _, width in self.arm])
        at = 0
        for period, seq in self.done:
            pose, wanted = self.plan.pose[seq - 1, :3], self.plan.gripper[seq - 1]
            near = np.linalg.norm(where[at:period] - pose, axis=1) <= NEAR
            if seq == POINTS:  # on the way the fingers may be late; a plan at rest has moved them
                near &= np.abs(opening[at:period] - wanted) <= FINGERS_NEAR
            assert near.any(), f"point {seq} counts as executed, and the arm was not there"
            at += int(near.argmax())


def report_of(out):
    motion = (out.plan_time, out.path_q.copy(), out.path_qd.copy(), out.arrived_window, out.arrived_time)
    halt = {"halted": bool(out.halted), "halt_count": out.halt_count, "halt_reason": out.halt_reason}
    said = (out.waiting_text, out.reason, bool(out.recoverable), out.primitive)
    return ControlReport(
        ControlState(out.state), out.window, out.refused, *motion, *said, estop=bool(out.estop), **halt
    )


def halted(robot, duration):
    robot.loop.halt(robot.count, "test")
    robot.run(duration)


def e_stopped(robot, duration):
    robot.hardware.estop("test")
    robot.run(duration)


def loop_restarted(robot, duration):
    robot.loop = ControlStep(ROBOT, PERIOD)
    robot.run(duration)


FAULTS = {
    "nothing": lambda robot, duration: robot.run(duration),
    "joints missing": lambda robot, duration: robot.run(duration, ["joints"]),
    "hardware state missing": lambda robot, duration: robot.run(duration, ["status"]),
    "setpoints lost": lambda robot, duration: robot.run(duration, ["setpoints"]),
    "windows lost": lambda robot, duration: robot.run(duration, ["windows"]),
    "reports lost": lambda robot, duration: robot.run(duration, ["reports"]),
    "loop stalled": lambda robot, duration: robot.run(duration, ["loop"]),
    "all cut": lambda robot, duration: robot.run(duration, ["joints", "status", "setpoints", "windows", "reports"]),
    "halted": halted,
    "e-stop": e_stopped,
    "loop restarted": loop_restarted,
}


def help_on(robot):
    """What a person does until the plan is executed: reset, resume."""
    for _ in range(6):
        report = robot.finish()
        robot.check()
        if report.mode is ExecutorMode.IDLE and report.queue_length == 0:
            return report
        assert report.reason, "nothing says why the plan does not go on"
        if robot.hardware.status().state in (HardwareState.ESTOP, HardwareState.FAULT):
            robot.send(OperationKind.RESET)
            robot.run(0.3)
        robot.send(OperationKind.RESUME)
        robot.run(0.3)
    return robot.executor.report(robot.now)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", ["path", "dwell", "fingers"])
def test_nothing_counts_as_executed_that_the_arm_did_not_do(kind, fault):
    random = np.random.default_rng([len(kind), len(fault)])
    for _ in range(4):
        robot = Robot(kind, 100.0)
        robot.run(random.uniform(0.0, 2.5))
        FAULTS[fault](robot, random.uniform(0.02, 0.8))
        robot.check()
        report = help_on(robot)
        assert (report.mode, report.executed_seq) == (ExecutorMode.IDLE, POINTS), report.reason


def test_the_first_plan_after_joints_came_late_moves_the_fingers():
    """As seen on a slower machine: the loop stopped for joints 0.101 s old, and the fingers never moved."""
    robot = Robot("fingers", 100.0)
    robot.run(0.02)
    robot.run(0.11, ["joints"])
    report = help_on(robot)
    assert (report.mode, report.executed_seq) == (ExecutorMode.IDLE, POINTS)
    assert robot.arm[-1][1] < FINGERS_NEAR


def test_the_operator_sees_why_a_plan_at_rest_is_not_executed():
    robot = Robot("dwell", 100.0)
    robot.run(6.0, ["setpoints"])
    report = robot.executor.report(robot.now)
    assert report.executed_seq == 0
    assert report.mode in (ExecutorMode.RUNNING, ExecutorMode.FAULT)
    assert "setpoint" in report.reason
