"""Executor, control step and hardware in physics, without processes, and what may fail between them.

Time is the rig's own: nothing depends on the speed of the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any

import numpy as np

from telerobot_nodes.core.protocol import ControlState, ExecutorMode, HardwareState, MotionWindow, OperationKind
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, pose_from_se3
from telerobot_nodes.hardware import ArmPose, Hardware, MujocoArm, Setpoint
from telerobot_nodes.motion.loop import ControlOutput, ControlStep, HaltLatch
from telerobot_nodes.plan.executor import PlanExecutor
from telerobot_nodes.plan.log import ControlReport, Operation, PlanPoints

PERIOD = 0.005  # [s] of the control step
PHYSICS = 0.001  # [s]
TICK = 8  # periods between two of the executor
BETWEEN = 0.02  # [s] between plan points
NEAR = 0.03  # [m] between a point and the arm: 0.02 rad of a joint, and the lag of the servo
FINGERS_NEAR = 0.003  # [m]
SLICE = 0.2  # [s] between two looks whether the plan is executed
PATIENCE = 30.0  # [s]
LATCHED = 1.0  # [s] after which a person takes a halt for one that only RESUME clears
HELP = 6  # times that a person resets and resumes
AGENT = "ann"


class Content(Enum):
    """What a plan consists of."""

    PATH = "path"
    DWELL = "dwell"
    FINGERS = "fingers"
    GRASP = "grasp"  # the path ends while the fingers are on their way


class Cut(IntEnum):
    """A connection that may be cut."""

    JOINTS = 1  # measured joints
    STATUS = 2  # of the hardware
    SETPOINTS = 3
    WINDOWS = 4
    REPORTS = 5  # of the loop
    LOOP = 6  # it does not run


@dataclass(frozen=True)
class Executed:
    """One point that was reported as executed, and the period in which it was."""

    period: int
    seq: int


class ExecutedRig:
    """Executor at 25 Hz, control step at 200 Hz, arm in physics; one plan after the other."""

    def __init__(self, robot: RobotModel, start: float = 100.0) -> None:
        assert robot.gripper is not None
        self.robot, self.now = robot, start
        self.executor, self.loop = PlanExecutor(robot), ControlStep(robot, PERIOD)
        self.hardware = self.arm_at(None)
        self.offered = 0  # windows offered to the loop, also those that are lost on their way
        self.plan = PlanPoints(1, np.zeros(0), np.zeros((0, 7)), np.zeros(0, np.uint8), AGENT, np.zeros(0))
        self.arm: list[tuple[FloatArray, float]] = []  # position [m] and opening [m] at each period of this plan
        self.done: list[Executed] = []  # of this plan
        self._cut: frozenset[Cut] = frozenset()
        self._presses = False
        self._window: MotionWindow | None = None
        self._count = self._number = 0
        self._last = (0, 0.0)  # number and time [s] of the last point sent
        self._pose, self._opening = pose_from_se3(robot.forward(robot.home)), robot.gripper.max_opening
        self._side = 1.0
        self.hardware.open(self.now)
        self.run(0.5)
        self.send(OperationKind.AUTHORITY)

    def arm_at(self, start: ArmPose | None) -> Hardware:
        """A hardware interface with a simulated arm that stands there; None: at home."""
        return Hardware(self.robot, PHYSICS, MujocoArm(self.robot, PHYSICS, task_board=False, start=start))

    # what others do --------------------------------------------------------------------------------------------

    def send(self, kind: OperationKind, **values: object) -> None:
        """Send an operation, as the operator does."""
        if kind is OperationKind.RESUME:
            values["halt_count"] = self.executor.report(self.now).halt_count
        self._number += 1
        operation = Operation(1, self._number, kind, AGENT, **values)  # type: ignore[arg-type]
        self.executor.receive(self.now, [operation])
        for request in self.executor.drain_requests():
            if request.kind is OperationKind.RESET:
                self.hardware.reset()

    def append(self, content: Content, points: int) -> None:
        """Append a plan that goes on where the one before ended; traces begin anew."""
        seq, time = self._last
        times: FloatArray = time + BETWEEN * np.arange(1, points + 1, dtype=np.float64)
        poses, opening = np.tile(self._pose, (points, 1)), np.full(points, self._opening)
        if content is Content.PATH:
            poses[:, 1] += self._side * 0.0015 * points * (1.0 - np.cos(np.pi * np.linspace(0.0, 1.0, points)))
            self._side = -self._side
        if content in (Content.FINGERS, Content.GRASP):
            assert self.robot.gripper is not None
            target = 0.0 if self._opening > 0.0 else self.robot.gripper.max_opening
            opening = np.linspace(self._opening, target, points)
        self.plan = PlanPoints(seq + 1, times, poses, np.zeros(points, np.uint8), AGENT, opening)
        self.arm, self.done = self.arm[-1:], []
        self._last = (seq + points, float(times[-1]))
        self._pose, self._opening = poses[-1].copy(), float(opening[-1])
        self.send(OperationKind.APPEND, points=self.plan, after_seq=seq)

    # time ------------------------------------------------------------------------------------------------------

    def run(self, duration: float, cut: Iterable[Cut] = (), press: bool = False) -> None:
        """Let `duration` [s] pass with connections cut; `press`: the executor offers a window in every period.

        Without a new window it offers the last one again, as a doubled message would.
        """
        self._cut, self._presses = frozenset(cut), press
        for _ in range(round(duration / PERIOD)):
            self.now += PERIOD
            self._count += 1
            self._step_hardware()
            if Cut.LOOP not in self._cut:
                self._step_loop()
            if self._presses or self._count % TICK == 0:
                self._step_executor()
        self._cut, self._presses = frozenset(), False

    def _step_hardware(self) -> None:
        self.hardware.step(self.now)
        measured, status = self.hardware.measured(), self.hardware.status()
        self.arm.append((self.robot.forward(measured.position).translation.copy(), status.gripper))
        if Cut.JOINTS not in self._cut:
            self.loop.measure(self.now, measured.position, measured.velocity)
        if Cut.STATUS not in self._cut and self._count % 4 == 0:
            self.loop.set_hardware(status.state, status.reason, self.now, status.gripper)
            self.loop.arrival.hardware(self.now, status.setpoint_number, status.gripper, status.gripper_reference)

    def _step_loop(self) -> None:
        out = self.loop.step(self.now)
        if out.commanding and Cut.SETPOINTS not in self._cut:
            joints = (out.q.copy(), out.qd.copy(), out.qdd.copy())
            setpoint: Any = Setpoint(out.number, self.now, *joints, out.gripper)
            self.hardware.command(self.now, setpoint)
        if self._count % 4 == 0 and Cut.REPORTS not in self._cut:
            self.executor.on_control(self.now, report_of(out))
        if self.executor.resuming is not None:
            self.loop.resume(self.executor.resuming)

    def _step_executor(self) -> None:
        window = self.executor.tick(self.now)
        self._window = window or self._window
        if self._window is not None and (window is not None or self._presses):
            self.offered += 1
            if Cut.WINDOWS not in self._cut:
                self.loop.offer(self.now, self._window)
        for ran in self.executor.drain_executed():
            self.done += [Executed(len(self.arm), seq) for seq in range(ran.first_seq, ran.last_seq + 1)]

    # judgement -------------------------------------------------------------------------------------------------

    @property
    def finished(self) -> bool:
        """True when every point of the plan is reported as executed."""
        report = self.executor.report(self.now)
        idle = report.mode is ExecutorMode.IDLE and report.queue_length == 0
        return idle and report.executed_seq == self.plan.last_seq

    def finish(self) -> bool:
        """Go on until the plan is executed; False when it is halted for LATCHED, or not executed after PATIENCE."""
        halted = 0.0  # [s] so far
        for _ in range(round(PATIENCE / SLICE)):
            report = self.executor.report(self.now)
            halted = halted + SLICE if report.mode is ExecutorMode.HALTED else 0.0
            if halted > LATCHED or (report.mode is ExecutorMode.IDLE and report.queue_length == 0):
                break
            self.run(SLICE)
        self.run(2 * TICK * PERIOD)  # the executor reports in its tick what it has counted
        return self.finished

    def wrong(self) -> int:
        """Points of this plan reported as executed out of order, or where the measured arm had not been before."""
        count, at = 0, 0
        where = np.array([position for position, _ in self.arm])
        opening = np.array([width for _, width in self.arm])
        for expected, done in enumerate(self.done, self.plan.first_seq):
            row = done.seq - self.plan.first_seq
            near = np.linalg.norm(where[at : done.period] - self.plan.pose[row, :3], axis=1) <= NEAR
            if done.seq == self.plan.last_seq:  # on the way the fingers may be late; a plan at rest has moved them
                near &= np.abs(opening[at : done.period] - self.plan.gripper[row]) <= FINGERS_NEAR
            if done.seq != expected or not near.any():
                count += 1
            else:
                at += int(near.argmax())
        return count

    def help(self) -> str:
        """Reset and resume as a person does until the plan is executed; why it does not go on, "" when it does."""
        for _ in range(HELP):
            if self.finish():
                return ""
            report = self.executor.report(self.now)
            if not report.reason:
                return "nothing says why the plan does not go on"
            if self.hardware.status().state in (HardwareState.ESTOP, HardwareState.FAULT):
                self.send(OperationKind.RESET)
                self.run(0.3)
            self.send(OperationKind.RESUME)
            self.run(0.3)
        return "" if self.finish() else f"it does not go on: {self.executor.report(self.now).reason}"


def report_of(out: ControlOutput) -> ControlReport:
    """The loop's output as the executor receives it."""
    motion = (out.plan_time, out.path_q.copy(), out.path_qd.copy(), out.arrived_window, out.arrived_time)
    halt = {"halted": bool(out.halted), "halt_count": out.halt_count, "halt_reason": out.halt_reason}
    said = (out.waiting_text, out.reason, bool(out.recoverable), out.primitive)
    return ControlReport(
        ControlState(out.state), out.window, out.refused, *motion, *said, estop=bool(out.estop), **halt
    )


def _without(*cut: Cut) -> Fault:
    return lambda rig, duration: rig.run(duration, cut, press=True)


def _halted(rig: ExecutedRig, duration: float) -> None:
    rig.loop.halt(rig.loop.output.record["distinct"].item() + 1, "test")
    rig.run(duration, press=True)


def _e_stopped(rig: ExecutedRig, duration: float) -> None:
    rig.hardware.estop("test")
    rig.run(duration, press=True)


def _loop_killed(rig: ExecutedRig, duration: float) -> None:
    rig.run(duration, (Cut.LOOP, Cut.WINDOWS, Cut.REPORTS), press=True)
    rig.loop = ControlStep(rig.robot, PERIOD, latch=HaltLatch(1000, "test"))  # as `gcmsf_control` starts again
    rig.run(duration, press=True)


def _hardware_killed(rig: ExecutedRig, duration: float) -> None:
    stood = rig.hardware.measured()
    rig.run(duration, (Cut.JOINTS, Cut.STATUS, Cut.SETPOINTS), press=True)
    rig.hardware = rig.arm_at(ArmPose(stood.position, stood.gripper))
    rig.hardware.open(rig.now)
    rig.hardware.estop("test")  # as `hardware_interface` starts again
    rig.run(duration, press=True)


Fault = Callable[[ExecutedRig, float], None]  # for a duration [s]
FAULTS: Mapping[str, Fault] = {
    "nothing": _without(),
    "joints missing": _without(Cut.JOINTS),
    "hardware state missing": _without(Cut.STATUS),
    "setpoints lost": _without(Cut.SETPOINTS),
    "windows lost": _without(Cut.WINDOWS),
    "reports lost": _without(Cut.REPORTS),
    "loop stalled": _without(Cut.LOOP),
    "all cut": _without(Cut.JOINTS, Cut.STATUS, Cut.SETPOINTS, Cut.WINDOWS, Cut.REPORTS),
    "halted": _halted,
    "e-stop": _e_stopped,
    "loop killed": _loop_killed,
    "hardware killed": _hardware_killed,
}
