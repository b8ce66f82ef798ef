"""The setpoint watchdog: detects that the latest setpoint is too old."""

from __future__ import annotations

import math

TIMEOUT = 0.1  # [s] as in MoveIt Servo and similar systems


class Watchdog:
    """Checks the age of the latest setpoint against `timeout` [s] and counts the trips."""

    def __init__(self, timeout: float = TIMEOUT) -> None:
        self.timeout = timeout
        self.trips = 0
        self._fed = -math.inf
        self._tripped = True

    def feed(self, time: float) -> None:
        """Record an accepted setpoint made at `time` [s, monotonic]."""
        self._fed = max(self._fed, time)
        self._tripped = False

    def age(self, now: float) -> float:
        """Age of the latest setpoint [s]; infinite before the first."""
        return now - self._fed

    def expired(self, now: float) -> bool:
        """True when there is no fresh setpoint; the first time after a fresh one counts as a trip."""
        if self._tripped:
            return True
        if self.age(now) <= self.timeout:
            return False
        self._tripped = True
        self.trips += 1
        return True
