"""Supervision of the wrist force-torque sensor: missing, frozen or invalid readings end a motion that needs them."""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law import Termination

SENSOR_TIMEOUT = 0.1  # [s] age of a wrench that stops a motion that needs it


class SensorWatch:
    """Times of the latest reading and of its latest change, and whether all values were finite."""

    def __init__(self) -> None:
        self.valid = True
        self._received_at = self._changed_at = -np.inf  # [s]

    def restart(self, now: float) -> None:
        """Begin a motion at `now` [s]: the first reading may take SENSOR_TIMEOUT."""
        self.valid = True
        self._received_at = self._changed_at = now

    def receive(self, at: float, wrench: FloatArray, held: FloatArray) -> None:
        """Copy a reading (6,), received at `at` [s], into `held` (6,); one that is not finite is invalid."""
        if not np.isfinite(wrench).all():
            self.valid = False
            return
        if not np.array_equal(wrench, held):
            self._changed_at = at
        held[:] = wrench
        self._received_at = at

    def check(self, now: float, frozen_time: float) -> Termination:
        """Why the sensor ends the motion at `now` [s], or RUNNING; `frozen_time` [s] 0: may stay constant."""
        if not self.valid:
            return Termination.INVALID_SENSOR
        if now - self._received_at > SENSOR_TIMEOUT:
            return Termination.STALE_SENSOR
        if frozen_time and now - self._changed_at > frozen_time:
            return Termination.FROZEN_SENSOR
        return Termination.RUNNING
