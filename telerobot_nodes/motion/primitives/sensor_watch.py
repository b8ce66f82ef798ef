"""Supervision of the wrist force-torque sensor: what it cannot mean ends a motion that needs it.

A sensor that measures shows noise: a wrench that stays the same in every digit is frozen, and a channel that stays at
its largest value is at the end of its range. A contact that pressed steadily can end, but it cannot pull.
"""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law import Termination

SENSOR_TIMEOUT = 0.1  # [s] age of a wrench that stops a motion that needs it
LEAST = np.repeat([1.0, 0.1], 3)  # [N], [N m] of a channel at the end of its range: a sensor's unused one reads zero
OPPOSITE = -0.9  # [-] cosine to the steady force before; what is gripped may be thrown to another side of the fingers
PULL = 2.0  # [N] against the steady force before, from one reading to the next; the tool's inertia stays below it
AT_END = 0.5  # [-] of `frozen_time`, for a channel at the end of its range: the tool may press on meanwhile
STEADY = 0.25  # [-] of the mean force: largest deviation of a steady force
SHARE = 0.2  # [-] of a reading in the mean force
FORGET = 0.9  # [-] of the largest deviation, from one reading to the next


class SensorWatch:
    """Times of the latest reading and of each channel's latest change, and whether all readings were possible."""

    def __init__(self) -> None:
        self.valid = True
        self._fresh = False  # a reading whose force was not felt yet
        self._received_at = -np.inf  # [s]
        self._changed_at = np.full(6, -np.inf)  # [s]
        self._peak, self._at_peak = np.zeros(6), np.zeros(6, dtype=np.bool_)
        self._mean = np.zeros(3)  # [N]
        self._deviation = 0.0  # [N] largest from the mean, lately

    def restart(self, now: float) -> None:
        """Begin a motion at `now` [s]: the first reading may take SENSOR_TIMEOUT."""
        self.valid = True
        self._fresh = False
        self._received_at = now
        self._changed_at[:] = now
        self._peak[:] = 0.0
        self._mean[:] = 0.0
        self._deviation = 0.0

    def receive(self, at: float, wrench: FloatArray, held: FloatArray) -> None:
        """Copy a reading (6,), received at `at` [s], into `held` (6,); one that cannot be is invalid."""
        if not np.isfinite(wrench).all():
            self.valid = False
            return
        self._changed_at[wrench != held] = at
        size = np.abs(wrench)
        np.maximum(self._peak, size, out=self._peak)
        np.greater_equal(size, np.maximum(self._peak, LEAST), out=self._at_peak)
        held[:] = wrench
        self._received_at = at
        self._fresh = True

    def feel(self, force: FloatArray) -> None:
        """Take the latest reading's force (3,) [N] without bias and load; one that cannot be is invalid."""
        if self._fresh:
            self._fresh = False
            self.valid = self.valid and not self._jumped(force)

    def _jumped(self, force: FloatArray) -> bool:
        """True for a force that pulls where a steady one pressed."""
        mean = float(np.linalg.norm(self._mean))
        steady = mean > PULL and self._deviation < STEADY * mean
        along = float(force @ self._mean)
        if steady and along < -PULL * mean and along < OPPOSITE * mean * float(np.linalg.norm(force)):
            return True
        off = float(np.linalg.norm(force - self._mean))
        self._deviation = max(FORGET * self._deviation, off)
        self._mean += SHARE * (force - self._mean)
        return False

    def check(self, now: float, frozen_time: float) -> Termination:
        """Why the sensor ends the motion at `now` [s], or RUNNING; `frozen_time` [s] 0: may stay constant."""
        if not self.valid:
            return Termination.INVALID_SENSOR
        if now - self._received_at > SENSOR_TIMEOUT:
            return Termination.STALE_SENSOR
        if frozen_time and self._stands(frozen_time):
            return Termination.FROZEN_SENSOR
        return Termination.RUNNING

    def _stands(self, frozen_time: float) -> bool:
        """True when no channel changes any more, or one stays at its largest value.

        Counted between readings: a process that was late is no frozen sensor.
        """
        constant = self._received_at - self._changed_at
        frozen, at_end = constant > frozen_time, constant > AT_END * frozen_time
        return bool(frozen.all() or (at_end & self._at_peak).any())
