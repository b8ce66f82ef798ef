"""Move to touch [US5231693]: approach until a threshold is crossed, come to rest, back off as selected.

An arm that is accelerated, as after a pause of its controller, is felt at the wrist like a touch. A touch is what is
still felt after `STAY` at rest; without it the approach goes on.

Backing off follows the approach in reverse. It ends
  reverse: when force and torque are below the reverse thresholds,
  safety:  when one of them is above its safety threshold (the tool has caught on something), or at the start,
  return:  at the start of the approach.
In each mode a wrench above the safety thresholds stops it, once it has been below them since the touch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law import State, StateSix, StateValue, Termination, law_of
from telerobot_nodes.motion.parameters import Touch
from telerobot_nodes.motion.primitives.endings import EndingConditions
from telerobot_nodes.motion.primitives.preparation import PreparedMotion
from telerobot_nodes.motion.primitives.primitive import Primitive
from telerobot_nodes.motion.primitives.trajectory import CartesianMotion

NEVER = 1e4  # [N], [N m] a threshold that is never reached but keeps the sensor supervised
STAY = 0.1  # [s] at rest before a touch counts: servo and filter have settled
STILL_FELT = 0.15  # of the threshold that was crossed; a loose block that gave way keeps 0.2 of it, noise 0.05
MOST_RESUMED = 10  # approaches taken up again


class TouchStage(Enum):
    """Stage of a move to touch."""

    APPROACH = "approach"
    STAYING = "at rest where a threshold was crossed"
    BACKING = "backing off"


@dataclass(frozen=True)
class TouchPlan:
    """What follows the approach; the motions of `stay` and `back` are replaced, because they begin at the touch."""

    touch: Touch
    T_world_nom: pin.SE3  # start of the approach
    T_world_dest: pin.SE3
    approach: PreparedMotion
    stay: PreparedMotion
    back: PreparedMotion


def plan_touch(robot: RobotModel, period: float, touch: Touch, approach: PreparedMotion) -> TouchPlan:
    """Prepare the backing off of an approach. Raises TypeError if it is not Cartesian."""
    motion = approach.motion
    if not isinstance(motion, CartesianMotion):
        raise TypeError("an approach is a Cartesian motion")
    T = pin.SE3(motion.R.copy(), motion.p.copy())
    parameters = approach.parameters.changed(
        {
            "time_vel_sel": "velocity",
            "time_vel_val": touch.reverse_vel,
            "tr_tn_dest": pin.SE3ToXYZQUAT(T * approach.parameters.trajectory.se3("tr_nom").inverse()),
            "max_force_thres": NEVER,
            "max_torque_thres": NEVER,
        }
    )
    law = law_of(parameters, robot, period)
    back = replace(approach, parameters=parameters, law=law, conditions=EndingConditions(parameters))
    stay = replace(back, parameters=parameters.changed({"end_time": STAY}))
    T_dest = pin.SE3(motion.destination_R.copy(), motion.destination_p.copy())
    return TouchPlan(touch, T, T_dest, approach, stay, back)


class TouchMonitor:
    """Supervises one move to touch; `readings` are complete when it has ended."""

    def __init__(self, plan: TouchPlan, readings: dict[str, float]) -> None:
        self.plan = plan
        self.stage = TouchStage.APPROACH
        self.readings = readings
        self._armed = False
        self._resumed = 0
        self._crossed_at: FloatArray | None = None  # (3,) [m] NOM when the threshold was crossed

    @property
    def crossed(self) -> bool:
        """True once a threshold was crossed."""
        return self._crossed_at is not None

    def watch(self, primitive: Primitive) -> None:
        """Record the contact after a sample, and stop backing off in time."""
        state = primitive.fusion.state
        if primitive.reason in (Termination.MAX_FORCE, Termination.MAX_TORQUE) and self._crossed_at is None:
            self._crossed_at = primitive.measured_nom.translation
        if self._crossed_at is not None:
            for name, row in (("touch_force", StateValue.FELT_FORCE), ("touch_torque", StateValue.FELT_TORQUE)):
                self.readings[name] = max(self.readings.get(name, 0.0), float(state.value[row]))
        if self.stage is TouchStage.BACKING and primitive.runs:
            reason = self._backing_ended(state)
            if reason:
                primitive.stop(reason)

    def at_rest(self, now: float, primitive: Primitive) -> Termination:
        """The primitive has come to rest: begin what follows (RUNNING), or return why everything has ended."""
        reason, stage = primitive.reason, self.stage
        if stage is TouchStage.APPROACH and reason in (Termination.MAX_FORCE, Termination.MAX_TORQUE):
            return self._go_on(now, primitive, TouchStage.STAYING, self.plan.stay)
        if reason is not Termination.COMPLETED:
            return reason
        if stage is TouchStage.STAYING:
            return self._stayed(now, primitive)
        return self._returned(primitive.fusion.state) if stage is TouchStage.BACKING else Termination.MISSED

    def _stayed(self, now: float, primitive: Primitive) -> Termination:
        """Back off from what is still felt; else go on with the approach."""
        if self._still_felt(primitive.fusion.state):
            self._note_place(primitive)
            return self._go_on(now, primitive, TouchStage.BACKING, self.plan.back, self.plan.T_world_nom)
        self._forget()
        if self._resumed > MOST_RESUMED:
            return Termination.MISSED
        return self._go_on(now, primitive, TouchStage.APPROACH, self.plan.approach, self.plan.T_world_dest)

    def _go_on(
        self,
        now: float,
        primitive: Primitive,
        stage: TouchStage,
        prepared: PreparedMotion,
        T_world_dest: pin.SE3 | None = None,
    ) -> Termination:
        """Begin a stage where the arm is; without a destination it stays there."""
        q = primitive.setpoint.q.copy()
        T = primitive.fusion.T_world_nom(q)
        motion = CartesianMotion(T, T_world_dest or T, prepared.parameters.trajectory)
        self.stage = stage
        primitive.begin(now, q, replace(prepared, q=q, motion=motion))
        return Termination.RUNNING

    def _note_place(self, primitive: Primitive) -> None:
        touched = primitive.measured_nom.translation
        if self._crossed_at is not None:
            self.readings["overtravel"] = float(np.linalg.norm(touched - self._crossed_at))
        self.readings.update(zip(("touch_x", "touch_y", "touch_z"), map(float, touched), strict=True))

    def _forget(self) -> None:
        """Forget a touch that was none."""
        self._resumed += 1
        self._crossed_at = None
        for name in ("touch_force", "touch_torque"):
            self.readings.pop(name, None)

    def _still_felt(self, state: State) -> bool:
        force, torque = _felt(state)
        limits = self.plan.approach.parameters.force
        return _above(force, STILL_FELT * limits.max_force_thres) or _above(
            torque, STILL_FELT * limits.max_torque_thres
        )

    def _backing_ended(self, state: State) -> Termination:
        touch = self.plan.touch
        force, torque = _felt(state)
        above = _above(force, touch.safety_force_thres) or _above(torque, touch.safety_torque_thres)
        if above and self._armed:
            return Termination.TOUCHED if touch.back_off == "safety" else Termination.SNAGGED
        self._armed = self._armed or not above
        return Termination.TOUCHED if touch.back_off == "reverse" and self._released(state) else Termination.RUNNING

    def _returned(self, state: State) -> Termination:
        held = self.plan.touch.back_off == "reverse" and not self._released(state)
        return Termination.HELD_BACK if held else Termination.TOUCHED

    def _released(self, state: State) -> bool:
        touch = self.plan.touch
        force, torque = _felt(state)
        return not (_above(force, touch.reverse_force_thres) or _above(torque, touch.reverse_torque_thres))


def _felt(state: State) -> tuple[float, float]:
    """Magnitudes of the filtered force [N] and torque [N m], SENSE."""
    wrench = state.six[StateSix.SMOOTH_WRENCH]
    return float(np.linalg.norm(wrench[:3])), float(np.linalg.norm(wrench[3:]))


def _above(felt: float, threshold: float) -> bool:
    return felt > threshold > 0.0
