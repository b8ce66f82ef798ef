"""The generalized compliant motion primitive [GCMSF]: nominal segment, ending segment, one reason of termination.

Nominal segment: trajectory and sensor motion; only monitors can end it. Ending segment: the trajectory rests, sensor
motion goes on; monitors and ending conditions can end it. A monitor brings the joints to rest at once. Times are `now`
[s], monotonic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.protocol import next_state
from telerobot_nodes.core.robot import RobotModel, SetpointLimiter
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.law import (
    LAGS,
    Fusion,
    InputJoint,
    InputSix,
    InputValue,
    Law,
    Nominal,
    StateSix,
    StateValue,
    Termination,
    release_increments,
)
from telerobot_nodes.motion.parameters import GcmsfParameters
from telerobot_nodes.motion.primitives.endings import EndingConditions
from telerobot_nodes.motion.primitives.guard import GuardBand
from telerobot_nodes.motion.primitives.preparation import PreparedChange, PreparedMotion, prepare_change, prepare_motion
from telerobot_nodes.motion.primitives.sensor_watch import SensorWatch
from telerobot_nodes.motion.primitives.trajectory import CartesianMotion, NominalMotion

SATURATED = 0.02  # [rad] lag of the setpoint behind the wanted joints at which sensor motion gives way
BRAKING = 0.9  # [-] share of the acceleration limit
_STILL = 1e-6  # [rad/s]
AT_START = 1e-5  # [rad] largest distance of the arm from where the motion was prepared to begin


class Phase(Enum):
    """Phase of a primitive."""

    IDLE = "not started"
    NOMINAL = "nominal segment"
    ENDING = "ending segment"
    STOPPING = "coming to rest"
    ENDED = "ended"


class Event(Enum):
    """What happens to a primitive."""

    START = "start"
    REDIRECTED = "another destination"
    ARRIVED = "the nominal motion is complete"
    TERMINATED = "a monitor, an ending condition or the end of time"
    REST = "the joints are at rest"


TRANSITIONS: dict[tuple[Phase, Event], Phase] = {
    (Phase.IDLE, Event.START): Phase.NOMINAL,
    (Phase.NOMINAL, Event.REDIRECTED): Phase.NOMINAL,
    (Phase.ENDING, Event.REDIRECTED): Phase.NOMINAL,
    (Phase.NOMINAL, Event.ARRIVED): Phase.ENDING,
    (Phase.NOMINAL, Event.TERMINATED): Phase.STOPPING,
    (Phase.ENDING, Event.TERMINATED): Phase.STOPPING,
    (Phase.STOPPING, Event.REST): Phase.ENDED,
    (Phase.ENDED, Event.START): Phase.NOMINAL,
}


@dataclass(frozen=True)
class PrimitiveStatus:
    """Status of a primitive."""

    phase: Phase
    reason: Termination
    elapsed: float  # [s] since the start
    trans: float  # [m] offset by sensor motion
    angle: float  # [rad] rotation by sensor motion
    wrench_sense: FloatArray  # (6,) [N], [N m] of the tool on the environment, SENSE
    averages: FloatArray  # (8,) of the ending conditions; NaN before the first
    q: FloatArray  # (dof,) [rad] setpoint
    tool_pose: FloatArray  # (7,) wanted, BASE


class Primitive:
    """One motion of one arm under a parameter set, stepped every `period` [s]. One thread.

    `setpoint` is the joint setpoint (`q`, `qd`, `qdd`), inside every joint limit at every sample.
    """

    def __init__(self, robot: RobotModel, period: float, parameters: GcmsfParameters | None = None) -> None:
        self.robot = robot
        self.period = period
        self.fusion = Fusion(robot, period, parameters)
        self.setpoint = SetpointLimiter(robot.limits, period)
        self.phase = Phase.IDLE
        self.reason = Termination.RUNNING
        self._conditions = EndingConditions(self.fusion.parameters)
        self._motion: NominalMotion | None = None
        self._guard: GuardBand | None = None
        self.room = np.inf  # [m] least so far between the tool, if it were brought to rest, and its guard
        self._began = self._motion_began = self._ending_began = 0.0
        self._sensor = SensorWatch()
        self._report_at = -np.inf
        self._waiting = np.zeros((LAGS, 6))  # increments of the device that are not released yet
        self._brake = (np.zeros(robot.dof), np.zeros(robot.dof), np.ones(robot.dof), 0.0)  # q, qd, times to rest, time

    @property
    def parameters(self) -> GcmsfParameters:
        """The set in force."""
        return self.fusion.parameters

    def start(self, now: float, q: FloatArray, parameters: GcmsfParameters | None = None) -> None:
        """Prepare and begin with the arm at rest at `q` (dof,) [rad]; takes milliseconds.

        Raises InvalidValueError if the set does not fit the arm or the motion is out of reach, TransitionError if one
        is running. Nothing is changed then.
        """
        _next(self.phase, Event.START)
        chosen = self.parameters if parameters is None else parameters
        self.begin(now, q, prepare_motion(self.robot, self.period, chosen, q))

    def begin(self, now: float, q: FloatArray, prepared: PreparedMotion) -> None:
        """Begin a motion of `prepare_motion` with the arm at rest at `q` (dof,) [rad]; fast enough for the loop.

        Raises TransitionError if one is running, InvalidValueError if the arm is not where the motion was prepared to
        begin. Nothing is changed then.
        """
        phase = _next(self.phase, Event.START)
        away = np.abs(q - prepared.q)
        if not away.max() <= AT_START:
            i = int(away.argmax())
            raise InvalidValueError(f"q[{i}]", float(q[i]), f"allowed: as prepared, {prepared.q[i]:.6f} [rad]")
        self._guard, self.room = prepared.guard, np.inf
        self.fusion.use(prepared.parameters, self._guarded(prepared.law))
        self.fusion.reset(prepared.q)
        self.setpoint.reset(prepared.q)
        self.fusion.inputs.joint[InputJoint.Q_NOMINAL] = self.fusion.inputs.joint[InputJoint.Q_MEASURED] = prepared.q
        self.fusion.start_filter()
        self._conditions = prepared.conditions
        self._motion = prepared.motion
        self._waiting[:] = 0.0
        self._began = self._motion_began = self._report_at = now
        self._sensor.restart(now)
        self.reason = Termination.RUNNING
        self.phase = phase

    def measure(self, q: FloatArray) -> None:
        """Set the measured joints (dof,) [rad]; they give the direction of gravity."""
        if np.isfinite(q).all():
            self.fusion.inputs.joint[InputJoint.Q_MEASURED] = q
        else:
            self._sensor.valid = False

    def set_wrench(self, at: float, wrench: FloatArray) -> None:
        """Set the wrench (6,) [N], [N m] of the tool on the environment, SENSOR frame, received at `at` [s]."""
        self._sensor.receive(at, wrench, self.fusion.inputs.six[InputSix.WRENCH])

    def tare(self) -> None:
        """Take the latest wrench, minus the load of `mass_prop`, as no contact."""
        self.fusion.tare(self.fusion.inputs.joint[InputJoint.Q_MEASURED], self.fusion.inputs.six[InputSix.WRENCH])
        self._sensor.expect_another_force()

    def teleoperate(self, increment: FloatArray) -> None:
        """Add the motion (6,) [m], [rad] of the operator's device since the last call, along `tele_mode`'s axes."""
        if np.isfinite(increment).all():
            self._waiting[0] += increment

    def add_displacement(self, displacement: FloatArray) -> None:
        """Add a displacement of NOM (6,) [m], [rad] by another module to the next sample."""
        if np.isfinite(displacement).all():
            self.fusion.inputs.six[InputSix.FURTHER] += displacement

    def stop(self, reason: Termination = Termination.EXTERNAL_STOP) -> None:
        """Come to rest at once and end with `reason`."""
        self._terminate(reason)

    def change(self, now: float, values: Mapping[str, Any]) -> None:
        """Change parameters between two samples, without a step in the motion.

        Raises InvalidValueError, and changes nothing, if the resulting set is invalid.
        """
        q = self.setpoint.q.copy()
        self.apply_change(now, prepare_change(self.robot, self.period, self.parameters, values, q, self.runs))

    def apply_change(self, now: float, prepared: PreparedChange) -> None:
        """Apply a change of `prepare_change`; fast enough for the loop.

        Raises InvalidValueError, and changes nothing, if the set in force is not the one it was made from.
        """
        if prepared.base is not self.parameters:
            raise InvalidValueError("change", sorted(prepared.values), "allowed: one made from the set in force")
        self.fusion.use(prepared.parameters, self._guarded(prepared.law))
        self._sensor.expect_another_force()
        self._conditions = prepared.conditions
        self._conditions.begin(now)
        if prepared.redirects and self.runs:
            self._replan(now)

    @property
    def runs(self) -> bool:
        """True from the start until the first reason to end."""
        return self.phase in (Phase.NOMINAL, Phase.ENDING)

    @property
    def measured_nom(self) -> pin.SE3:
        """NOM in WORLD at the latest measured joints."""
        return self.fusion.T_world_nom(self.fusion.inputs.joint[InputJoint.Q_MEASURED])

    def step(self, now: float) -> bool:
        """Compute the sample of `now` [s] into `setpoint`; False once the primitive has ended at rest."""
        if self.phase in (Phase.IDLE, Phase.ENDED):
            return False
        if self.phase is Phase.STOPPING:
            return self._come_to_rest()
        arrived = self._place_nominal(now)
        release_increments(self._waiting, self.period, self.fusion.inputs.six[InputSix.TELE])
        monitor = self.fusion.advance(now - self._began)
        before = (self.setpoint.q.copy(), self.setpoint.qd.copy()) if self._guard is not None else None
        if self.setpoint.apply(self.fusion.q):
            self._give_way()
        if before is not None and self._leaves_no_room():
            return self._turn_back(*before)
        self._decide(now, self._check_sensor(now) or Termination(monitor), arrived)
        return True

    def report_due(self, now: float) -> bool:
        """True once in every `period` of the parameters."""
        if now < self._report_at:
            return False
        self._report_at = now + self.parameters.system.period
        return True

    def status(self, now: float) -> PrimitiveStatus:
        """The status at `now` [s], in arrays of its own."""
        state = self.fusion.state
        return PrimitiveStatus(
            self.phase,
            self.reason,
            now - self._began,
            float(state.value[StateValue.TRANS]),
            float(state.value[StateValue.ANGLE]),
            state.six[StateSix.SENSE_WRENCH].copy(),
            self._conditions.averages,
            self.setpoint.q.copy(),
            state.pose.copy(),
        )

    def _replan(self, now: float) -> None:
        """Redirect the nominal motion from its present place and velocity; trDel stays."""
        if self._motion is not None:
            self._motion = self._motion.redirected(now - self._motion_began, self.parameters)
        self._motion_began = now
        self.phase = _next(self.phase, Event.REDIRECTED)

    def _place_nominal(self, now: float) -> bool:
        """Write the nominal motion of `now` into the law's inputs; True when it is complete."""
        inputs, motion = self.fusion.inputs, self._motion
        if motion is None:
            return True
        arrived = motion.sample(now - self._motion_began)
        if isinstance(motion, CartesianMotion):
            inputs.value[InputValue.NOMINAL_KIND] = Nominal.CARTESIAN
            inputs.R[:], inputs.p[:] = motion.R, motion.p
        else:
            inputs.value[InputValue.NOMINAL_KIND] = Nominal.JOINTS
            inputs.joint[InputJoint.Q_NOMINAL] = motion.q
        return arrived

    def _check_sensor(self, now: float) -> Termination:
        if self._sensor.valid and not self.parameters.feels:
            return Termination.RUNNING
        self._sensor.feel(
            self.fusion.state.six[StateSix.SENSE_WRENCH][:3], self.fusion.inputs.joint[InputJoint.Q_MEASURED]
        )
        return self._sensor.check(now, self.parameters.force.frozen_time)

    def _decide(self, now: float, monitor: Termination, arrived: bool) -> None:
        if monitor:
            self._terminate(monitor)
        elif self.phase is Phase.NOMINAL and arrived:
            self.phase = _next(self.phase, Event.ARRIVED)
            self._ending_began = now
            self._conditions.begin(now)
        if self.phase is Phase.ENDING:
            self._conditions.sample(now, self.fusion.state)
            ending = self.parameters.ending
            if self._conditions.satisfied:
                self._terminate(Termination.CONDITIONS)
            elif now - self._ending_began >= ending.end_time:
                self._terminate(Termination.END_TIME if ending.select else Termination.COMPLETED)

    def _guarded(self, law: Law) -> Law:
        return law if self._guard is None else self._guard.applied(law)

    def _leaves_no_room(self) -> bool:
        """True when the tool could not be brought to rest any more outside the guard's band."""
        room = self.fusion.room(self.setpoint.q, self.setpoint.qd, rest_times(self.setpoint))
        self.room = min(self.room, max(room, 0.0))
        return room < 0.0

    def _turn_back(self, q: FloatArray, qd: FloatArray) -> bool:
        """Forget the sample that would have led too near; brake from the one before, `q`, `qd` (dof,)."""
        self.setpoint.reset(q, qd)
        self._terminate(Termination.GUARD)
        return self._come_to_rest()

    def _terminate(self, reason: Termination) -> None:
        if not self.runs:
            return
        self.phase = _next(self.phase, Event.TERMINATED)
        self.reason = reason
        q, qd, qdd = self.setpoint.q.copy(), self.setpoint.qd.copy(), self.setpoint.qdd.copy()
        self.setpoint.reset(q, qd)  # a setpoint that lagged behind would leave the straight line of braking
        self.setpoint.qdd[:] = qdd
        self._brake = (q, qd, rest_times(self.setpoint), 0.0)

    def _come_to_rest(self) -> bool:
        """Slow all joints down together, on the straight line of their motion as far as their limits allow."""
        q, qd, durations, t = self._brake
        t = min(t + self.period, float(durations.max()))
        self._brake = (q, qd, durations, t)
        braked = np.minimum(t, durations)
        self.setpoint.apply(q + qd * (braked - 0.5 * braked * braked / durations))
        if t >= durations.max() and np.abs(self.setpoint.qd).max() <= _STILL:
            self.phase = _next(self.phase, Event.REST)
            return False
        return True

    def _give_way(self) -> None:
        """At joint limits, drop the sensor motion that the joints cannot follow instead of catching it up later."""
        behind = np.abs(self.fusion.q - self.setpoint.q).max()
        if behind > SATURATED and self.fusion.state.source.any():
            self.fusion.absorb(self.setpoint.q)


def rest_times(setpoint: SetpointLimiter) -> FloatArray:
    """Times (dof,) [s] in which the joints come to rest from `setpoint`, each with constant deceleration.

    All take the longest one, on a straight line, but a joint that would meet its position limit before.
    """
    limits, q, qd = setpoint.limits, setpoint.q, setpoint.qd
    longest = max(float((np.abs(qd) / (BRAKING * limits.acceleration)).max()), setpoint.period)
    space = np.where(qd > 0.0, limits.upper - q, q - limits.lower)
    times: FloatArray = np.clip(2.0 * space / np.maximum(np.abs(qd), _STILL), setpoint.period, longest)
    return times


def _next(phase: Phase, event: Event) -> Phase:
    return next_state("primitive", TRANSITIONS, phase, event)
