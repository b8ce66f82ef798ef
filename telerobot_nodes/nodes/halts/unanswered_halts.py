"""Halts of something else than this arm, which are left to the decision unit until it has answered them.

A halt of a command by its number means nothing to an arm alone. A decision unit that hangs must not lose it: what is
not answered in time is a halt of this arm too.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from telerobot_nodes.nodes.halts.halt_texts import TextHalt

ANSWER_LIMIT = 0.5  # [s] for the decision unit, which answers a halt within 0.05 s
MOST = 64  # halts that wait; before one more the oldest is overdue. As many answers are remembered


class Key(NamedTuple):
    """A text, as its answer repeats it. Texts of number 0 are not told from each other."""

    sender: str
    number: int


class _Waiting(NamedTuple):
    since: float
    topic: str
    halt: TextHalt


class UnansweredHalts:
    """Times in [s] of one clock that the caller gives."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[Key, _Waiting] = OrderedDict()
        self._answered: OrderedDict[Key, float] = OrderedDict()
        self._crowded: list[_Waiting] = []

    def add(self, key: Key, now: float, topic: str, halt: TextHalt) -> None:
        """Leave a halt that came on `topic` to the decision unit.

        Nothing changes by a copy of one that waits, or of one just answered: the answer may be the first to arrive.
        """
        if key in self._waiting or now - self._answered.get(key, now - ANSWER_LIMIT) < ANSWER_LIMIT:
            return
        if len(self._waiting) == MOST:
            self._crowded.append(self._waiting.popitem(last=False)[1])
        self._waiting[key] = _Waiting(now, topic, halt)

    def answered(self, key: Key, now: float) -> None:
        """The decision unit has answered this text."""
        self._waiting.pop(key, None)
        if key.number:
            self._answered[key] = now
            self._answered.move_to_end(key)
        if len(self._answered) > MOST:
            self._answered.popitem(last=False)

    def overdue(self, now: float) -> list[tuple[str, TextHalt]]:
        """Topics and halts that were not answered in time, once each."""
        late, self._crowded = self._crowded, []
        for key, waiting in list(self._waiting.items()):
            if now - waiting.since >= ANSWER_LIMIT:
                late.append(self._waiting.pop(key))
        return [(waiting.topic, waiting.halt) for waiting in late]
