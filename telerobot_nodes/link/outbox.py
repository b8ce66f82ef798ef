"""What waits to be sent to one peer: by priority, within a rate, never too old.

Every queue is bounded: a topic has at most as many messages here as its quality of service keeps, and one of which a
part has left. The oldest that has not begun makes room for the newest.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from telerobot_nodes.graph import Crossing, Priority
from telerobot_nodes.link.datagrams import MOST_BYTES, Data

OVERHEAD = 28 + 53  # [B] of a datagram beside its body: IP, UDP, header, code
WAITING_BYTES = 2_000_000  # of a topic
BURST = 0.02  # [s] of the rate that may leave at once
URGENT = Crossing(Priority.HALT, most=500.0)  # of any topic, as the halts themselves
URGENT_DEPTH = 64
RATE_BURST = 0.5  # [s] of a topic's greatest rate that may come at once


@dataclass(eq=False)
class _Message:
    stamp: float  # [s] when it was taken
    parts: deque[Data]
    bytes: int
    begun: bool = False  # a part of it has left


@dataclass
class _Queue:
    """Messages of one topic."""

    crossing: Crossing
    depth: int
    waiting: deque[_Message] = field(default_factory=deque)
    bytes: int = 0
    credit: float = 0.0  # messages that may be taken now
    credited: float = -math.inf
    dropped: int = 0  # for want of room, rate or time

    def drop(self, message: _Message) -> None:
        self.waiting.remove(message)
        self.bytes -= message.bytes
        self.dropped += 1

    def make_room(self, size: int) -> None:
        whole = deque(message for message in self.waiting if not message.begun)
        while whole and (len(whole) >= self.depth or self.bytes + size > WAITING_BYTES):
            self.drop(whole.popleft())

    def admits(self, now: float) -> bool:
        """Whether a message is within the topic's greatest rate."""
        most = self.crossing.most
        if not most:
            return True
        burst = max(1.0, RATE_BURST * most)
        self.credit = min(burst, self.credit + most * min(now - self.credited, 1e3))
        self.credited = now
        if self.credit < 1.0:
            return False
        self.credit -= 1.0
        return True


class Outbox:
    """Messages of all topics to one peer; `depths` by topic, `rate` [bit/s], 0: no limit."""

    def __init__(self, topics: Sequence[Crossing], depths: Sequence[int], rate: float) -> None:
        self._queues = [_Queue(crossing, depth) for crossing, depth in zip(topics, depths, strict=True)]
        self._urgent = _Queue(URGENT, URGENT_DEPTH)
        self._order = sorted(range(len(topics)), key=lambda at: topics[at].priority)
        self._rate = rate / 8.0  # [B/s]
        self._burst = max(2.0 * MOST_BYTES, BURST * self._rate)
        self._credit, self._credited = self._burst, -math.inf

    def put(self, now: float, topic: int, parts: Sequence[Data], again: bool = False) -> bool:
        """Take a message, or parts that were asked for `again`; whether it was taken."""
        queue = self._queues[topic]
        if not again and not queue.admits(now):
            queue.dropped += 1
            return False
        self._add(now, queue, parts)
        return True

    def put_first(self, now: float, topic: int, parts: Sequence[Data]) -> None:
        """Take a message that leaves before all others, whatever the rate of its topic; counted as one of it."""
        if self._urgent.admits(now):
            self._add(now, self._urgent, parts)
        else:
            self._queues[topic].dropped += 1

    @staticmethod
    def _add(now: float, queue: _Queue, parts: Sequence[Data]) -> None:
        size = sum(len(part.payload) for part in parts)
        queue.make_room(size)
        queue.waiting.append(_Message(now, deque(parts), size))
        queue.bytes += size

    def take(self, now: float) -> tuple[float, Data] | None:
        """Stamp [s] and part to be sent now; None: nothing waits, or the rate does not allow it yet."""
        self._earn(now)
        if self._rate and self._credit < 0.0:
            return None
        for queue in (self._urgent, *(self._queues[at] for at in self._order)):
            self._drop_old(now, queue)
            if queue.waiting:
                message = queue.waiting[0]
                message.begun = True
                part = message.parts.popleft()
                if not message.parts:
                    queue.bytes -= queue.waiting.popleft().bytes
                self.spend(len(part.payload) + OVERHEAD)
                return message.stamp, part
        return None

    def spend(self, size: int) -> None:
        """Count `size` bytes that are sent now, waiting or not."""
        self._credit -= size

    def next_due(self, now: float) -> float:
        """When `take` has something, at the earliest [s]; infinite: not before `put`."""
        if not self._urgent.waiting and not any(queue.waiting for queue in self._queues):
            return math.inf
        return now + max(0.0, -self._credit / self._rate) if self._rate else now

    def first_waiting(self, topic: int) -> int:
        """Lowest number of a topic that waits; 0: none."""
        return min((message.parts[0].number for message in self._queues[topic].waiting), default=0)

    def waits(self, topic: int, number: int) -> bool:
        """Whether a message, or parts of it, wait to be sent."""
        return any(message.parts[0].number == number for message in self._queues[topic].waiting)

    def dropped(self, topic: int) -> int:
        """Messages of a topic that were not sent: too many, too old, replaced by a newer one."""
        return self._queues[topic].dropped

    def _earn(self, now: float) -> None:
        self._credit = min(self._burst, self._credit + self._rate * min(now - self._credited, 1e3))
        self._credited = now

    @staticmethod
    def _drop_old(now: float, queue: _Queue) -> None:
        late = queue.crossing.late
        while late and queue.waiting and now - queue.waiting[0].stamp > late:
            queue.drop(queue.waiting[0])
