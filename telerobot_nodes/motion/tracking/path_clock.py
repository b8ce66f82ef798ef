"""The clock of the path: runs with time, and slows down to a stop that stays on the path (time scaling).

Motion scaled in time keeps its path: at rate r the joint velocity is r v and the acceleration r^2 a + r' v. At every
step the hardest braking inside the joints' acceleration limits is chosen [US5046022].
"""

from __future__ import annotations

import numpy as np
from numba import njit

from telerobot_nodes.core.values import FloatArray

BRAKING = 0.9  # [-] part of the acceleration limit used; the rest covers the discretization
STILL = 1e-4  # [-] lower rates count as rest


class PathClock:
    """`time` [s] on the path's own axis and its `rate` [-], 1 while running."""

    def __init__(self, acceleration: FloatArray, period: float) -> None:
        self.acceleration = np.array(acceleration, dtype=np.float64)  # (dof,) [rad/s^2]
        self.period = period  # [s]
        self.time = 0.0
        self.rate = 1.0
        self.brake(np.zeros(self.acceleration.size), np.zeros(self.acceleration.size))  # compiles
        self.run(0.0)

    def run(self, now: float) -> None:
        """Set path time to `now` [s], at rate 1."""
        self.time = now
        self.rate = 1.0

    def brake(self, v: FloatArray, a: FloatArray) -> bool:
        """Brake for one period; `v` [rad/s], `a` [rad/s^2] (dof,) are the path's at `time`. True when stopped."""
        fall = _steepest(v, a, self.acceleration * BRAKING, self.rate, 1.0 / self.period)
        before = self.rate
        self.rate = max(0.0, before - fall * self.period)
        if self.rate < STILL:
            self.rate = 0.0
        self.time += 0.5 * (before + self.rate) * self.period
        return self.rate == 0.0


@njit(cache=True)
def _steepest(v: FloatArray, a: FloatArray, limit: FloatArray, rate: float, most: float) -> float:
    """Largest decrease of the rate [1/s], 0 .. most, that keeps |rate^2 a - fall v| <= limit in every joint."""
    fall = most
    for i in range(v.size):
        push = rate * rate * a[i]
        if v[i] > 1e-9:
            fall = min(fall, (limit[i] + push) / v[i])
        elif v[i] < -1e-9:
            fall = min(fall, (push - limit[i]) / v[i])
    return max(fall, 0.0)
