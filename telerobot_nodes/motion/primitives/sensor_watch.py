"""Supervision of the wrist force-torque sensor: what it cannot mean ends a motion that needs it.

A sensor that measures shows noise: a wrench that stays the same in every digit is frozen, and a channel that stays at
its largest value is at the end of its range. A contact that pressed steadily can end, but it cannot pull. Its force can
change from one reading to the next as far as the tool moved into a stiff surface meanwhile, or swing back at once, as
after a slip or a knock; a force that steps without motion and stays there is the sensor's.
"""

from __future__ import annotations

import math

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.law import Termination

SENSOR_TIMEOUT = 0.1  # [s] age of a wrench that stops a motion that needs it
LEAST = np.repeat([1.0, 0.1], 3)  # [N], [N m] of a channel at the end of its range: a sensor's unused one reads zero
OPPOSITE = -0.9  # [-] cosine to the steady force before; what is gripped may be thrown to another side of the fingers
PULL = 2.0  # [N] against the steady force before, from one reading to the next; the tool's inertia stays below it
AT_END = 1.0 / 3.0  # [-] of `frozen_time`, for a channel at the end of its range: the tool may press on meanwhile
STEADY = 0.25  # [-] of the mean force: largest deviation of a steady force
STEP = 0.4  # [-] of the mean force: a smaller step presses by that share too hard at most
STIFFEST = 1e6  # [N/rad] of the joint that moved most: a surface of 1e6 N/m, a metre from the joint
STAYS = 0.3, 0.004  # [-] of a step, [s]: farthest and shortest stay of a force that does not swing back
SHARE = 0.2  # [-] of a reading in the mean force
FORGET = 0.9  # [-] of the largest deviation, from one reading to the next


class SteadyForce:
    """The force of a contact, reading by reading, and whether a contact can have caused it."""

    def __init__(self) -> None:
        self._mean = np.zeros(3)  # [N]
        self._deviation = 0.0  # [N] largest from the mean, lately
        self._q = np.empty(0)  # (dof,) [rad] at the reading before; empty: none
        self._after = np.zeros(3)  # [N] after a step without motion
        self._step, self._since = 0.0, 0.0  # [N] its size, 0: none; [s]
        self._from_mean, self._from_after, self._moved = np.zeros(3), np.zeros(3), np.empty(0)  # scratch

    def jumped(self, at: float, force: FloatArray, q: FloatArray) -> bool:
        """True for a force (3,) [N] at `at` [s] that no contact causes; `q` (dof,) [rad]: the measured joints."""
        mean, off = _size(self._mean), _size(np.subtract(force, self._mean, out=self._from_mean))
        moved = self._way(q)
        if self._stays(at, force):
            return True
        if mean > PULL and self._deviation < STEADY * mean:
            along = float(force @ self._mean)
            if along < -PULL * mean and along < OPPOSITE * mean * _size(force):
                return True
            if off > max(PULL, STEP * mean, STIFFEST * moved):
                self._after[:] = force
                self._step, self._since = off, at
        self._deviation = max(FORGET * self._deviation, off)
        self._from_mean *= SHARE
        self._mean += self._from_mean
        return False

    def _way(self, q: FloatArray) -> float:
        """Farthest [rad] that a joint has moved since the reading before."""
        if self._q.size != q.size:
            self._q, self._moved = q.copy(), np.zeros_like(q)
        np.abs(np.subtract(q, self._q, out=self._moved), out=self._moved)
        self._q[:] = q
        return float(self._moved.max())

    def _stays(self, at: float, force: FloatArray) -> bool:
        """True when the force has stayed where it stepped to."""
        if not self._step:
            return False
        share, shortest = STAYS
        if _size(np.subtract(force, self._after, out=self._from_after)) > share * self._step:
            self._step = 0.0
            return False
        return at - self._since >= shortest


class SensorWatch:
    """Times of the latest reading and of each channel's latest change, and whether all readings were possible."""

    def __init__(self) -> None:
        self.valid = True
        self._fresh = False  # a reading whose force was not felt yet
        self._received_at = -np.inf  # [s]
        self._changed_at = np.full(6, -np.inf)  # [s]
        self._peak, self._at_peak = np.zeros(6), np.zeros(6, dtype=np.bool_)
        self._force = SteadyForce()

    def restart(self, now: float) -> None:
        """Begin a motion at `now` [s]: the first reading may take SENSOR_TIMEOUT."""
        self.valid = True
        self._fresh = False
        self._received_at = now
        self._changed_at[:] = now
        self._peak[:] = 0.0
        self.expect_another_force()

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

    def expect_another_force(self) -> None:
        """Bias, load or frame of the force have changed: its next step is none of the contact."""
        self._force = SteadyForce()

    def feel(self, force: FloatArray, q: FloatArray) -> None:
        """Take the latest reading's force (3,) [N] without bias and load, at the measured joints `q` (dof,) [rad].

        One that cannot be is invalid.
        """
        if self._fresh:
            self._fresh = False
            self.valid = self.valid and not self._force.jumped(self._received_at, force, q)

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


def _size(force: FloatArray) -> float:
    return math.sqrt(float(force @ force))
