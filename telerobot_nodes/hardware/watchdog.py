"""The setpoint watchdog: a setpoint that is too old ends the motion."""

from __future__ import annotations

import math

TIMEOUT = 0.1  # [s] the age MoveIt Servo and similar systems allow


class Watchdog:
    """Tells when the latest setpoint is older than `timeout` [s]; counts how often that happened."""

    def __init__(self, timeout: float = TIMEOUT) -> None:
        self.timeout = timeout
        self.trips = 0
        self._fed = -math.inf
        self._tripped = True

    def feed(self, time: float) -> None:
        """A setpoint made at `time` [s, monotonic] was accepted."""
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
