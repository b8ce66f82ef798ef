"""One direction of an emulated link: delay, jitter, loss, duplication, reordering, outage [US5231693].

What belongs here: which message is delivered, and when. What must never enter: clocks, threads, ROS. The one-way
delay has a gamma distribution with the given mean and standard deviation: never negative, with the long tail of a real
link; or it is what a function of time gives, as a recorded profile. Without `reorder` a late message delays those
behind it, as on one ordered stream.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Generic, TypeVar

from telerobot_nodes.core.config import parameter
from telerobot_nodes.core.values import in_range
from telerobot_nodes.errors import InvalidValueError

MAX_DELAY = 60.0  # [s]
LEAST_JITTER = 1e-6  # [s] less counts as none
CAPACITY = 50_000  # messages held per direction
CAPACITY_BYTES = 64 * 1024 * 1024

Payload = TypeVar("Payload")


@dataclass(frozen=True)
class LinkSettings:
    """Settings of the link (`SetLink.srv`); validated when made. Raises InvalidValueError naming the field."""

    delay: float = parameter(0.0, "s", 0.0, MAX_DELAY, "mean one-way delay")
    jitter: float = parameter(0.0, "s", 0.0, MAX_DELAY, "standard deviation of the one-way delay, at most the delay")
    loss: float = parameter(0.0, "-", 0.0, 1.0, "probability that a message is lost")
    duplicate: float = parameter(0.0, "-", 0.0, 1.0, "probability that a message is duplicated")
    reorder: bool = parameter(False, doc="later messages may overtake earlier ones")
    up: bool = parameter(True, doc="messages from operator to robot pass")
    down: bool = parameter(True, doc="messages from robot to operator pass")

    def __post_init__(self) -> None:
        in_range(self.delay, "delay", 0.0, MAX_DELAY, "s")
        in_range(self.jitter, "jitter", 0.0, self.delay, "s")
        in_range(self.loss, "loss", 0.0, 1.0)
        in_range(self.duplicate, "duplicate", 0.0, 1.0)
        for name in ("reorder", "up", "down"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidValueError(name, getattr(self, name), "allowed: true, false")

    def passes(self, upward: bool) -> bool:
        """True when messages of this direction pass."""
        return self.up if upward else self.down


@dataclass
class LineCounts:
    """Counts of one direction: received + duplicated == delivered + lost + held."""

    received: int = 0
    duplicated: int = 0
    delivered: int = 0
    delivered_bytes: int = 0
    lost_by_chance: int = 0
    lost_by_outage: int = 0
    lost_by_bound: int = 0

    @property
    def lost(self) -> int:
        """Messages and copies that are never delivered."""
        return self.lost_by_chance + self.lost_by_outage + self.lost_by_bound


class DelayLine(Generic[Payload]):
    """Messages in flight in one direction. New settings apply to messages pushed later."""

    def __init__(
        self,
        settings: LinkSettings,
        upward: bool,
        seed: int,
        capacity: int = CAPACITY,
        capacity_bytes: int = CAPACITY_BYTES,
    ) -> None:
        self.settings = settings
        self.delay_at: Callable[[float], float] | None = None  # [s] at a time [s], in place of delay and jitter
        self.counts = LineCounts()
        self._upward = upward
        self._random = Random(seed)
        self._capacity = capacity
        self._capacity_bytes = capacity_bytes
        self._held: list[tuple[float, int, int, Payload]] = []  # heap: due [s], number, size, payload
        self._held_bytes = 0
        self._latest_due = float("-inf")
        self._number = 0

    def __len__(self) -> int:
        return len(self._held)

    def push(self, now: float, payload: Payload, size: int) -> bool:
        """Take a message of `size` bytes at `now` [s]; it may be duplicated, or lost: False."""
        self.counts.received += 1
        if not self.settings.passes(self._upward):
            self.counts.lost_by_outage += 1
            return False
        if self._random.random() < self.settings.loss:
            self.counts.lost_by_chance += 1
            return False
        held = self._hold(now, payload, size)
        if self._random.random() < self.settings.duplicate:
            self.counts.duplicated += 1
            held |= self._hold(now, payload, size)
        return held

    def due(self, now: float) -> list[Payload]:
        """Remove and return every message due at `now` [s], in order of delivery."""
        out: list[Payload] = []
        while self._held and self._held[0][0] <= now:
            _, _, size, payload = heapq.heappop(self._held)
            self._held_bytes -= size
            self.counts.delivered += 1
            self.counts.delivered_bytes += size
            out.append(payload)
        return out

    def next_due(self) -> float | None:
        """Time of the next delivery [s], None if nothing is in flight."""
        return self._held[0][0] if self._held else None

    def _hold(self, now: float, payload: Payload, size: int) -> bool:
        if len(self._held) >= self._capacity or self._held_bytes + size > self._capacity_bytes:
            self.counts.lost_by_bound += 1
            return False
        delay = self._sample_delay() if self.delay_at is None else self.delay_at(now)
        if math.isinf(delay):
            self.counts.lost_by_outage += 1
            return False
        due = now + delay
        if not self.settings.reorder:
            due = max(due, self._latest_due)
        self._latest_due = max(due, self._latest_due)
        heapq.heappush(self._held, (due, self._number, size, payload))
        self._held_bytes += size
        self._number += 1
        return True

    def _sample_delay(self) -> float:
        delay, jitter = self.settings.delay, self.settings.jitter
        if jitter <= max(LEAST_JITTER, 1e-6 * delay):
            return delay
        return self._random.gammavariate((delay / jitter) ** 2, jitter**2 / delay)
