"""Texts to the decision unit over a link of any delay: numbered, repeated until answered, matched by number.

Repetitions are paced by the measured round trip [Paxson2011], so that none is on its way before an answer can be back,
except for halts. A text that started a command is repeated now and then until the command's end is known: its report
may be lost. The decision unit executes a text once, and repeats its answers.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from dataclasses import dataclass

from telerobot_nodes.core.protocol import begins_with_halt

FIRST_PERIOD = 1.0  # [s] to the first repetition while no round trip is known
SHORTEST, LONGEST = 0.3, 120.0  # [s] from a text to its repetition
HALT_PERIOD, HALT_LONGEST = 0.1, 1.0  # [s] the same of a halt
POLL = 5.0  # [s] between later repetitions, or four round trips
NO_ANSWER = 150.0  # [s] after which a missing answer is reported; longer than twice the longest delay of a link
MOST_OPEN = 200  # texts
MOST_SEEN = 2000  # reports remembered, to take each once


@dataclass
class SentText:
    """A text that is repeated until it is answered, or the command that it started has ended."""

    number: int
    text: str
    first_sent: float  # [s]
    due: float  # [s] of the next repetition
    period: float  # [s] to the one after it
    copies: int = 1
    unit: str = ""  # the decision unit that has answered
    over: bool = False  # the command's end is known


class RoundTrip:
    """Smoothed round trip and its deviation [Paxson2011 section 2]; a text sent once measures it (section 3)."""

    def __init__(self) -> None:
        self.smoothed = 0.0  # [s]; 0: not measured
        self._deviation = 0.0
        self._at_least = 0.0  # [s] after an answer to a repeated text, until the next measurement

    def measured(self, seconds: float) -> None:
        """Take the answer to a text that was sent once."""
        self._at_least = 0.0
        if not self.smoothed:
            self.smoothed, self._deviation = max(seconds, 1e-6), seconds / 2.0
            return
        self._deviation += (abs(seconds - self.smoothed) - self._deviation) / 4.0
        self.smoothed += (seconds - self.smoothed) / 8.0

    def doubted(self, seconds: float) -> None:
        """Take the answer to a text that was repeated, by its first sending: the link may have become slower."""
        self._at_least = min(seconds, 4.0 * max(self.timeout, POLL))

    @property
    def estimate(self) -> float:
        """When an answer is late by what was measured [s]."""
        if not self.smoothed:
            return FIRST_PERIOD
        return min(max(self.smoothed + 4.0 * self._deviation, SHORTEST), LONGEST)

    @property
    def timeout(self) -> float:
        """When an answer is late [s]."""
        return max(self.estimate, self._at_least)


class TextExchange:
    """The texts of one sender. Time is an argument [s]; one thread."""

    def __init__(self) -> None:
        self.round_trip = RoundTrip()
        self._numbers = itertools.count(1)
        self._open: dict[int, SentText] = {}
        self._seen: OrderedDict[tuple[str, int], None] = OrderedDict()

    def send(self, text: str, now: float) -> SentText:
        """A new text, to be published now."""
        period = HALT_PERIOD if begins_with_halt(text) else self.round_trip.timeout
        sent = SentText(next(self._numbers), text, now, now + period, period)
        self._open[sent.number] = sent
        if len(self._open) > MOST_OPEN:
            del self._open[min(self._open, key=lambda number: (_halts(self._open[number]), number))]
        return sent

    @property
    def _slowest(self) -> float:
        return max(POLL, 4.0 * self.round_trip.estimate)

    def due(self, now: float) -> list[SentText]:
        """Texts to be published again now."""
        again = [sent for sent in self._open.values() if now >= sent.due]
        for sent in again:
            sent.period = min(2.0 * sent.period, HALT_LONGEST if _halts(sent) else self._slowest)
            sent.due = now + sent.period
            sent.copies += 1
        return again

    def late(self, now: float) -> list[SentText]:
        """Texts without an answer that are given up now."""
        late = [one for one in self._open.values() if not one.unit and now - one.first_sent > NO_ANSWER]
        for sent in late:
            del self._open[sent.number]
        return late

    def is_new(self, unit: str, number: int) -> bool:
        """Whether a report, by its sender and number on the link, comes for the first time."""
        if (unit, number) in self._seen:
            return False
        self._seen[unit, number] = None
        if len(self._seen) > MOST_SEEN:
            self._seen.popitem(last=False)
        return True

    def answered(self, text_number: int, unit: str, begun: bool, now: float) -> None:
        """Take the answer of a decision unit to a text; `begun`: it started a command, whose end is awaited."""
        sent = self._open.get(text_number)
        if sent is None:
            return
        if not sent.unit:
            once = sent.copies == 1
            (self.round_trip.measured if once else self.round_trip.doubted)(now - sent.first_sent)
        sent.unit = unit
        if not begun or sent.over:
            del self._open[text_number]
            return
        sent.period = self._slowest
        sent.due = now + sent.period

    def ended(self, text_number: int) -> None:
        """The last command of a text has ended; its answer is still asked for if it was lost."""
        sent = self._open.get(text_number)
        if sent is not None and sent.unit:
            del self._open[text_number]
        elif sent is not None:
            sent.over = True


def _halts(sent: SentText) -> bool:
    """Whether it is a halt without an answer, which is repeated quickly, and the last to be given up."""
    return begins_with_halt(sent.text) and not sent.unit
