"""Messages of one topic from one peer: parts put together, delivered in the topic's order, missing ones asked for.

Bounded: parts of at most PARTIAL messages, none larger than the topic allows, none kept longer than PATIENCE.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from telerobot_nodes.graph import Crossing, Order
from telerobot_nodes.link.datagrams import MOST_PART, MOST_ROWS, Data, Kept, Want

PARTIAL = 8  # messages of a topic that are put together at once
PATIENCE = 10.0  # [s] for the parts of a message that is not asked for again
AHEAD = 256  # messages held behind a missing one


@dataclass
class Partial:
    """A message of which parts have arrived."""

    stamp: float  # [s] on the sender's clock
    since: float  # [s] first part
    parts: list[bytes | None]
    missing: int = field(init=False)

    def __post_init__(self) -> None:
        self.missing = len(self.parts)

    def add(self, data: Data) -> bool:
        """Take a part; whether all are here."""
        if data.parts == len(self.parts) and self.parts[data.part] is None:
            self.parts[data.part] = data.payload
            self.missing -= 1
        return not self.missing

    def message(self) -> bytes:
        """The whole."""
        return b"".join(part or b"" for part in self.parts)

    def gaps(self) -> list[tuple[int, int]]:
        """First missing part and how many, for each gap."""
        found: list[tuple[int, int]] = []
        for at, part in enumerate(self.parts):
            if part is None and found and sum(found[-1]) == at:
                found[-1] = (found[-1][0], found[-1][1] + 1)
            elif part is None:
                found.append((at, 1))
        return found


Delivered = tuple[float, bytes]  # stamp [s] on the sender's clock, message
_DELIVERED: Delivered = (0.0, b"")


class TopicInbox:
    """Receives one topic of one session."""

    def __init__(self, topic: int, crossing: Crossing) -> None:
        self._topic, self._crossing = topic, crossing
        self._partial: dict[int, Partial] = {}
        self._newest = 0  # number delivered last, of NEWEST
        self._next = 0  # number to be delivered next, of ALL; first that is missing, of EACH; 0: not known
        self._held: dict[int, Delivered] = {}  # whole, behind a missing one; of EACH without contents
        self._latest = 0  # that the peer has sent
        self._asked = -math.inf
        self.lost = 0  # given up: the sender has them no more

    def add(self, now: float, stamp: float, data: Data) -> list[Delivered] | None:
        """Take a part; the messages to deliver now. None: the part belongs to no message that may be."""
        if data.parts > 1 + self._crossing.size // MOST_PART:
            return None
        if self._is_done(data.number):
            return []
        whole = self._put_together(now, stamp, data)
        if self._crossing.order.is_repaired:
            self._latest = max(self._latest, data.number)
        return [] if whole is None else self._in_order(data.number, whole)

    def on_kept(self, kept: Kept, durable: bool) -> list[Delivered]:
        """What the peer can send again; a first receiver of a durable topic gets all of it. What to deliver now."""
        if not self._next:
            self._next = kept.oldest if durable else kept.latest + 1
        if kept.oldest > self._next:
            early = [self._held.pop(number) for number in sorted(self._held) if number < kept.oldest]
            self.lost += kept.oldest - self._next - len(early)
            self._next = kept.oldest
            self._partial = {number: partial for number, partial in self._partial.items() if number >= kept.oldest}
        else:
            early = []
        self._latest = max(self._latest, kept.latest)
        ready = early + self._contiguous()
        return [] if self._crossing.order is Order.EACH else ready

    def wants(self, now: float, pause: float) -> list[Want]:
        """What to ask for again; each at most every `pause` [s]."""
        self._forget(now)
        if not self._crossing.order.is_repaired or not self._next or now - self._asked < pause:
            return []
        missing = [n for n in range(self._next, min(self._latest, self._next + AHEAD) + 1) if n not in self._held]
        wants = [want for number in missing[:MOST_ROWS] for want in self._wants_of(now, pause, number)][:MOST_ROWS]
        if wants:
            self._asked = now
        return wants

    def _wants_of(self, now: float, pause: float, number: int) -> list[Want]:
        partial = self._partial.get(number)
        if partial is None:
            return [Want(self._topic, number)]
        if now - partial.since < pause:
            return []
        return [Want(self._topic, number, first, count) for first, count in partial.gaps()]

    def _is_done(self, number: int) -> bool:
        if self._crossing.order is Order.NEWEST:
            return number <= self._newest
        if self._crossing.order.is_repaired:
            return number < self._next or number in self._held or number > max(self._next, 1) + AHEAD
        return False

    def _put_together(self, now: float, stamp: float, data: Data) -> Delivered | None:
        if data.parts == 1:
            return stamp, data.payload
        partial = self._partial.get(data.number)
        if partial is None:
            if not self._has_room(data.number):
                return None
            partial = self._partial[data.number] = Partial(stamp, now, [None] * data.parts)
        if not partial.add(data):
            return None
        del self._partial[data.number]
        return partial.stamp, partial.message()

    def _has_room(self, number: int) -> bool:
        """Whether a message may begin; of those that are not asked for again, the oldest makes room."""
        if len(self._partial) < PARTIAL:
            return True
        leaving = max(self._partial) if self._crossing.order.is_repaired else min(self._partial)
        if self._crossing.order.is_repaired and number > leaving:
            return False
        del self._partial[leaving]
        return True

    def _in_order(self, number: int, whole: Delivered) -> list[Delivered]:
        if self._crossing.order is Order.AS_THEY_COME:
            return [whole]
        if self._crossing.order is Order.NEWEST:
            self._newest = number
            self._partial = {n: partial for n, partial in self._partial.items() if n > number}
            return [whole]
        if self._crossing.order is Order.EACH:
            self._held[number] = _DELIVERED
            self._contiguous()
            return [whole]
        self._held[number] = whole
        return self._contiguous()

    def _contiguous(self) -> list[Delivered]:
        out = []
        while self._next and self._next in self._held:
            out.append(self._held.pop(self._next))
            self._next += 1
        return out

    def _forget(self, now: float) -> None:
        if not self._crossing.order.is_repaired:
            old = [number for number, partial in self._partial.items() if now - partial.since > PATIENCE]
            for number in old:
                del self._partial[number]
