"""Pacing of servo periods: simulated time follows the host's clock without bursts."""

from __future__ import annotations

MAX_BURST = 0.05  # [s] most simulated time served at once; the excess is skipped
WINDOW = 1.0  # [s] over which the real-time factor is averaged


class Pacer:
    """Counts periods of `period` [s] that have ended by `now` [s, monotonic]."""

    def __init__(self, period: float, now: float, max_burst: float = MAX_BURST) -> None:
        self.period = period
        self.time = now  # [s] end of the last period served
        self.dropped = 0.0  # [s] time skipped since the start
        self.real_time_factor = 1.0
        self._most = max(1, round(max_burst / period))
        self._window_start = now
        self._served = 0

    def due(self, now: float) -> int:
        """Periods to serve now; call `served` after each."""
        count = int((now - self.time) / self.period + 1e-6)
        if count > self._most:
            lost = (count - self._most) * self.period
            self.time += lost
            self.dropped += lost
            count = self._most
        self._average(now)
        return max(count, 0)

    def served(self) -> float:
        """Count one period; the time it ends [s]."""
        self.time += self.period
        self._served += 1
        return self.time

    def _average(self, now: float) -> None:
        span = now - self._window_start
        if span >= WINDOW:
            self.real_time_factor = self._served * self.period / span
            self._window_start = now
            self._served = 0
