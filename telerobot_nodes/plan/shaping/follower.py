"""Follows a moving target with bounded speed, acceleration and jerk.

Cascade of three proportional loops (position, velocity, acceleration) with saturations that keep directions. The
speed stays on a braking curve, so that the follower does not overshoot its target. The output is twice continuously
differentiable in position [m] and in orientation [rad].

Plain floats on purpose: a substep with tuples takes a third of the time of one with small arrays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from telerobot_nodes.core.values import in_range

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # x y z w

ZERO: Vector = (0.0, 0.0, 0.0)
BRAKE_SHARE = 0.5  # [-] share of the acceleration for the braking curve; the rest covers the lag of the loops

CRUISE_SHARE = 0.95  # [-] share of the speed limit; the rest covers the overshoot of the loops


@dataclass(frozen=True)
class FollowerLimits:
    """Limits of one follower (translation [m] or rotation [rad]); validated when made."""

    speed: float  # [m/s] or [rad/s]
    acceleration: float  # [m/s^2] or [rad/s^2]
    jerk: float  # [m/s^3] or [rad/s^3]
    gain: float = 10.0  # [1/s] of the position loop; a steady target is followed 1/gain seconds late

    def __post_init__(self) -> None:
        in_range(self.speed, "follower.speed", 1e-3, 20.0, "m/s or rad/s")
        in_range(self.acceleration, "follower.acceleration", 1e-2, 200.0, "m/s^2 or rad/s^2")
        in_range(self.jerk, "follower.jerk", 1e-1, 1e4, "m/s^3 or rad/s^3")
        in_range(self.gain, "follower.gain", 0.1, 30.0, "1/s")


@dataclass(frozen=True)
class Motion:
    """Velocity and acceleration of a follower."""

    velocity: Vector = ZERO
    acceleration: Vector = ZERO

    @property
    def at_rest(self) -> bool:
        """True when it does not move."""
        return norm(self.velocity) < 1e-5 and norm(self.acceleration) < 1e-3


def advance(motion: Motion, error: Vector, limits: FollowerLimits, step: float) -> Motion:
    """Motion after `step` [s] towards a target at `error` [m] or [rad]."""
    wanted = scale(error, _speed(norm(error), limits) / max(norm(error), 1e-12))
    return _track(motion, wanted, limits, step)


def brake(motion: Motion, limits: FollowerLimits, step: float) -> Motion:
    """Motion after `step` [s] on the way to rest."""
    return _track(motion, ZERO, limits, step)


def stopping_distance(motion: Motion, limits: FollowerLimits) -> float:
    """Upper bound of the distance [m] or [rad] in which `brake` comes to rest."""
    speed = norm(motion.velocity) + norm(motion.acceleration) ** 2 / (2.0 * limits.jerk)
    return speed * speed / (2.0 * limits.acceleration) + speed * (limits.acceleration / limits.jerk + 1.0 / limits.gain)


def _speed(distance: float, limits: FollowerLimits) -> float:
    """Greatest speed for a stop within `distance`, with limited jerk."""
    a = BRAKE_SHARE * limits.acceleration
    lag = a * a / (2.0 * limits.jerk)
    curve = math.sqrt(lag * lag + 2.0 * a * distance) - lag
    return min(limits.gain * distance, curve, CRUISE_SHARE * limits.speed)


def _track(motion: Motion, wanted: Vector, limits: FollowerLimits, step: float) -> Motion:
    """Inner loops: velocity towards `wanted`, acceleration limited in size and change."""
    inner = 4.0 * limits.gain
    goal = clip(scale(subtract(wanted, motion.velocity), inner), limits.acceleration)
    change = min(4.0 * inner * step, 1.0)
    jerk = clip(scale(subtract(goal, motion.acceleration), change / step), limits.jerk)
    acceleration = add(motion.acceleration, scale(jerk, step))
    velocity = clip(add(motion.velocity, scale(acceleration, step)), limits.speed)
    return Motion(velocity, acceleration)


def norm(v: Vector) -> float:
    """Length of v."""
    return math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


def add(a: Vector, b: Vector) -> Vector:
    """Sum a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def subtract(a: Vector, b: Vector) -> Vector:
    """Difference a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scale(v: Vector, factor: float) -> Vector:
    """Vector v times factor."""
    return (v[0] * factor, v[1] * factor, v[2] * factor)


def clip(v: Vector, limit: float) -> Vector:
    """Vector v shortened to length `limit` when longer; the direction stays."""
    length = norm(v)
    return v if length <= limit else scale(v, limit / length)


def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """Product a b, normalised: rotation b, then a, in the fixed frame."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    x = aw * bx + ax * bw + ay * bz - az * by
    y = aw * by - ax * bz + ay * bw + az * bx
    z = aw * bz + ax * by - ay * bx + az * bw
    w = aw * bw - ax * bx - ay * by - az * bz
    n = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    return (x * n, y * n, z * n, w * n)


def inverse(q: Quaternion) -> Quaternion:
    """Opposite rotation."""
    return (-q[0], -q[1], -q[2], q[3])


def exponential(v: Vector) -> Quaternion:
    """Rotation by the vector v [rad]."""
    angle = norm(v)
    half = 0.5 * angle
    s = 0.5 - half * half / 12.0 if angle < 1e-6 else math.sin(half) / angle
    return (v[0] * s, v[1] * s, v[2] * s, math.cos(half))


def logarithm(q: Quaternion) -> Vector:
    """Rotation vector of q [rad], of the shorter rotation."""
    sign = -1.0 if q[3] < 0.0 else 1.0
    v = (q[0] * sign, q[1] * sign, q[2] * sign)
    s = norm(v)
    if s < 1e-9:
        return scale(v, 2.0)
    return scale(v, 2.0 * math.atan2(s, q[3] * sign) / s)


def turn(a: Quaternion, b: Quaternion) -> Vector:
    """Rotation vector in the fixed frame that takes a to b [rad]."""
    return logarithm(multiply(b, inverse(a)))
