"""The executive [US5231693]: runs one primitive at a time, given by name and parameters, and reports its end.

Threads: `check` and `prepare` are slow (milliseconds), pure, and may be called from any thread. Everything else belongs
to the loop's thread. Only numbers are sent over the link: the same executive with the same primitives runs at the robot
and, at the operator's side, on a simulator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.timing import time_path
from telerobot_nodes.core.values import FloatArray, in_range
from telerobot_nodes.errors import InvalidValueError, TransitionError
from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.parameters import GcmsfParameters, KindValues, PrimitiveKind
from telerobot_nodes.motion.primitives.gripper import GripperMotion
from telerobot_nodes.motion.primitives.guard import guard_of
from telerobot_nodes.motion.primitives.kept_force import KeptForce
from telerobot_nodes.motion.primitives.preparation import (
    PreparedChange,
    PreparedMotion,
    prepare_change,
    prepare_motion,
    tool_pose,
)
from telerobot_nodes.motion.primitives.primitive import Primitive, PrimitiveStatus
from telerobot_nodes.motion.primitives.request import PrimitiveRequest, check_request, via_rows
from telerobot_nodes.motion.primitives.touch import TouchMonitor, TouchPlan, plan_touch


@dataclass(frozen=True)
class Prepared:
    """A primitive ready to begin with the arm at rest at `motion.q`."""

    request: PrimitiveRequest
    values: KindValues
    motion: PreparedMotion
    touch: TouchPlan | None = None

    @property
    def kind(self) -> PrimitiveKind:
        """Its row of the table of primitives."""
        return self.values.kind


@dataclass(frozen=True)
class ExecutiveStatus:
    """Status of the executive, every `period` and at the end (`running` False)."""

    id: int
    name: str
    running: bool
    reason: Termination
    elapsed: float  # [s] since it began
    motion: PrimitiveStatus
    gripper: float  # [m] measured opening; NaN: unknown
    readings: Mapping[str, float]  # e.g. touch_force, overtravel, grip_width, force_kept

    @property
    def succeeded(self) -> bool:
        """True when the primitive reached its purpose."""
        return self.reason.succeeded


class Executive:
    """One arm's executive, stepped every `period` [s].

    `setpoint` (`q`, `qd`, `qdd`) keeps every joint limit at every sample. `gripper.width` [m] (negative: unchanged) and
    `gripper.force` [N] (0: the largest) are the gripper's command.
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
        self._touch: TouchMonitor | None = None
        self._kept: KeptForce | None = None
        self._began = 0.0
        self._ended = 0.0

    def check(self, request: PrimitiveRequest) -> KindValues:
        """Check everything that does not depend on the arm's position. Raises InvalidValueError."""
        return check_request(self.robot, request)

    def prepare(self, request: PrimitiveRequest, q: FloatArray, gripper_width: float = float("nan")) -> Prepared:
        """Prepare a primitive that begins with the arm at rest at the setpoint `q` (dof,) [rad]; moves nothing.

        Raises InvalidValueError naming the field.
        """
        values = self.check(request)
        if values.kind.gripper and np.isfinite(gripper_width):
            in_range(gripper_width, "gripper_width", -0.01, 1.0, "m")
        law, path = values.law, None
        start = tool_pose(self.robot, self.robot.limits.check_position(q, "q"))
        if values.relative.tr_rel_dest:
            law = law.changed({"tr_tn_dest": _destination(law, values.relative.se3("tr_rel_dest"), start)})
        if values.kind.name == "joint_path":
            rows = np.vstack((q, via_rows(self.robot, values.path.via_points)))
            path = time_path(rows, self.robot.limits, speed=values.path.path_speed)
        guard = guard_of(values.guard, self.robot, law, start)
        motion = replace(prepare_motion(self.robot, self.period, law, q, path), guard=guard)
        touch = plan_touch(self.robot, self.period, values.touch, motion) if _touches(values) else None
        return Prepared(request, values, motion, touch)

    def prepare_change(self, base: GcmsfParameters, values: Mapping[str, Any], q: FloatArray) -> PreparedChange:
        """Prepare a change of the running primitive's set `base`, the arm near `q` [rad]. Raises InvalidValueError."""
        prepared = self._prepared
        for name in values:
            if prepared is not None and name not in prepared.kind.allowed:
                allowed = f"allowed for {prepared.kind.name}: {', '.join(prepared.kind.allowed)}"
                raise InvalidValueError(name, values[name], allowed)
        return prepare_change(self.robot, self.period, base, values, q)

    @property
    def parameters(self) -> GcmsfParameters:
        """The set in force, for `prepare_change`."""
        return self.primitive.parameters

    def begin(self, now: float, q: FloatArray, prepared: Prepared) -> None:
        """Begin with the arm at rest at the setpoint `q` (dof,) [rad].

        Raises TransitionError if a primitive runs, InvalidValueError if it was not prepared for `q`. Nothing is changed
        then.
        """
        if self.running:
            raise TransitionError("executive", f"RUNNING {self.request.name}", "BEGIN")
        self.primitive.begin(now, q, prepared.motion)
        self._prepared, self.request = prepared, prepared.request
        self.readings = {"duration": prepared.motion.duration, **_reflected(prepared.values)}
        self._touch = None if prepared.touch is None else TouchMonitor(prepared.touch, self.readings)
        self._kept = KeptForce(prepared.values.law, self.readings) if prepared.kind.name == "gcm" else None
        if prepared.kind.gripper:
            self.gripper.begin(now, prepared.values.grasp, prepared.kind.name == "compliant_grasp")
        self._began = now
        self.reason = Termination.RUNNING
        self.running = True

    def change(self, now: float, prepared: PreparedChange) -> None:
        """Apply a prepared change between two samples. Raises InvalidValueError and then changes nothing."""
        if not self.running or not self.primitive.runs:
            raise InvalidValueError("change", sorted(prepared.values), "allowed: while a primitive runs")
        if self._touch is not None and self._touch.crossed:
            raise InvalidValueError("change", sorted(prepared.values), "allowed: before the touch")
        self.primitive.apply_change(now, prepared)

    def step(self, now: float) -> bool:
        """Compute the sample of `now` [s] into `setpoint`; False when no primitive runs any more."""
        if not self.running or self._prepared is None:
            return False
        going = self.primitive.step(now)
        if self.primitive.room < np.inf:
            self.readings["guard_room"] = min(self.readings.get("guard_room", np.inf), self.primitive.room)
        if self._kept is not None and self.primitive.runs:
            self._kept.watch(self.primitive.fusion.state)
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
        """Set the measured joints (dof,) [rad]."""
        self.primitive.measure(q)

    def measure_gripper(self, at: float, width: float) -> None:
        """Set the measured opening [m], received at `at` [s]."""
        self.gripper.measure(at, width)

    def set_wrench(self, at: float, wrench: FloatArray) -> None:
        """Set the wrench (6,) [N], [N m] of the tool on the environment, SENSOR frame, received at `at` [s]."""
        self.primitive.set_wrench(at, wrench)

    def tare(self) -> None:
        """Take the latest wrench, minus the load of `mass_prop`, as no contact."""
        self.primitive.tare()

    def teleoperate(self, increment: FloatArray) -> None:
        """Add the motion (6,) [m], [rad] of the operator's device since the last call, along `tele_mode`'s axes."""
        self.primitive.teleoperate(increment)

    def add_displacement(self, displacement: FloatArray) -> None:
        """Add a displacement of NOM (6,) [m], [rad] by a force field to the next sample."""
        self.primitive.add_displacement(displacement)

    def stop(self) -> None:
        """Come to rest inside the acceleration limits; the gripper keeps its command."""
        self.primitive.stop()

    def status(self, now: float) -> ExecutiveStatus:
        """The status at `now` [s], in values of its own."""
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


def _reflected(values: KindValues) -> dict[str, float]:
    """The gain of the force back to the hand, of a primitive that a hand moves."""
    moved = any(values.law.teleoperation.sel_vect_tp)
    return {"reflect_gain": values.reflect.reflect_gain} if moved else {}


def _touches(values: KindValues) -> bool:
    return values.kind.name == "move_to_touch"


def _destination(law: GcmsfParameters, T_rel: pin.SE3, T_base_tn: pin.SE3) -> list[float]:
    """Destination trTnDest of a relative motion that begins at `T_base_tn`."""
    T_nom = law.trajectory.se3("tr_nom")
    T_world_nom = law.system.se3("tr_base") * T_base_tn * T_nom
    return [float(x) for x in pin.SE3ToXYZQUAT(T_world_nom * T_rel * T_nom.inverse())]
