"""Times of another clock on this host's monotonic clock, from the quickest of the messages that carry them."""

from __future__ import annotations

import math

DRIFT = 1e-4  # [s/s] how fast two clocks may drift apart
STEP = 0.5  # [s] back, or behind after a silence as long: a clock or driver that began again


class StampClock:
    """Maps stamps [s] of a sender to this host's clock; the quickest message is taken as not delayed."""

    def __init__(self) -> None:
        self._offset = math.inf  # [s] of this host's clock over the sender's
        self._stamp = -math.inf
        self._received = -math.inf

    def arrival(self, stamp: float, received: float) -> float | None:
        """Time [s] on this host's clock of a message received at `received`; None: not newer than the one before."""
        if stamp <= self._stamp:
            return None
        drift = DRIFT * (received - self._received) if math.isfinite(self._received) else 0.0
        self._offset = min(self._offset + drift, received - stamp)
        self._stamp, self._received = stamp, received
        return stamp + self._offset

    def began_again(self, stamp: float, received: float) -> bool:
        """True when a stamp is far behind the one before, or came after a silence and would be an old measurement.

        A driver that died and came back counts its time anew, perhaps from a stamp near the last one; one that stands
        still does not.
        """
        silent = received - self._received > STEP and stamp != self._stamp
        return stamp < self._stamp - STEP or (silent and received - stamp > self._offset + STEP)

    def reset(self) -> None:
        """Forget the sender's clock."""
        self.__init__()  # type: ignore[misc]
