"""Samples a planned motion into the window (trajectory segment) that the control loop follows.

Sample times are whole multiples of the period, so that successive windows share their samples and are equal up to the
splice.
"""

from __future__ import annotations

import math

import numpy as np

from telerobot_nodes.core.protocol import MotionWindow
from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.plan.executor.path import JointPath
from telerobot_nodes.plan.executor.profile import Profile


class WindowMaker:
    """Makes windows of one arm. `period` [s] between samples, `history` [s] before now."""

    def __init__(self, limits: JointLimits, period: float, history: float) -> None:
        self._limits = limits
        self.period = period
        self.history = history

    def next_sample(self, t: float) -> float:
        """First sample time at or after `t` [s]."""
        return math.ceil(t / self.period - 1e-6) * self.period

    def make(self, number: int, now: float, splice: float, path: JointPath, profile: Profile) -> MotionWindow | None:
        """Window from `history` before `now` until rest; None if a sample would exceed a joint limit."""
        first = math.floor((now - self.history) / self.period)
        last = max(math.ceil(profile.end / self.period + 1e-6), round(splice / self.period) + 1)
        at = self.period * np.arange(first, last + 1, dtype=np.float64)
        tau, rate, change = profile.sample(at)
        q, slope, curvature = path.evaluate(tau)
        velocity = slope * rate[:, None]
        acceleration = curvature * (rate * rate)[:, None] + slope * change[:, None]
        if not self._inside(velocity, acceleration):
            return None
        position = np.clip(q, self._limits.lower, self._limits.upper)
        plan_time = np.maximum.accumulate(tau)
        gripper = path.gripper_at(tau)
        return MotionWindow(
            number, splice, float(at[0]), self.period, position, velocity, acceleration, plan_time, gripper
        )

    def _inside(self, velocity: FloatArray, acceleration: FloatArray) -> bool:
        fast = np.abs(velocity) > self._limits.velocity
        hard = np.abs(acceleration) > self._limits.acceleration
        return not (fast.any() or hard.any())
