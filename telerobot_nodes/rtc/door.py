"""How many texts a sender may say: who says more is refused before anybody spends time on it [JPL-RTC section 5].

So that a flood cannot take the processor from what moves the arms. Halts do not come through this door.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum, auto

RATE = 100.0  # [1/s] of one sender, for long
BURST = 40.0  # texts at once
ALL_RATE, ALL_BURST = 300.0, 120.0  # of all together
TELL = 0.1  # [s] between two refusals told to the same sender
MOST_SENDERS = 500  # remembered


class Admission(Enum):
    """What becomes of a text."""

    TAKEN = auto()
    REFUSED = auto()
    IGNORED = auto()  # refused, and told so a moment ago


@dataclass
class _Bucket:
    left: float
    at: float  # [s]
    told: float = float("-inf")  # [s]

    def take(self, now: float, rate: float, burst: float) -> bool:
        self.left = min(burst, self.left + rate * max(0.0, now - self.at))
        self.at = now
        if self.left < 1.0:
            return False
        self.left -= 1.0
        return True


class Door:
    """Counts the texts of every sender. One thread."""

    def __init__(self) -> None:
        self.refused = 0
        self._all = _Bucket(ALL_BURST, 0.0)
        self._senders: OrderedDict[str, _Bucket] = OrderedDict()

    def admit(self, sender: str, now: float) -> Admission:
        """Whether a text of this sender is taken at `now` [s]."""
        bucket = self._senders.setdefault(sender, _Bucket(BURST, now))
        self._senders.move_to_end(sender)
        if len(self._senders) > MOST_SENDERS:
            self._senders.popitem(last=False)
        if bucket.take(now, RATE, BURST) and self._all.take(now, ALL_RATE, ALL_BURST):
            return Admission.TAKEN
        self.refused += 1
        if now - bucket.told < TELL:
            return Admission.IGNORED
        bucket.told = now
        return Admission.REFUSED
