"""Joint limits as a value, and a limiter that keeps setpoints inside them at every sample."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields

import numba
import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.values import FloatArray, finite, finite_array
from telerobot_nodes.errors import InvalidValueError

JERK_RATIO = 150.0  # [1/s] jerk limit per acceleration limit where none is given
_SLACK = 1e-6  # [-] relative; differences of rounded positions exceed an exact limit by up to this


@dataclass(frozen=True)
class JointLimits:
    """Limits of an arm's joints, (dof,) each; finite, `lower < upper`, the others positive. Read-only.

    Raises InvalidValueError naming field and joint.
    """

    lower: FloatArray  # [rad]
    upper: FloatArray  # [rad]
    velocity: FloatArray  # [rad/s]
    acceleration: FloatArray  # [rad/s^2]
    effort: FloatArray  # [N m]
    jerk: FloatArray = field(default_factory=lambda: np.empty(0))  # [rad/s^3]; empty: JERK_RATIO times acceleration

    def __post_init__(self) -> None:
        dof = np.size(self.lower)
        if not np.size(self.jerk):
            object.__setattr__(self, "jerk", JERK_RATIO * np.asarray(self.acceleration, dtype=np.float64))
        for entry in fields(self):
            array = finite_array(getattr(self, entry.name), f"limits.{entry.name}", dof)
            array.setflags(write=False)
            object.__setattr__(self, entry.name, array)
        for i in range(dof):
            if not self.lower[i] < self.upper[i]:
                raise InvalidValueError(f"limits.upper[{i}]", float(self.upper[i]), f"allowed: above {self.lower[i]:g}")
        for name in ("velocity", "acceleration", "effort", "jerk"):
            bad = np.flatnonzero(getattr(self, name) <= 0.0)
            if bad.size:
                raise InvalidValueError(
                    f"limits.{name}[{bad[0]}]", float(getattr(self, name)[bad[0]]), "allowed: above 0"
                )

    @property
    def dof(self) -> int:
        """Number of joints."""
        return int(self.lower.size)

    def check_position(self, q: object, field: str = "position") -> FloatArray:
        """`q` (dof,) [rad] as an array. Raises InvalidValueError naming the joint outside its limits."""
        values = finite_array(q, field, self.dof)
        bad = np.flatnonzero((values < self.lower) | (values > self.upper))
        if bad.size:
            i = bad[0]
            raise InvalidValueError(
                f"{field}[{i}]", float(values[i]), f"allowed: {self.lower[i]:g} .. {self.upper[i]:g} [rad]"
            )
        return values

    def check_velocity(self, qd: object, field: str = "velocity") -> FloatArray:
        """`qd` (dof,) [rad/s] as an array. Raises InvalidValueError naming the joint that is too fast."""
        values = finite_array(qd, field, self.dof)
        bad = np.flatnonzero(np.abs(values) > self.velocity * (1.0 + _SLACK))
        if bad.size:
            i = bad[0]
            raise InvalidValueError(f"{field}[{i}]", float(values[i]), f"allowed: +-{self.velocity[i]:g} [rad/s]")
        return values


@numba.njit(cache=True)
def _all_finite(values: FloatArray) -> bool:
    for value in values:  # noqa: SIM110 - a generator does not compile
        if not math.isfinite(value):
            return False
    return True


@numba.njit(cache=True)
def brake_velocity(room: float, acceleration: float, period: float) -> float:
    """Largest velocity of the next sample from which the joint can come to rest within `room`.

    Velocities fall by `acceleration * period` per sample; the travel of n more samples is summed exactly.
    """
    if room <= 0.0:
        return 0.0
    unit = acceleration * period  # velocity lost per sample
    r = room / (unit * period)
    n = max(math.ceil(0.5 * (math.sqrt(1.0 + 8.0 * r) - 3.0)), 0.0)
    return unit * (r + 0.5 * n * (n + 1.0)) / (n + 1.0)


@numba.njit(cache=True)
def _next_velocity(
    q: float, v: float, target: float, target_velocity: float, low: float, high: float, rate: float, a: float, h: float
) -> float:
    """Velocity that approaches a (moving) target as fast as the limits allow without overshoot."""
    gap = target - q
    # relative to the moving target; the target's own motion of this sample is already inside the gap
    closing = brake_velocity(abs(gap - target_velocity * h), a, h)
    wanted = target_velocity + math.copysign(closing, gap - target_velocity * h)
    ceiling = min(rate, brake_velocity(high - q, a, h))
    floor = -min(rate, brake_velocity(q - low, a, h))
    wanted = min(max(wanted, floor), ceiling)
    return min(max(wanted, v - a * h), v + a * h)  # braking is always possible inside ceiling and floor


@numba.njit(cache=True)
def limit_setpoint(
    target: FloatArray,
    last_target: FloatArray,
    passing: npt.NDArray[np.bool_],
    q: FloatArray,
    v: FloatArray,
    a: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    velocity: FloatArray,
    acceleration: FloatArray,
    h: float,
) -> bool:
    """Compiled `SetpointLimiter.apply`: one sample; `q`, `v`, `a`, `last_target`, `passing` change in place."""
    saturated = False
    for i in range(q.size):
        wanted = (target[i] - q[i]) / h
        rate = velocity[i]
        most = acceleration[i]
        ceiling = min(rate, brake_velocity(upper[i] - q[i], most, h))
        floor = -min(rate, brake_velocity(q[i] - lower[i], most, h))
        slack = _SLACK * most * h
        moving = (target[i] - last_target[i]) / h
        if abs(moving) > rate + slack:
            moving = 0.0  # a jump of the target
        rejoins = passing[i] or abs(wanted - moving) <= most * h  # else it would shoot over a target it just met
        passes = (
            rejoins
            and floor - slack <= wanted <= ceiling + slack
            and abs(wanted - v[i]) <= most * h + slack
            and lower[i] <= target[i] <= upper[i]
        )
        if passes:
            a[i] = (wanted - v[i]) / h
            v[i] = wanted
            q[i] = target[i]
        else:
            saturated = True
            chosen = _next_velocity(q[i], v[i], target[i], moving, lower[i], upper[i], rate, most, h)
            a[i] = (chosen - v[i]) / h
            v[i] = chosen
            q[i] = min(max(q[i] + chosen * h, lower[i]), upper[i])
        last_target[i] = target[i]
        passing[i] = passes
    return saturated


class SetpointLimiter:
    """Passes setpoints unchanged while they keep the limits; otherwise outputs the nearest that do.

    Position, velocity and acceleration (differences per `period` [s]) hold at every sample, and the arm can
    always stop before a position limit. The arrays `q`, `qd`, `qdd` (dof,) are the last output.
    """

    def __init__(self, limits: JointLimits, period: float) -> None:
        if not finite(period, "period") > 0.0:
            raise InvalidValueError("period", period, "allowed: above 0 [s]")
        self.limits = limits
        self.period = float(period)
        self.q = np.zeros(limits.dof)
        self.qd = np.zeros(limits.dof)
        self.qdd = np.zeros(limits.dof)
        self._target = np.zeros(limits.dof)
        self._last_target = np.zeros(limits.dof)
        self._passing = np.ones(limits.dof, dtype=np.bool_)
        self.reset(np.clip(self.q, limits.lower, limits.upper))

    def reset(self, q: object, qd: object = None) -> None:
        """Start again at `q` [rad], moving with `qd` [rad/s] (default: at rest). Raises InvalidValueError."""
        position = self.limits.check_position(q, "q")
        velocity = np.zeros(self.limits.dof) if qd is None else self.limits.check_velocity(qd, "qd")
        self.q[:] = position
        self._last_target[:] = position
        self.qd[:] = velocity
        self.qdd[:] = 0.0
        self._passing[:] = True

    def apply(self, q_wanted: FloatArray) -> bool:
        """Advance one period towards `q_wanted` (dof,) [rad]; True when a limit changed it.

        Raises InvalidValueError, changing nothing, when a value is not finite or the length is wrong.
        """
        target, limits = self._target, self.limits
        if np.shape(q_wanted) != target.shape:
            finite_array(q_wanted, "q_wanted", limits.dof)
        target[:] = q_wanted
        if not _all_finite(target):
            finite_array(target, "q_wanted", limits.dof)
        return bool(
            limit_setpoint(
                target,
                self._last_target,
                self._passing,
                self.q,
                self.qd,
                self.qdd,
                limits.lower,
                limits.upper,
                limits.velocity,
                limits.acceleration,
                self.period,
            )
        )
