"""From setpoints at a few hundred hertz to the servo's smooth reference at 1 kHz, without lag.

The latest setpoint is extrapolated with its velocity and acceleration. The reference approaches it with two equal poles
and that motion as feedforward, so late or jittering setpoints cause no steps. Every sample passes the limiter, so the
limits hold for any setpoint.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.robot import JointLimits, SetpointLimiter
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.hardware.setpoint import Setpoint

BANDWIDTH = 120.0  # [rad/s] of the two poles
ACCELERATING = 0.015  # [s] a setpoint's acceleration is extrapolated this long, then its velocity
LATEST = 0.05  # [s] a sample made late is extrapolated back from a setpoint by at most this
AT_REST = 1e-9  # [rad/s]


@numba.njit(cache=True)
def _approach(
    age: float,
    goal: FloatArray,
    goal_v: FloatArray,
    goal_a: FloatArray,
    q: FloatArray,
    v: FloatArray,
    most: FloatArray,
    h: float,
    far: npt.NDArray[np.bool_],
    wanted: FloatArray,
    a: FloatArray,
) -> bool:
    """Compute the sample after `q`, `v` on the way to a setpoint `age` [s] old: `wanted`, `v`, `a`.

    Returns whether a joint is `far`: the poles would exceed its acceleration limit. Such a joint is left to the
    limiter, which arrives without overshoot.
    """
    young = min(max(age, -ACCELERATING), ACCELERATING)
    late = age - young
    any_far = False
    for i in range(q.size):
        vt = goal_v[i] + young * goal_a[i]
        qt = goal[i] + young * (goal_v[i] + 0.5 * young * goal_a[i]) + late * vt
        at = goal_a[i] if late == 0.0 else 0.0
        if far[i] and q[i] == wanted[i] and abs(v[i] - vt) <= 0.2 * h * most[i]:
            far[i] = False  # arrived, and moving as the setpoint does
        a[i] = at + 2.0 * BANDWIDTH * (vt - v[i]) + BANDWIDTH * BANDWIDTH * (qt - q[i])
        wanted[i] = q[i] + h * (v[i] + 0.5 * h * a[i])
        v[i] += h * a[i]
        if abs(a[i]) > most[i]:
            far[i] = True
        if far[i]:
            wanted[i] = qt + h * vt
            any_far = True
    return any_far


class Reference:
    """The servo's reference; `q`, `qd`, `qdd` (dof,) are its present sample."""

    def __init__(self, limits: JointLimits, period: float, q: FloatArray) -> None:
        dof = limits.dof
        self.period = period
        self._limits = limits
        self._limiter = SetpointLimiter(limits, period)
        self._setpoint: Setpoint | None = None
        self._wanted = np.zeros(dof)
        self._far = np.zeros(dof, dtype=np.bool_)
        self._braking = np.zeros(dof)
        self.q = self._limiter.q  # [rad]
        self.qd = np.zeros(dof)  # [rad/s]
        self.qdd = np.zeros(dof)  # [rad/s^2]
        self._load()
        self.hold(q)

    @property
    def at_rest(self) -> bool:
        """True when the present sample is at rest."""
        return bool(np.abs(self.qd).max() <= AT_REST)

    def _load(self) -> None:
        """Have what is compiled loaded before the first setpoint, which cannot wait for it."""
        still = np.zeros(self.q.size)
        most = self._limits.acceleration
        _approach(0.0, still, still, still, self.q, self.qd, most, self.period, self._far, self._wanted, self.qdd)

    def hold(self, q: FloatArray) -> None:
        """Start again at rest at `q` [rad]."""
        self._limiter.reset(np.clip(q, self._limits.lower, self._limits.upper))
        self._setpoint = None
        self._far[:] = False
        for array in (self._braking, self.qd, self.qdd):
            array[:] = 0.0

    def follow(self, setpoint: Setpoint) -> None:
        """Follow a checked setpoint from the next sample on."""
        self._setpoint = setpoint

    def brake(self) -> None:
        """Come to rest along the present joint direction, in the shortest time the accelerations allow."""
        if self._setpoint is None:
            return
        self._setpoint = None
        self._far[:] = False
        longest = float(np.max(np.abs(self._limiter.qd) / self._limits.acceleration))
        self._braking[:] = self._limiter.qd / longest if longest > 0.0 else 0.0

    def advance(self, now: float) -> bool:
        """Move on to the sample for `now` [s]; True when a limit changed it."""
        if self._setpoint is None:
            return self._slow_down()
        sp, h = self._setpoint, self.period
        age = max(now - h - sp.monotonic, -LATEST)  # at the present sample; before it when samples are late
        most, far = self._limits.acceleration, self._far
        any_far = _approach(
            age, sp.position, sp.velocity, sp.acceleration, self.q, self.qd, most, h, far, self._wanted, self.qdd
        )
        saturated = self._limiter.apply(self._wanted)
        if saturated or any_far:
            self._take_differences()
        return saturated

    def _slow_down(self) -> bool:
        change = self._braking * self.period
        v = self._limiter.qd
        self._wanted[:] = self.q + self.period * np.where(np.abs(v) > np.abs(change), v - change, 0.0)
        saturated = self._limiter.apply(self._wanted)
        self._take_differences()
        return saturated

    def _take_differences(self) -> None:
        """Take velocity and acceleration from the limiter, when it changed the sample."""
        self.qd[:] = self._limiter.qd
        self.qdd[:] = self._limiter.qdd
