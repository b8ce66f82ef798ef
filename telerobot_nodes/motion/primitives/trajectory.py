"""The nominal motion [GCMSF]: NOM from where it is to its destination, in Cartesian or joint space.

trDrive goes from (trTnInit trNom)^-1 trTnDest trNom to the identity. Its inverse, NOM seen from its destination, is
interpolated: the offset on a straight line, the rotation about a constant axis. The origin of NOM thus moves on a
straight line, and on an arc when the motion is a rotation about an axis of NOM.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pinocchio as pin
from numba import njit

from telerobot_nodes.core.interpolation import quintic_into
from telerobot_nodes.core.timing import TimedPath
from telerobot_nodes.core.transforms import compose, rotation_into
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.parameters import GcmsfParameters, Trajectory

SMOOTH = 1.5  # [-] peak over mean acceleration of a ramp
SHORTEST_FADE = 2e-3  # [s]


@dataclass(frozen=True)
class Profile:
    """Progress from 0 to 1 in `duration` [s], with ramps of `ramp` [s] at both ends; acceleration is continuous."""

    duration: float
    ramp: float

    def at(self, t: float) -> float:
        """Progress at `t` [s] since the start."""
        return float(progress(t, self.duration, self.ramp))

    def stretched(self, factor: float) -> Profile:
        """The same profile, `factor` times as long."""
        return Profile(self.duration * factor, self.ramp * factor)


@njit(cache=True)
def progress(t: float, duration: float, ramp: float) -> float:
    """Progress 0 .. 1: the speed rises as 3 u^2 - 2 u^3 during `ramp`, stays constant and falls likewise."""
    if t <= 0.0:
        return 0.0
    if t >= duration:
        return 1.0
    speed = 1.0 / (duration - ramp)
    near = min(t, duration - t)  # time to the nearer end
    if near >= ramp:
        done = speed * (near - 0.5 * ramp)
    else:
        u = near / ramp
        done = speed * ramp * (u * u * u - 0.5 * u * u * u * u)
    return done if near == t else 1.0 - done


def profile_for(trajectory: Trajectory, distance: float, angle: float) -> Profile:
    """The profile of a motion over `distance` [m] and `angle` [rad].

    If `time_vel_sel` is velocity, offset and rotation both keep `time_vel_val` [m/s], [rad/s]. An acceleration limit
    makes the ramps, and thus the motion, longer.
    """
    size = max(distance, angle)
    if size < 1e-12:
        return Profile(0.0, 0.0)
    ramp = trajectory.acc_time
    if trajectory.time_vel_sel == "time":
        duration = trajectory.time_vel_val
    else:
        # two ramps at least, even if they do not reach the speed
        duration = max(size / trajectory.time_vel_val + ramp, 2.0 * ramp)
    most = trajectory.max_acceleration
    if most > 0.0:
        duration, ramp = _limit_acceleration(duration, ramp, size, most)
    return Profile(duration, min(ramp, 0.5 * duration))


def _limit_acceleration(duration: float, ramp: float, size: float, most: float) -> tuple[float, float]:
    """Duration and ramp [s] with which a motion of `size` keeps the acceleration limit `most`."""
    if SMOOTH * size / ((duration - ramp) * ramp) <= most:
        return duration, ramp
    cruise = duration - ramp
    needed = SMOOTH * size / (cruise * most)  # ramp for the same speed
    if needed <= cruise:
        return cruise + needed, needed
    equal = float(np.sqrt(SMOOTH * size / most))  # ramps only
    return 2.0 * equal, equal


class CartesianMotion:
    """Nominal motion of NOM to `T_world_dest`, in WORLD; may begin while NOM moves.

    Coordinates (6,): NOM seen from its destination, offset [m] and rotation vector [rad].
    """

    def __init__(
        self,
        T_world_nom: pin.SE3,
        T_world_dest: pin.SE3,
        trajectory: Trajectory,
        twist_world: FloatArray | None = None,
        goes_on: bool = False,
    ) -> None:
        """`twist_world` (6,): velocity of NOM's origin [m/s] and of its rotation [rad/s] now, WORLD axes.

        `goes_on`: it is on its way to this destination already, and shall not pass it.
        """
        self.destination_R = np.ascontiguousarray(T_world_dest.rotation)
        self.destination_p = np.array(T_world_dest.translation)
        start = coordinates(T_world_dest, T_world_nom)
        self._start = start
        self._fade = np.zeros((3, 6))  # rest of the motion before: position, velocity, acceleration
        self._fade_time = trajectory.acc_time
        if twist_world is not None and np.abs(twist_world).max() > 1e-9:
            rate = coordinate_rate(T_world_dest, start, twist_world)
            if goes_on:
                self._fade_time = _braking_time(start, rate, self._fade_time)
            self._fade[0] = -0.5 * self._fade_time * rate
            self._fade[1] = rate
            self._start = start - self._fade[0]
        offset, rotation = np.linalg.norm(self._start[:3]), np.linalg.norm(self._start[3:])
        self.profile = profile_for(trajectory, float(offset), float(rotation))
        still = np.abs(self._fade).max() == 0.0
        self.duration = self.profile.duration if still else max(self.profile.duration, self._fade_time)
        self.R, self.p = np.eye(3), np.zeros(3)
        self.sample(0.0)

    def sample(self, t: float) -> bool:
        """NOM in WORLD at `t` [s] since the start into `R`, `p`; True when it has arrived."""
        _sample(
            t,
            self.profile.duration,
            self.profile.ramp,
            self._start,
            self._fade,
            self._fade_time,
            self.destination_R,
            self.destination_p,
            self.R,
            self.p,
        )
        return t >= self.duration

    def stretch(self, factor: float) -> None:
        """Take `factor` (1 or more) times as long."""
        self.profile = self.profile.stretched(factor)
        self.duration *= factor

    def twist(self, t: float) -> FloatArray:
        """Velocity of NOM at `t` (6,): of its origin [m/s] and of its rotation [rad/s], WORLD axes."""
        h = 1e-5
        self.sample(t + h)
        R, p = self.R.copy(), self.p.copy()
        self.sample(t - h)
        linear = (p - self.p) / (2.0 * h)
        angular = pin.log3(R @ self.R.T) / (2.0 * h)
        self.sample(t)
        return np.concatenate((linear, angular))

    def redirected(self, t: float, parameters: GcmsfParameters) -> CartesianMotion:
        """The motion to the destination of `parameters` that continues place and velocity at `t` [s]."""
        twist = self.twist(t)
        T = pin.SE3(self.R.copy(), self.p.copy())
        destination = nominal_destination(parameters, T)
        kept = pin.SE3(self.destination_R, self.destination_p)
        return CartesianMotion(T, destination, parameters.trajectory, twist, destination.isApprox(kept, 1e-6))


def nominal_destination(parameters: GcmsfParameters, T_world_nom: pin.SE3) -> pin.SE3:
    """NOM in WORLD at the end, trTnDest trNom; its present place if no destination is given."""
    trajectory = parameters.trajectory
    return trajectory.se3("tr_tn_dest") * trajectory.se3("tr_nom") if trajectory.tr_tn_dest else T_world_nom


def _braking_time(offset: FloatArray, rate: FloatArray, longest: float) -> float:
    """Time [s] to come to rest from `rate` (n,) no later than where `offset` (n,) is zero; at most `longest`.

    A motion that goes on to its destination brakes there as hard as it would have without the change.
    """
    left = -float(offset @ rate) / float(rate @ rate)  # [s] to the destination at this rate
    return min(max(2.0 * left, SHORTEST_FADE), longest) if left > 0.0 else longest


def coordinates(T_world_dest: pin.SE3, T_world_nom: pin.SE3) -> FloatArray:
    """NOM seen from its destination (6,): offset [m], rotation vector [rad]."""
    T = T_world_dest.actInv(T_world_nom)
    return np.concatenate((T.translation, pin.log3(T.rotation)))


def coordinate_rate(T_world_dest: pin.SE3, c: FloatArray, twist_world: FloatArray) -> FloatArray:
    """Rate of the coordinates `c` (6,) of a NOM that moves with `twist_world` (6,)."""
    h = 1e-6
    R_back = T_world_dest.rotation.T
    ahead = pin.exp3(h * (R_back @ twist_world[3:])) @ pin.exp3(c[3:])
    behind = pin.exp3(-h * (R_back @ twist_world[3:])) @ pin.exp3(c[3:])
    return np.concatenate((R_back @ twist_world[:3], (pin.log3(ahead) - pin.log3(behind)) / (2.0 * h)))


@njit(cache=True)
def _sample(
    t: float,
    duration: float,
    ramp: float,
    start: FloatArray,
    fade: FloatArray,
    fade_time: float,
    Rd: FloatArray,
    pd: FloatArray,
    R: FloatArray,
    p: FloatArray,
) -> None:
    c = np.empty(6)
    left = 1.0 - progress(t, duration, ramp)
    for i in range(6):
        c[i] = left * start[i]
    if t < fade_time:
        zero, q, v, a = np.zeros(6), np.empty(6), np.empty(6), np.empty(6)
        quintic_into(fade[0], fade[1], fade[2], zero, zero, zero, fade_time, t, q, v, a)
        for i in range(6):
            c[i] += q[i]
    S = np.empty((3, 3))
    rotation_into(c[3:], S)
    compose(Rd, pd, S, c[:3], R, p)


class JointMotion:
    """Nominal motion of the joints (dof,) [rad] to a destination, all arriving together; may begin while they move."""

    def __init__(
        self,
        q_from: FloatArray,
        q_to: FloatArray,
        trajectory: Trajectory,
        velocity: FloatArray | None = None,
        goes_on: bool = False,
    ) -> None:
        """`velocity` (dof,) [rad/s] now; default: at rest. `goes_on`: as for `CartesianMotion`."""
        dof = np.size(q_from)
        self._to = np.array(q_to, dtype=np.float64)
        self._fade = np.zeros((3, dof))
        self._fade_time = trajectory.acc_time
        if velocity is not None and np.abs(velocity).max() > 1e-9:
            if goes_on:
                self._fade_time = _braking_time(np.asarray(q_from) - self._to, velocity, self._fade_time)
            self._fade[0] = -0.5 * self._fade_time * velocity
            self._fade[1] = velocity
        self._way = np.asarray(q_from) - self._to - self._fade[0]
        self.profile = profile_for(trajectory, 0.0, float(np.abs(self._way).max()))
        still = np.abs(self._fade).max() == 0.0
        self.duration = self.profile.duration if still else max(self.profile.duration, self._fade_time)
        self.q, self._rest = np.array(q_from, dtype=np.float64), np.zeros((3, dof))
        self._zero = np.zeros(dof)

    def sample(self, t: float) -> bool:
        """Joints at `t` [s] since the start into `q`; True when they have arrived."""
        left = 1.0 - progress(t, self.profile.duration, self.profile.ramp)
        np.multiply(self._way, left, out=self.q)
        self.q += self._to
        if t < self._fade_time:
            zero, rest = self._zero, self._rest
            fade = self._fade
            quintic_into(fade[0], fade[1], fade[2], zero, zero, zero, self._fade_time, t, rest[0], rest[1], rest[2])
            self.q += rest[0]
        return t >= self.duration

    def stretch(self, factor: float) -> None:
        """Take `factor` (1 or more) times as long."""
        self.profile = self.profile.stretched(factor)
        self.duration *= factor

    def at(self, t: float) -> FloatArray:
        """Joints at `t` [s] since the start (dof,) [rad]."""
        self.sample(t)
        return self.q.copy()

    def velocity(self, t: float) -> FloatArray:
        """Velocity of the joints at `t` (dof,) [rad/s]."""
        h = 1e-5
        self.sample(t + h)
        ahead = self.q.copy()
        self.sample(t - h)
        rate: FloatArray = (ahead - self.q) / (2.0 * h)
        self.sample(t)
        return rate

    def redirected(self, t: float, parameters: GcmsfParameters) -> JointMotion:
        """The motion to the destination of `parameters` that continues place and velocity at `t` [s]."""
        moving, destination = self.velocity(t), np.array(parameters.trajectory.joint_dest)
        goes_on = bool(np.abs(destination - self._to).max() < 1e-6)
        return JointMotion(self.q, destination, parameters.trajectory, moving, goes_on)


class PathMotion:
    """Nominal motion of the joints (dof,) [rad] along a timed path."""

    def __init__(self, path: TimedPath) -> None:
        self.path = path
        self.duration = path.duration
        self.q = path.path[0].copy()

    def sample(self, t: float) -> bool:
        """Joints at `t` [s] since the start into `q`; True when they have arrived."""
        self.q[:] = self.path.at(t)[0]
        return t >= self.duration

    def redirected(self, t: float, parameters: GcmsfParameters) -> PathMotion:
        """Raise InvalidValueError: a path cannot be redirected."""
        raise InvalidValueError("joint_dest", parameters.trajectory.joint_dest, "allowed: none, on a path")


NominalMotion: TypeAlias = "CartesianMotion | JointMotion | PathMotion"
