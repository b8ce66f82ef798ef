"""The executive [US5231693]: runs one primitive at a time, by name and parameters, and reports how it ended.

Threads: `check` and `prepare` are slow (milliseconds), pure, and may be called from any thread. Everything else
belongs to the loop's thread and is fit for it. Only numbers cross the link: the same executive with the same
primitives runs at the robot and, at the operator's side, on a simulator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.path_timing import time_path
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray, finite_array, in_range
from telerobot_nodes.errors import InvalidValueError, TransitionError
from telerobot_nodes.motion.gripper import GripperMotion
from telerobot_nodes.motion.guard import GuardBand
from telerobot_nodes.motion.monitors import Termination
from telerobot_nodes.motion.parameters import GcmsfParameters
from telerobot_nodes.motion.preparation import (
    PreparedChange,
    PreparedMotion,
    prepare_change,
    prepare_motion,
    tool_pose,
)
from telerobot_nodes.motion.primitive import Primitive, PrimitiveStatus
from telerobot_nodes.motion.primitive_kinds import KindValues, PrimitiveKind, values_of
from telerobot_nodes.motion.touch import TouchPlan, TouchWatch, plan_touch


@dataclass(frozen=True)
class PrimitiveRequest:
    """One primitive with its parameters; not checked before `Executive.check`."""

    id: int
    name: str  # of primitive_kinds.KINDS
    values: Mapping[str, Any] = field(default_factory=dict)  # by name, SI units
    accept: tuple[str, ...] = ()  # Terminations after which a sequence goes on; none: those that succeeded

    def __post_init__(self) -> None:
        for word in self.accept:
            if word not in Termination.__members__ or word == "RUNNING":
                allowed = ", ".join(name for name in Termination.__members__ if name != "RUNNING")
                raise InvalidValueError("accept", word, f"allowed: {allowed}")
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))

    def accepts(self, reason: Termination) -> bool:
        """True when a sequence goes on after this end."""
        return reason.name in self.accept if self.accept else reason.succeeded


@dataclass(frozen=True)
class Prepared:
    """A primitive ready to begin with the arm at rest at `motion.q`."""

    request: PrimitiveRequest
    values: KindValues
    motion: PreparedMotion
    touch: TouchPlan | None = None
    guard: GuardBand | None = None

    @property
    def kind(self) -> PrimitiveKind:
        """Its line of the table."""
        return self.values.kind


@dataclass(frozen=True)
class ExecutiveStatus:
    """What is reported every `period`, and at the end (`running` False)."""

    id: int
    name: str
    running: bool
    reason: Termination
    elapsed: float  # [s] since it began
    motion: PrimitiveStatus
    gripper: float  # [m] measured opening; NaN: not known
    readings: Mapping[str, float]  # e.g. touch_force, overtravel, grip_width

    @property
    def succeeded(self) -> bool:
        """True when it ended as it was meant to."""
        return self.reason.succeeded


class Executive:
    """One arm's executive, stepped every `period` [s].

    `setpoint` (`q`, `qd`, `qdd`) is inside every joint limit at every sample; `gripper.width` [m] (below 0:
    unchanged) and `gripper.force` [N] (0: most) are what the fingers are told.
    """

    def __init__(self, robot: RobotModel, period: float) -> None:
        self.robot = robot
        self.period = period
        self.primitive = Primitive(robot, period)
        self.setpoint = self.primitive.setpoint
        self.gripper = GripperMotion()
        self.reason = Termination.RUNNING
        self.running = False
        self.request = PrimitiveRequest(0, "")
        self.readings: dict[str, float] = {}
        self._prepared: Prepared | None = None
        self._touch: TouchWatch | None = None
        self._began = 0.0
        self._ended = 0.0

    # slow, pure, any thread -----------------------------------------------------------------------------------

    def check(self, request: PrimitiveRequest) -> KindValues:
        """Everything that can be checked before it is known where the arm will be. Raises InvalidValueError."""
        values = values_of(request.name, request.values)
        values.law.check_robot(self.robot.dof)
        if values.kind.gripper:
            gripper = self.robot.gripper
            if gripper is None:
                raise InvalidValueError("name", request.name, f"allowed: without a gripper, as of {self.robot.name}")
            in_range(values.grasp.grip_width, "grip_width", 0.0, gripper.max_opening, "m")
        if values.law.trajectory.joint_dest:
            self.robot.limits.check_position(values.law.trajectory.joint_dest, "joint_dest")
        if values.kind.name == "joint_path":
            _via_rows(self.robot, values.path.via_points)
        return values

    def prepare(self, request: PrimitiveRequest, q: FloatArray, gripper_width: float = float("nan")) -> Prepared:
        """Everything before it begins, the arm at rest at the setpoint `q` (dof,) [rad].

        Raises InvalidValueError naming the field; nothing has moved, nothing is changed.
        """
        values = self.check(request)
        if values.kind.gripper and np.isfinite(gripper_width):
            in_range(gripper_width, "gripper_width", -0.01, 1.0, "m")
        law, path = values.law, None
        start = tool_pose(self.robot, self.robot.limits.check_position(q, "q"))
        if values.relative.tr_rel_dest:
            law = law.changed({"tr_tn_dest": _bound(law, values.relative.se3("tr_rel_dest"), start)})
        if values.kind.name == "joint_path":
            rows = np.vstack((q, _via_rows(self.robot, values.path.via_points)))
            path = time_path(rows, self.robot.limits, speed=values.path.path_speed)
        motion = prepare_motion(self.robot, self.period, law, q, path)
        touch = plan_touch(self.robot, self.period, values.touch, motion) if _touches(values) else None
        guard = GuardBand(values.guard, law, start) if values.guard.guard_plane else None
        return Prepared(request, values, motion, touch, guard)

    def prepare_change(self, base: GcmsfParameters, values: Mapping[str, Any], q: FloatArray) -> PreparedChange:
        """A change of the running primitive's set `base`, the arm about `q` [rad]. Raises InvalidValueError."""
        prepared = self._prepared
        for name in values:
            if prepared is not None and name not in prepared.kind.allowed:
                allowed = f"allowed for {prepared.kind.name}: {', '.join(prepared.kind.allowed)}"
                raise InvalidValueError(name, values[name], allowed)
        return prepare_change(self.robot, self.period, base, values, q)

    # in the loop ----------------------------------------------------------------------------------------------

    @property
    def parameters(self) -> GcmsfParameters:
        """The set in force: a value, to be handed to `prepare_change`."""
        return self.primitive.parameters

    def begin(self, now: float, q: FloatArray, prepared: Prepared) -> None:
        """Begin, the arm at rest at the setpoint `q` (dof,) [rad].

        Raises TransitionError when a primitive runs; InvalidValueError when `q` is not where it was prepared.
        Nothing is changed then.
        """
        if self.running:
            raise TransitionError("executive", f"RUNNING {self.request.name}", "BEGIN")
        self.primitive.begin(now, q, prepared.motion)
        self._prepared, self.request = prepared, prepared.request
        self.readings = {"duration": prepared.motion.duration}
        self._touch = None if prepared.touch is None else TouchWatch(prepared.touch, self.readings)
        if prepared.kind.gripper:
            self.gripper.begin(now, prepared.values.grasp, prepared.kind.name == "compliant_grasp")
        self._began = now
        self.reason = Termination.RUNNING
        self.running = True

    def change(self, now: float, prepared: PreparedChange) -> None:
        """Put a prepared change in force between two samples. Raises InvalidValueError, changing nothing."""
        if not self.running or not self.primitive.runs:
            raise InvalidValueError("change", sorted(prepared.values), "allowed: while a primitive runs")
        if self._touch is not None and self._touch.crossed:
            raise InvalidValueError("change", sorted(prepared.values), "allowed: before the touch")
        self.primitive.apply_change(now, prepared)

    def step(self, now: float) -> bool:
        """One sample; the setpoint of `now` into `setpoint`. False when no primitive runs (any more)."""
        if not self.running or self._prepared is None:
            return False
        if self._prepared.guard is not None:
            push = self._prepared.guard.push(self.primitive.fusion.state)
            if push is not None:
                self.primitive.push(push)
        going = self.primitive.step(now)
        if self._prepared.kind.gripper and self.primitive.runs:
            grasped = self.gripper.step(now, self.period)
            if grasped:
                self.primitive.stop(grasped)
        if self._touch is not None:
            self._touch.watch(self.primitive)
        if not going:
            self._at_rest(now)
        return self.running

    def _at_rest(self, now: float) -> None:
        reason = self.primitive.reason
        if self._touch is not None:
            reason = self._touch.at_rest(now, self.primitive)
        if not reason:
            return
        if self._prepared is not None and self._prepared.kind.gripper:
            self.readings["grip_width"] = self.gripper.measured
            self.gripper.end()
        self.reason = reason
        self.running = False
        self._ended = now

    def measure(self, q: FloatArray) -> None:
        """Measured joints (dof,) [rad]."""
        self.primitive.measure(q)

    def measure_gripper(self, at: float, width: float) -> None:
        """Measured opening [m] at `at` [s]."""
        self.gripper.measure(at, width)

    def feel(self, at: float, wrench: FloatArray) -> None:
        """Wrench (6,) [N], [N m] of the tool on what it touches, SENSOR frame, received at `at` [s]."""
        self.primitive.feel(at, wrench)

    def tare(self) -> None:
        """Take the wrench felt last as no contact, the load of `mass_prop` of the set in force apart."""
        self.primitive.tare()

    def teleoperate(self, increment: FloatArray) -> None:
        """Motion of the operator's device since the last call (6,) [m], [rad], along the axes of `tele_mode`."""
        self.primitive.teleoperate(increment)

    def push(self, displacement: FloatArray) -> None:
        """A force field's displacement of NOM (6,) [m], [rad] for the next sample."""
        self.primitive.push(displacement)

    def stop(self) -> None:
        """External stop: come to rest inside the acceleration limits; fingers keep their command."""
        self.primitive.stop()

    def status(self, now: float) -> ExecutiveStatus:
        """The state in values of their own."""
        elapsed = (now if self.running else self._ended) - self._began
        return ExecutiveStatus(
            self.request.id,
            self.request.name,
            self.running,
            self.reason,
            elapsed,
            self.primitive.status(now),
            self.gripper.measured,
            dict(self.readings),
        )


def _touches(values: KindValues) -> bool:
    return values.kind.name == "move_to_touch"


def _via_rows(robot: RobotModel, flat: tuple[float, ...]) -> FloatArray:
    """Via points (n, dof) [rad] inside the limits. Raises InvalidValueError."""
    points = finite_array(flat, "via_points")
    if not points.size or points.size % robot.dof:
        raise InvalidValueError("via_points (length)", points.size, f"allowed: multiples of {robot.dof}")
    rows = points.reshape(-1, robot.dof)
    for k, row in enumerate(rows):
        robot.limits.check_position(row, f"via_points[{k}]")
    return rows


def _bound(law: GcmsfParameters, T_rel: pin.SE3, T_base_tn: pin.SE3) -> list[float]:
    """Where a relative motion ends, trTnDest, when it begins at `T_base_tn`."""
    T_nom = law.trajectory.se3("tr_nom")
    T_world_nom = law.system.se3("tr_base") * T_base_tn * T_nom
    return [float(x) for x in pin.SE3ToXYZQUAT(T_world_nom * T_rel * T_nom.inverse())]
