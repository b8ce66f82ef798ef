"""Rate limit of texts for each sender and for all, checked before parsing: token bucket [Turner1986].

A flood cannot take the processor from what moves the arms. Halts are not limited.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum, auto

RATE = 100.0  # [1/s] of one sender, for long
BURST = 40.0  # texts at once
ALL_RATE, ALL_BURST = 300.0, 120.0  # of all senders together
NOTICE_PERIOD = 0.1  # [s] between two notices of rejection to the same sender
MAX_SENDERS = 500  # remembered


class Admission(Enum):
    """What becomes of a text."""

    ACCEPTED = auto()
    REFUSED = auto()  # and the sender is notified
    IGNORED = auto()  # refused; the sender was notified a moment ago


@dataclass
class _TokenBucket:
    tokens: float
    at: float  # [s]
    notified: float = float("-inf")  # [s]

    def take(self, now: float, rate: float, burst: float) -> bool:
        self.tokens = min(burst, self.tokens + rate * max(0.0, now - self.at))
        self.at = now
        if self.tokens < 1.0:
            return False
        self.tokens -= 1.0
        return True


class RateLimiter:
    """One token bucket for each sender and one for all. One thread."""

    def __init__(self) -> None:
        self.refused = 0
        self._all = _TokenBucket(ALL_BURST, 0.0)
        self._senders: OrderedDict[str, _TokenBucket] = OrderedDict()

    def admit(self, sender: str, now: float) -> Admission:
        """Whether a text of this sender is accepted at `now` [s]."""
        bucket = self._senders.setdefault(sender, _TokenBucket(BURST, now))
        self._senders.move_to_end(sender)
        if len(self._senders) > MAX_SENDERS:
            self._senders.popitem(last=False)
        if bucket.take(now, RATE, BURST) and self._all.take(now, ALL_RATE, ALL_BURST):
            return Admission.ACCEPTED
        self.refused += 1
        if now - bucket.notified < NOTICE_PERIOD:
            return Admission.IGNORED
        bucket.notified = now
        return Admission.REFUSED
