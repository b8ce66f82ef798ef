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

from telerobot_nodes.core.kinematics import Kinematics
from telerobot_nodes.core.limits import SetpointLimiter
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.errors import InvalidValueError, OutOfReachError, TransitionError
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
from telerobot_nodes.motion.parameters import GcmsfParameters, Trajectory
from telerobot_nodes.motion.trajectory import CartesianMotion, JointMotion

SENSOR_TIMEOUT = 0.1  # [s] an older wrench stops what needs it
SATURATED = 0.02  # [rad] setpoint behind what is wanted: sensor motion gives way
BRAKING = 0.9  # [-] share of the acceleration limit
FIXED = ("tr_base", "tr_nom")  # cannot be changed while running: NOM would jump
_STILL = 1e-6  # [rad/s]
_PATH_POSES = 12  # looked at for reach before the motion begins


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
        self._cartesian: CartesianMotion | None = None
        self._joints: JointMotion | None = None
        self._began = self._motion_began = self._ending_began = 0.0
        self._wrench_at = self._wrench_changed = -np.inf
        self._valid = True
        self._report_at = -np.inf
        self._brake = (np.zeros(robot.dof), np.zeros(robot.dof), 0.0, 0.0)  # q, qd, time to rest, time so far

    @property
    def parameters(self) -> GcmsfParameters:
        """The set in force."""
        return self.fusion.parameters

    # from outside ----------------------------------------------------------------------------------------------

    def start(self, now: float, q: FloatArray, parameters: GcmsfParameters | None = None) -> None:
        """Begin with the arm at rest at `q` (dof,) [rad].

        Raises InvalidValueError when the set does not fit the arm or the motion cannot be reached; TransitionError
        when one is running. Nothing is changed then. Takes milliseconds: call it outside the loop.
        """
        _next(self.phase, Event.START)
        chosen = self.parameters if parameters is None else parameters
        chosen.check_robot(self.robot.dof)
        self.robot.limits.check_position(q, "q")
        check_reach(self.robot, chosen, q)
        self.fusion.apply(chosen)
        self.fusion.reset(q)
        self.setpoint.reset(q)
        self.fusion.inputs.joint[Q_NOMINAL] = self.fusion.inputs.joint[Q_MEASURED] = q
        self._conditions = EndingConditions(chosen)
        self._plan(now, q)
        self._began = self._report_at = self._wrench_changed = now
        self._wrench_at, self._valid = now, True  # the first wrench has SENSOR_TIMEOUT to come
        self.reason = Termination.RUNNING
        self.phase = _next(self.phase, Event.START)

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
            self.fusion.inputs.six[TELE] += increment

    def push(self, displacement: FloatArray) -> None:
        """A further module's displacement of NOM (6,) [m], [rad] for the next sample."""
        if np.isfinite(displacement).all():
            self.fusion.inputs.six[FURTHER] += displacement

    def stop(self) -> None:
        """External stop."""
        self._terminate(Termination.EXTERNAL_STOP)

    def change(self, now: float, values: Mapping[str, Any]) -> None:
        """Change parameters between two samples, without a step in the motion.

        Raises InvalidValueError, changing nothing, when the whole set would not do.
        """
        parameters = self.parameters.changed(values)
        for name in FIXED:
            if self.phase in (Phase.NOMINAL, Phase.ENDING) and parameters.flat()[name] != self.parameters.flat()[name]:
                raise InvalidValueError(name, values[name], "allowed: no change while the primitive runs")
        parameters.check_robot(self.robot.dof)
        before, after = self.parameters.trajectory, parameters.trajectory
        new_way = before != after and self.phase in (Phase.NOMINAL, Phase.ENDING)
        if new_way:
            self._check_space(after)
            check_reach(self.robot, parameters, self.setpoint.q)
        self.fusion.apply(parameters)
        self._conditions = EndingConditions(parameters)
        self._conditions.begin(now)
        if new_way:
            self._replan(now)

    # the step --------------------------------------------------------------------------------------------------

    def step(self, now: float) -> bool:
        """One sample; the setpoint of `now` into `setpoint`. False when at rest for good."""
        if self.phase in (Phase.IDLE, Phase.ENDED):
            return False
        if self.phase is Phase.STOPPING:
            return self._come_to_rest()
        arrived = self._place_nominal(now)
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

    def _plan(self, now: float, q: FloatArray) -> None:
        """The nominal motion from rest at `q` [rad]."""
        trajectory = self.parameters.trajectory
        self._motion_began = now
        self._cartesian = self._joints = None
        if trajectory.joint_dest:
            self._joints = JointMotion(q, np.array(trajectory.joint_dest), trajectory)
            return
        T_world_nom = self.fusion.T_world_nom(q)
        T_dest = _destination(self.parameters) if trajectory.tr_tn_dest else T_world_nom
        self._cartesian = CartesianMotion(T_world_nom, T_dest, trajectory)

    def _replan(self, now: float) -> None:
        """The nominal motion from where it is and as it moves; trDel stays."""
        trajectory = self.parameters.trajectory
        t = now - self._motion_began
        if self._joints is not None:
            moving = self._joints.velocity(t)
            self._joints = JointMotion(self._joints.q, np.array(trajectory.joint_dest), trajectory, moving)
        elif self._cartesian is not None and trajectory.tr_tn_dest:
            twist = self._cartesian.twist(t)
            T = pin.SE3(self._cartesian.R.copy(), self._cartesian.p.copy())
            self._cartesian = CartesianMotion(T, _destination(self.parameters), trajectory, twist)
        self._motion_began = now
        self.phase = _next(self.phase, Event.REDIRECTED)

    def _check_space(self, trajectory: Trajectory) -> None:
        """A running motion stays in its space, and keeps a destination."""
        name, other = ("joint_dest", "tr_tn_dest") if self._joints is not None else ("tr_tn_dest", "joint_dest")
        if getattr(trajectory, other):
            raise InvalidValueError(other, getattr(trajectory, other), "allowed: none, while the other space is used")
        if self._joints is not None and not trajectory.joint_dest:
            raise InvalidValueError(name, (), "allowed: a destination, while the primitive runs")

    def _place_nominal(self, now: float) -> bool:
        """The nominal motion of `now` into the law's inputs; True when it is complete."""
        inputs, t = self.fusion.inputs, now - self._motion_began
        if self._joints is not None:
            arrived = self._joints.sample(t)
            inputs.value[NOMINAL_KIND] = NOMINAL_JOINTS
            inputs.joint[Q_NOMINAL] = self._joints.q
            return arrived
        if self._cartesian is None:
            return True
        arrived = self._cartesian.sample(t)
        inputs.value[NOMINAL_KIND] = NOMINAL_CARTESIAN
        inputs.R[MOTION], inputs.p[MOTION] = self._cartesian.R, self._cartesian.p
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
        if self.phase not in (Phase.NOMINAL, Phase.ENDING):
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


def _destination(parameters: GcmsfParameters) -> pin.SE3:
    """NOM in WORLD at the end: trTnDest trNom."""
    return parameters.trajectory.se3("tr_tn_dest") * parameters.trajectory.se3("tr_nom")


def check_reach(robot: RobotModel, parameters: GcmsfParameters, q: FloatArray) -> None:
    """Refuse a nominal motion from `q` (dof,) [rad] that the arm cannot follow. Raises InvalidValueError."""
    trajectory = parameters.trajectory
    if trajectory.joint_dest:
        robot.limits.check_position(trajectory.joint_dest, "joint_dest")
    if not trajectory.tr_tn_dest:
        return
    T_world_base, T_nom = parameters.system.se3("tr_base"), trajectory.se3("tr_nom")
    T_world_nom = T_world_base * robot.forward(q) * T_nom
    motion = CartesianMotion(T_world_nom, _destination(parameters), trajectory)
    back = T_nom.inverse()
    poses = np.empty((_PATH_POSES, 7))
    for k in range(_PATH_POSES):
        motion.sample(motion.duration * (k + 1) / _PATH_POSES)
        poses[k] = pin.SE3ToXYZQUAT(T_world_base.actInv(pin.SE3(motion.R, motion.p) * back))
    try:
        Kinematics(robot).solve_path(poses, q, max_jump=1.5)
    except OutOfReachError as error:
        raise InvalidValueError("tr_tn_dest", trajectory.tr_tn_dest, f"allowed: reachable poses ({error})") from None
