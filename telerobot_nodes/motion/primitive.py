"""The generalized compliant motion primitive [GCMSF]: nominal segment, ending segment, one reason of termination.

Nominal segment: trajectory and sensors; only monitors act. Ending segment: the trajectory is held, sensors go on,
monitors and ending conditions act. A monitor brings the joints to rest at once. Times are `now` [s], monotonic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.limits import SetpointLimiter
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.errors import InvalidValueError, TransitionError
from telerobot_nodes.motion.endings import EndingConditions
from telerobot_nodes.motion.fusion import Fusion
from telerobot_nodes.motion.law_records import (
    ANGLE,
    FURTHER,
    MOTION,
    NOMINAL_CARTESIAN,
    NOMINAL_JOINTS,
    NOMINAL_KIND,
    Q_MEASURED,
    Q_NOMINAL,
    SENSE_WRENCH,
    TELE,
    TRANS,
    WRENCH,
)
from telerobot_nodes.motion.monitors import Termination
from telerobot_nodes.motion.parameters import GcmsfParameters
from telerobot_nodes.motion.preparation import PreparedChange, PreparedMotion, prepare_change, prepare_motion
from telerobot_nodes.motion.teleoperation import LAGS, give_out
from telerobot_nodes.motion.trajectory import CartesianMotion, NominalMotion

SENSOR_TIMEOUT = 0.1  # [s] an older wrench stops what needs it
SATURATED = 0.02  # [rad] setpoint behind what is wanted: sensor motion gives way
BRAKING = 0.9  # [-] share of the acceleration limit
_STILL = 1e-6  # [rad/s]
AT_START = 1e-5  # [rad] the arm may be from where the motion was prepared to begin


class Phase(Enum):
    """Where the primitive is."""

    IDLE = "not started"
    NOMINAL = "nominal segment"
    ENDING = "ending segment"
    STOPPING = "coming to rest"
    ENDED = "ended"


class Event(Enum):
    """What happens to it."""

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
    """What is reported every `period`, and at the end."""

    phase: Phase
    reason: Termination
    elapsed: float  # [s] since the start
    trans: float  # [m] offset by sensor motion
    angle: float  # [rad] rotation by sensor motion
    wrench_sense: FloatArray  # (6,) [N], [N m] of the tool on what it touches, SENSE
    averages: FloatArray  # (8,) of the ending conditions; NaN before there is one
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
        self._began = self._motion_began = self._ending_began = 0.0
        self._wrench_at = self._wrench_changed = -np.inf
        self._valid = True
        self._report_at = -np.inf
        self._hand = np.zeros((LAGS, 6))  # what the device moved and is not given out yet
        self._brake = (np.zeros(robot.dof), np.zeros(robot.dof), 0.0, 0.0)  # q, qd, time to rest, time so far

    @property
    def parameters(self) -> GcmsfParameters:
        """The set in force."""
        return self.fusion.parameters

    # from outside ----------------------------------------------------------------------------------------------

    def start(self, now: float, q: FloatArray, parameters: GcmsfParameters | None = None) -> None:
        """Prepare and begin with the arm at rest at `q` (dof,) [rad]; takes milliseconds.

        Raises InvalidValueError when the set does not fit the arm or the motion cannot be reached; TransitionError
        when one is running. Nothing is changed then.
        """
        _next(self.phase, Event.START)
        chosen = self.parameters if parameters is None else parameters
        self.begin(now, q, prepare_motion(self.robot, self.period, chosen, q))

    def begin(self, now: float, q: FloatArray, prepared: PreparedMotion) -> None:
        """Begin what `prepare_motion` made, the arm at rest at `q` (dof,) [rad]; fit for the loop.

        Raises TransitionError when one is running, InvalidValueError when the arm is not where it was prepared to
        begin. Nothing is changed then.
        """
        phase = _next(self.phase, Event.START)
        away = np.abs(q - prepared.q)
        if not away.max() <= AT_START:
            i = int(away.argmax())
            raise InvalidValueError(f"q[{i}]", float(q[i]), f"allowed: as prepared, {prepared.q[i]:.6f} [rad]")
        self.fusion.use(prepared.parameters, prepared.law)
        self.fusion.reset(prepared.q)
        self.setpoint.reset(prepared.q)
        self.fusion.inputs.joint[Q_NOMINAL] = self.fusion.inputs.joint[Q_MEASURED] = prepared.q
        self.fusion.touch_on()
        self._conditions = prepared.conditions
        self._motion = prepared.motion
        self._hand[:] = 0.0
        self._began = self._motion_began = self._report_at = self._wrench_changed = now
        self._wrench_at, self._valid = now, True  # the first wrench has SENSOR_TIMEOUT to come
        self.reason = Termination.RUNNING
        self.phase = phase

    def measure(self, q: FloatArray) -> None:
        """Measured joints (dof,) [rad]: they tell where gravity pulls."""
        if np.isfinite(q).all():
            self.fusion.inputs.joint[Q_MEASURED] = q
        else:
            self._valid = False

    def feel(self, at: float, wrench: FloatArray) -> None:
        """Wrench (6,) [N], [N m] of the tool on the environment, SENSOR frame, received at `at` [s]."""
        if not np.isfinite(wrench).all():
            self._valid = False
            return
        if not np.array_equal(wrench, self.fusion.inputs.six[WRENCH]):
            self._wrench_changed = at
        self.fusion.inputs.six[WRENCH] = wrench
        self._wrench_at = at

    def tare(self) -> None:
        """Take the wrench felt last as no contact, the load of `mass_prop` apart."""
        self.fusion.tare(self.fusion.inputs.joint[Q_MEASURED], self.fusion.inputs.six[WRENCH])

    def teleoperate(self, increment: FloatArray) -> None:
        """Motion of the operator's device since the last call (6,) [m], [rad], along the axes of `tele_mode`."""
        if np.isfinite(increment).all():
            self._hand[0] += increment

    def push(self, displacement: FloatArray) -> None:
        """A further module's displacement of NOM (6,) [m], [rad] for the next sample."""
        if np.isfinite(displacement).all():
            self.fusion.inputs.six[FURTHER] += displacement

    def stop(self, reason: Termination = Termination.EXTERNAL_STOP) -> None:
        """Come to rest at once, for a reason of the caller's."""
        self._terminate(reason)

    def change(self, now: float, values: Mapping[str, Any]) -> None:
        """Change parameters between two samples, without a step in the motion.

        Raises InvalidValueError, changing nothing, when the whole set would not do.
        """
        q = self.setpoint.q.copy()
        self.apply_change(now, prepare_change(self.robot, self.period, self.parameters, values, q, self.runs))

    def apply_change(self, now: float, prepared: PreparedChange) -> None:
        """Put a change made by `prepare_change` in force; fit for the loop.

        Raises InvalidValueError, changing nothing, when another set is in force by now.
        """
        if prepared.base is not self.parameters:
            raise InvalidValueError("change", sorted(prepared.values), "allowed: one made from the set in force")
        self.fusion.use(prepared.parameters, prepared.law)
        self._conditions = prepared.conditions
        self._conditions.begin(now)
        if prepared.new_way and self.runs:
            self._replan(now)

    @property
    def runs(self) -> bool:
        """True from the start until a reason to end is there."""
        return self.phase in (Phase.NOMINAL, Phase.ENDING)

    @property
    def measured_nom(self) -> pin.SE3:
        """NOM in WORLD where the joints were measured last."""
        return self.fusion.T_world_nom(self.fusion.inputs.joint[Q_MEASURED])

    # the step --------------------------------------------------------------------------------------------------

    def step(self, now: float) -> bool:
        """One sample; the setpoint of `now` into `setpoint`. False when at rest for good."""
        if self.phase in (Phase.IDLE, Phase.ENDED):
            return False
        if self.phase is Phase.STOPPING:
            return self._come_to_rest()
        arrived = self._place_nominal(now)
        give_out(self._hand, self.period, self.fusion.inputs.six[TELE])
        monitor = self.fusion.advance(now - self._began)
        if self.setpoint.apply(self.fusion.q):
            self._give_way()
        self._decide(now, Termination(self._watch_sensor(now) or monitor), arrived)
        return True

    def report_due(self, now: float) -> bool:
        """True once every `period` of the parameters."""
        if now < self._report_at:
            return False
        self._report_at = now + self.parameters.system.period
        return True

    def status(self, now: float) -> PrimitiveStatus:
        """The state in values of their own."""
        state = self.fusion.state
        return PrimitiveStatus(
            self.phase,
            self.reason,
            now - self._began,
            float(state.value[TRANS]),
            float(state.value[ANGLE]),
            state.six[SENSE_WRENCH].copy(),
            self._conditions.averages,
            self.setpoint.q.copy(),
            state.pose.copy(),
        )

    # helpers ---------------------------------------------------------------------------------------------------

    def _replan(self, now: float) -> None:
        """The nominal motion from where it is and as it moves; trDel stays."""
        if self._motion is not None:
            self._motion = self._motion.redirected(now - self._motion_began, self.parameters)
        self._motion_began = now
        self.phase = _next(self.phase, Event.REDIRECTED)

    def _place_nominal(self, now: float) -> bool:
        """The nominal motion of `now` into the law's inputs; True when it is complete."""
        inputs, motion = self.fusion.inputs, self._motion
        if motion is None:
            return True
        arrived = motion.sample(now - self._motion_began)
        if isinstance(motion, CartesianMotion):
            inputs.value[NOMINAL_KIND] = NOMINAL_CARTESIAN
            inputs.R[MOTION], inputs.p[MOTION] = motion.R, motion.p
        else:
            inputs.value[NOMINAL_KIND] = NOMINAL_JOINTS
            inputs.joint[Q_NOMINAL] = motion.q
        return arrived

    def _watch_sensor(self, now: float) -> int:
        if not self._valid:
            return Termination.INVALID_SENSOR
        if not self.parameters.feels:
            return 0
        if now - self._wrench_at > SENSOR_TIMEOUT:
            return Termination.STALE_SENSOR
        frozen = self.parameters.force.frozen_time
        if frozen and now - self._wrench_changed > frozen:
            return Termination.FROZEN_SENSOR
        return 0

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

    def _terminate(self, reason: Termination) -> None:
        if not self.runs:
            return
        self.phase = _next(self.phase, Event.TERMINATED)
        self.reason = reason
        q, qd = self.setpoint.q.copy(), self.setpoint.qd.copy()
        duration = float((np.abs(qd) / (BRAKING * self.robot.limits.acceleration)).max())
        self._brake = (q, qd, max(duration, self.period), 0.0)

    def _come_to_rest(self) -> bool:
        """Joints slow down together, on the straight line they were on."""
        q, qd, duration, t = self._brake
        t = min(t + self.period, duration)
        self._brake = (q, qd, duration, t)
        self.setpoint.apply(q + qd * (t - 0.5 * t * t / duration))
        if t >= duration and np.abs(self.setpoint.qd).max() <= _STILL:
            self.phase = _next(self.phase, Event.REST)
            return False
        return True

    def _give_way(self) -> None:
        """The joints are at their limits: what sensors ask beyond is forgotten, not saved up."""
        behind = np.abs(self.fusion.q - self.setpoint.q).max()
        if behind > SATURATED and self.fusion.state.source.any():
            self.fusion.absorb(self.setpoint.q)


def _next(phase: Phase, event: Event) -> Phase:
    try:
        return TRANSITIONS[phase, event]
    except KeyError:
        raise TransitionError("primitive", phase.name, event.name) from None
