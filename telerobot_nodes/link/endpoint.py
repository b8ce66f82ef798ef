"""The link of one host: its sessions by address, the numbers of what it sends, and the alarm for what it refuses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.graph import Topic
from telerobot_nodes.link.datagrams import Fault, split
from telerobot_nodes.link.kept import KeptMessages
from telerobot_nodes.link.session import Arrival, Identity, Line, Session

Address = tuple[str, int]  # numeric address, port
AGAIN = 1.0  # [s] between two alarms of one attack
QUIET = 10.0  # [s] without a refused datagram: the alarm is over


@dataclass(frozen=True)
class Peer:
    """Another host of the link."""

    name: str
    address: Address
    rate: float = 0.0  # [bit/s] greatest, towards it; 0: no limit
    key: bytes | None = None  # of the link to it; None: this host's


class Outgoing(NamedTuple):
    """A datagram to send."""

    datagram: bytes
    address: Address


class Endpoint:
    """Messages of the local graph to every peer, and from every peer to the local graph."""

    def __init__(
        self,
        own: Identity,
        peers: Sequence[Peer],
        topics: Sequence[Topic],
        upward: Mapping[str, bool],
        stale_after: float,
        draw: Callable[[], int],
    ) -> None:
        """`upward` by topic name: from operator to robot."""
        self._line = Line(topics, [upward[entry.name] for entry in topics])
        self._numbers = [0 for _ in topics]
        self._crossings = [entry.crosses for entry in topics]
        ours = bool(own.role)
        for at, entry in enumerate(topics):
            if entry.crosses and entry.crosses.order.is_repaired and self._line.upward[at] == ours:
                self._line.kept[at] = KeptMessages(entry.qos.value.depth, entry.crosses.late)
        self.sessions = {
            peer.address: Session(_towards(own, peer), peer.name, self._line, peer.rate, stale_after, draw)
            for peer in peers
        }
        self.strangers = 0

    def send(self, now: float, topic: int, message: bytes, urgent: bool = False) -> None:
        """Take a message of the local graph for every peer; an urgent one leaves before all others.

        Raises InvalidValueError when it is too large.
        """
        entry, crossing = self._line.topics[topic], self._crossings[topic]
        if crossing is not None and len(message) > crossing.size:
            raise InvalidValueError(
                f"{entry.name}.size", len(message), f"allowed over the link: up to {crossing.size} B"
            )
        parts = split(topic, self._number(now, topic, message), message)
        for session in self.sessions.values():
            session.send(now, topic, parts, urgent)

    def receive(self, now: float, datagram: bytes, address: Address) -> list[Arrival]:
        """Take a datagram; the messages to deliver now."""
        session = self.sessions.get(address)
        if session is None:
            self.strangers += 1
            return []
        return session.receive(now, datagram)

    def poll(self, now: float) -> list[Outgoing]:
        """Datagrams to send now."""
        for kept in self._line.kept.values():
            kept.forget(now)
        return [
            Outgoing(datagram, address) for address, session in self.sessions.items() for datagram in session.poll(now)
        ]

    def next_due(self, now: float) -> float:
        """When `poll` has something to send [s]."""
        return min(session.next_due(now) for session in self.sessions.values())

    def faults(self) -> Counter[Fault]:
        """Refused datagrams of all peers and strangers, by reason."""
        total = Counter({Fault.STRANGER: self.strangers})
        for session in self.sessions.values():
            total.update(session.faults)
        return +total

    def refused(self) -> Counter[str]:
        """Refused datagrams by reason in words, and messages that came too late to be delivered."""
        total = Counter({fault.name.lower(): count for fault, count in self.faults().items()})
        total["late"] = sum(counts.late for session in self.sessions.values() for counts in session.counts)
        return +total

    def report_refused(self, count: int) -> None:
        """Report to every peer what this host has refused since its alarm was raised; 0: it is not raised."""
        self._line.refused = count

    def _number(self, now: float, topic: int, message: bytes) -> int:
        kept = self._line.kept.get(topic)
        if kept is not None:
            return kept.add(now, message)
        self._numbers[topic] += 1
        return self._numbers[topic]


def _towards(own: Identity, peer: Peer) -> Identity:
    return own if peer.key is None else replace(own, key=peer.key)


class RefusalAlarm:
    """The alarm for refused datagrams: raised at the first, repeated while they go on."""

    def __init__(self) -> None:
        self._total: Counter[str] = Counter()
        self._before: Counter[str] = Counter()  # when the alarm was raised
        self._told: Counter[str] = Counter()
        self._told_at = self._last = -math.inf

    def update(self, now: float, refused: Mapping[str, int]) -> bool:
        """Take all counts since the start, by reason; whether there is something to tell now."""
        if (total := Counter(refused)) != self._total:
            if not self.is_raised(now):
                self._before = self._total
            self._total, self._last = total, now
        if self._total == self._told or now - self._told_at < AGAIN:
            return False
        self._told, self._told_at = self._total, now
        return True

    def is_raised(self, now: float) -> bool:
        """Whether a datagram was refused a short while ago."""
        return now - self._last <= QUIET

    @property
    def text(self) -> str:
        """What was refused since the alarm was raised."""
        return "refused: " + ", ".join(f"{name} {count}" for name, count in sorted(self._counts.items()))

    def count(self, now: float) -> int:
        """How many were refused since the alarm was raised, without those that were late; 0: it is not."""
        return sum((self._counts - Counter(late=self._counts["late"])).values()) if self.is_raised(now) else 0

    @property
    def _counts(self) -> Counter[str]:
        return self._total - self._before
