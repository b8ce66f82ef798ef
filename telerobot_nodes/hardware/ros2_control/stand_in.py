"""A stand-in for an arm behind ros2_control: its controller with physics behind it, latency, jitter, and faults.

What belongs here: the arm as its topics show it, without the topics. Like a real arm it stops itself when a command is
far from where it is. Times are `now` [s] on the host's clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Generic, TypeVar

import numpy as np

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, in_range
from telerobot_nodes.hardware import Measured, MujocoArm, ServoReference
from telerobot_nodes.hardware.ros2_control.options import CommandMode, Ros2ControlOptions, WrenchSign, driver_names

PERIOD = 0.001  # [s] of physics
BANDWIDTH = 120.0  # [rad/s] of the arm's own smoothing of positions
FARTHEST = 0.15  # [rad] a command may be from the arm; farther is a protective stop
JUMP = 0.3  # [rad] of the fault `jump`
FOREIGN = {"aaa_conveyor": 12.5, "shoulder_camera_pan": -0.3, "zzz_rail": 1.75}  # joints of other machines

Item = TypeVar("Item")


class StandInFault(Enum):
    """What can be brought about."""

    PROTECTIVE_STOP = "protective_stop"
    SILENT = "silent"  # no measurements
    FROZEN = "frozen"  # the stamps stand still
    DROP_JOINT = "drop_joint"  # one joint is missing
    DEGREES = "degrees"
    NOT_FINITE = "not_finite"
    JUMP = "jump"
    OTHER_WRENCH_FRAME = "other_wrench_frame"
    FROZEN_WRENCH = "frozen_wrench"  # no digit of the wrench changes


@dataclass(frozen=True)
class StandInSettings:
    """How the stand-in behaves. Raises InvalidValueError naming the field."""

    rate: float = 500.0  # [Hz] of the measurements
    latency: float = 0.002  # [s] one way
    jitter: float = 0.001  # [s] standard deviation, one way
    clock: float = 1e6  # [s] the arm's own clock at the start
    seed: int = 1

    def __post_init__(self) -> None:
        in_range(self.rate, "rate", 20.0, 1000.0, "Hz")
        in_range(self.latency, "latency", 0.0, 1.0, "s")
        in_range(self.jitter, "jitter", 0.0, 0.1, "s")
        in_range(self.seed, "seed", 0, 2**31 - 1)


class DelayLine(Generic[Item]):
    """Items in order, each delayed by latency and jitter [s]."""

    def __init__(self, settings: StandInSettings, random: np.random.Generator) -> None:
        self._settings, self._random = settings, random
        self._items: deque[tuple[float, Item]] = deque()

    def put(self, now: float, item: Item) -> None:
        """Send an item at `now` [s]."""
        due = now + self._settings.latency + abs(float(self._random.normal(0.0, self._settings.jitter)))
        last = self._items[-1][0] if self._items else due
        self._items.append((max(due, last), item))

    def due(self, now: float) -> list[Item]:
        """Items that have arrived by `now` [s]."""
        found = []
        while self._items and self._items[0][0] <= now:
            found.append(self._items.popleft()[1])
        return found


@dataclass(frozen=True)
class Order:
    """A command in the controller's order; `span` [s] until a trajectory's point."""

    values: FloatArray
    span: float = 0.0


class StandInArm:
    """The simulated arm with its controller, stepped every PERIOD. One thread."""

    def __init__(self, robot: RobotModel, options: Ros2ControlOptions) -> None:
        self.robot, self.options = robot, options
        self.names = driver_names(robot, options)
        fingers = robot.gripper is not None and bool(robot.gripper.joints)
        self.physics = MujocoArm(robot if fingers else replace(robot, gripper=None), PERIOD, task_board=False)
        self._fingers = fingers  # in the physics; others are where they are sent
        self.opening = robot.gripper.max_opening if robot.gripper else 0.0  # [m] wanted
        self.stopped = ""  # why, or ""
        self._index = [self.names.index(name) for name in options.order or self.names]
        self._goal = np.array(robot.home)
        self._rate = np.zeros(robot.dof)  # wanted velocity
        self._q, self._v = self._goal.copy(), np.zeros(robot.dof)  # smoothed
        self._trajectory: tuple[float, float, FloatArray, FloatArray] | None = None
        self.physics.open(0.0)

    @property
    def at_rest(self) -> bool:
        """True while the arm hardly moves."""
        return bool(np.abs(self._v).max() < 1e-3)

    def take(self, now: float, order: Order) -> None:
        """Take a command; a wrong number of values is ignored, as a controller does."""
        if self.stopped or len(order.values) != self.robot.dof:
            return
        values = np.empty(self.robot.dof)
        values[self._index] = order.values
        if self.options.command is CommandMode.VELOCITY:
            self._rate = values
        elif not np.abs(values - self.physics.position).max() <= FARTHEST:
            self.stop("a command is far from the arm")
        elif self.options.command is CommandMode.POSITION:
            self._goal = values
        else:
            self._trajectory = now, now + order.span, self._goal.copy(), values

    def grip(self, joint: float) -> None:
        """Move the gripper's joint to a position."""
        gripper, model = self.options.gripper, self.robot.gripper
        if gripper is not None and model is not None:
            share = (joint - gripper.closed) / (gripper.open - gripper.closed)
            self.opening = min(max(share, 0.0), 1.0) * model.max_opening

    def finger(self, measured: float) -> float:
        """Position of the gripper's joint at a measured opening [m]."""
        gripper, model = self.options.gripper, self.robot.gripper
        if gripper is None or model is None:
            return 0.0
        opening = measured if self._fingers else self.opening
        return gripper.closed + (gripper.open - gripper.closed) * opening / model.max_opening

    def stop(self, why: str) -> None:
        """Come to rest and take no commands until `release`."""
        self.stopped, self._trajectory = why, None
        self._rate = np.zeros(self.robot.dof)

    def release(self) -> None:
        """Take commands again; the arm holds."""
        self.stopped = ""
        self._goal = self._q.copy()

    def step(self, now: float) -> None:
        """Advance by PERIOD."""
        acceleration = self._wanted_acceleration(now)
        self.physics.command(ServoReference(self._q.copy(), self._v.copy(), acceleration, self.opening))
        self._v = self._v + PERIOD * acceleration
        self._q = self._q + PERIOD * self._v
        self.physics.step(now)

    def _wanted_acceleration(self, now: float) -> FloatArray:
        if self.stopped:
            return -BANDWIDTH * self._v
        if self.options.command is CommandMode.VELOCITY:
            return BANDWIDTH * (self._rate - self._v)
        if self._trajectory is not None:
            begin, end, start, goal = self._trajectory
            self._goal = start + min(1.0, (now - begin) / max(end - begin, PERIOD)) * (goal - start)
        return BANDWIDTH**2 * (self._goal - self._q) - 2.0 * BANDWIDTH * self._v


@dataclass(frozen=True)
class JointReport:
    """One message of joint states: the names sorted, foreign ones among them."""

    stamp: float  # [s] on the arm's clock
    names: Sequence[str]
    position: Sequence[float]
    velocity: Sequence[float]
    effort: Sequence[float]


@dataclass(frozen=True)
class WrenchReport:
    """One message of the wrist sensor."""

    stamp: float
    frame: str
    wrench: FloatArray  # (6,) [N], [N m]


class StandIn:
    """The arm as its topics show it: delayed both ways, with the faults in `faults`."""

    def __init__(self, robot: RobotModel, options: Ros2ControlOptions, settings: StandInSettings) -> None:
        random = np.random.default_rng(settings.seed)
        self.arm = StandInArm(robot, options)
        self.settings, self.options = settings, options
        self.faults: set[StandInFault] = set()
        self._released = False
        self._to_arm: DelayLine[Order] = DelayLine(settings, random)
        self._from_arm: DelayLine[tuple[float, Measured]] = DelayLine(settings, random)
        self._stamp = settings.clock
        self._wrench = np.zeros(6)

    def receive(self, now: float, order: Order) -> None:
        """Take a command from the topic."""
        self._to_arm.put(now, order)

    def bring(self, fault: StandInFault) -> None:
        """Bring a fault about."""
        self._released = False
        self.faults.add(fault)

    def release(self) -> None:
        """End every fault; a stopped arm takes commands again once it rests."""
        self.faults.clear()
        self._released = bool(self.arm.stopped)

    def step(self, now: float) -> None:
        """Advance by PERIOD."""
        for order in self._to_arm.due(now):
            self.arm.take(now, order)
        if StandInFault.PROTECTIVE_STOP in self.faults and not self.arm.stopped:
            self.arm.stop("protective stop")
        elif self._released and self.arm.stopped and self.arm.at_rest:
            self.arm.release()
            self._released = False
        self.arm.step(now)

    def reports(self, now: float, age: float) -> list[tuple[JointReport, WrenchReport | None]]:
        """Measure at `now` [s], `age` [s] after the start; returns what arrives on the topics at this time."""
        if StandInFault.FROZEN not in self.faults:
            self._stamp = age + self.settings.clock
        self._from_arm.put(now, (self._stamp, self.arm.physics.read()))
        arrived = self._from_arm.due(now)
        if StandInFault.SILENT in self.faults:
            return []
        return [(self._joints(stamp, row), self._felt(stamp, row)) for stamp, row in arrived]

    def _joints(self, stamp: float, measured: Measured) -> JointReport:
        names, faults = self.arm.names, self.faults
        rows = {name: (position, 0.0, 0.0) for name, position in FOREIGN.items()}
        if self.options.gripper is not None:
            rows[self.options.gripper.joint] = (self.arm.finger(measured.gripper), 0.0, 0.0)
        scale = float(np.rad2deg(1.0)) if StandInFault.DEGREES in faults else 1.0
        offset = JUMP if StandInFault.JUMP in faults else 0.0
        for i, name in enumerate(names):
            q, qd, tau = (float(row[i]) for row in (measured.position, measured.velocity, measured.effort))
            rows[name] = scale * q + offset, scale * qd, tau
        if StandInFault.DROP_JOINT in faults:
            del rows[names[2]]
        if StandInFault.NOT_FINITE in faults:
            rows[names[1]] = float("nan"), 0.0, 0.0
        order = sorted(rows)
        position, velocity, effort = ([rows[name][k] for name in order] for k in range(3))
        return JointReport(stamp, order, position, velocity, effort)

    def _felt(self, stamp: float, measured: Measured) -> WrenchReport | None:
        options = self.options.wrench
        if options is None:
            return None
        if StandInFault.FROZEN_WRENCH not in self.faults:
            self._wrench = measured.wrench_sensor * (1.0 if options.sign is WrenchSign.ON_ENVIRONMENT else -1.0)
        frame = options.frame + "_other" if StandInFault.OTHER_WRENCH_FRAME in self.faults else options.frame
        return WrenchReport(stamp, frame, self._wrench)
