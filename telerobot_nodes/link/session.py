"""The link to one peer: handshake, heartbeats, messages both ways. Takes the time as an argument.

A session is opened by a hello that echoes this side's latest nonce: a recorded one cannot. Each opened session gets a
new nonce, so the datagrams of an older one stay refused.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.graph import Priority, Topic
from telerobot_nodes.link.datagrams import (
    MOST_ROWS,
    Beat,
    Data,
    Fault,
    Frame,
    Hello,
    Kept,
    Kind,
    Want,
    decode,
    encode,
    pack_wants,
    split,
    unpack_wants,
)
from telerobot_nodes.link.inbox import Delivered, TopicInbox
from telerobot_nodes.link.kept import KeptMessages
from telerobot_nodes.link.outbox import OVERHEAD, Outbox
from telerobot_nodes.link.peer_watch import PeerWatch
from telerobot_nodes.link.replay import ReplayWindow

BEAT_PERIOD = 0.1  # [s]
HELLO_PERIOD = 0.2  # [s] until the peer has answered
REMINDER_PERIOD = 1.0  # [s] between hellos after that
LEAST_PAUSE = 0.1  # [s] between two asks for the same
# [s] after a halt: its datagram once more, which the peer takes once. Soon, lest one arrives after a RESUME.
HALT_COPIES = (0.02, 0.05, 0.1)
COPIES_AGE = 0.5  # [s] behind the shortest way, up to which such a copy is not counted as a repeated datagram
MOST_COPIES = 256  # that wait at once
MOST_AGAIN = 400_000  # [B] sent again for one ask


class Arrival(NamedTuple):
    """A message to deliver."""

    topic: int
    message: bytes


@dataclass(frozen=True)
class Identity:
    """What a host reports of itself, and what both hosts must share."""

    host: str
    role: int  # 0 robot, 1 operator
    interface: bytes  # (8 bytes) hash of topics and messages
    version: str = ""
    robot: str = ""
    key: bytes = b""
    encrypts: bool = False


@dataclass
class TopicCounts:
    """Counts of one topic of one session."""

    sent: int = 0
    sent_bytes: int = 0  # of payload, parts sent again included
    delivered: int = 0
    delivered_bytes: int = 0
    late: int = 0  # arrived too late to be delivered
    withheld: int = 0  # new motion while one side does not receive from the other


@dataclass
class Line:
    """The topics of a link and what is kept of them; shared by all sessions of a host."""

    topics: Sequence[Topic]
    upward: Sequence[bool]
    kept: dict[int, KeptMessages] = field(default_factory=dict)
    refused: int = 0  # since this host's alarm was raised; 0: it is not raised


class Session:
    """One peer. `draw` returns 64 random bits."""

    def __init__(
        self, own: Identity, peer: str, line: Line, rate: float, stale_after: float, draw: Callable[[], int]
    ) -> None:
        crossings = [entry.crosses for entry in line.topics if entry.crosses]
        self._own, self.peer, self._line, self._draw = own, peer, line, draw
        self.watch = PeerWatch(stale_after)
        self.faults: Counter[Fault] = Counter()
        self.counts = [TopicCounts() for _ in line.topics]
        self._crossings = crossings
        self._outbox = Outbox(crossings, [entry.qos.value.depth for entry in line.topics], rate)
        self._inboxes: dict[int, TopicInbox] = {}
        self._life, self._nonce = draw() | 1, draw()
        self._number = 0
        self._peer_life, self._peer_nonce = 0, 0
        self._window = ReplayWindow(0)
        self._answered = False  # the peer has opened this side's session
        self._copies: list[tuple[float, bytes]] = []  # of halts: when they are due [s]
        self._hello_due = self._beat_due = -math.inf

    # out -----------------------------------------------------------------------------------------------------

    def send(self, now: float, topic: int, parts: Sequence[Data], urgent: bool = False) -> None:
        """Send a message, if the peer has opened the session: what waits for a peer is too old when it comes."""
        if self._answered:
            (self._outbox.put_first if urgent else self._outbox.put)(now, topic, parts)

    def poll(self, now: float) -> list[bytes]:
        """Datagrams to send now."""
        self.watch.update(now)
        out = []
        if now >= self._hello_due:
            self._hello_due = now + (REMINDER_PERIOD if self._answered else HELLO_PERIOD)
            out.append(self._frame(now, Kind.HELLO, self._hello().pack()))
        if self._peer_life and now >= self._beat_due:
            self._beat_due = now + BEAT_PERIOD
            out.append(self._frame(now, Kind.BEAT, self._beat(now).pack()))
            out += self._asks(now)
        out += self._due_copies(now)
        while (waiting := self._outbox.take(now)) is not None:
            stamp, part = waiting
            self.counts[part.topic].sent += part.part == part.parts - 1
            self.counts[part.topic].sent_bytes += len(part.payload)
            out.append(self._frame(stamp, Kind.DATA, part.pack(), counted=True))
            if self._crossings[part.topic].priority is Priority.HALT and len(self._copies) < MOST_COPIES:
                self._copies += [(now + after, out[-1]) for after in HALT_COPIES]
        return out

    def _due_copies(self, now: float) -> list[bytes]:
        """Datagrams of halts that are sent once more now: nobody may repeat one that was sent by hand."""
        due = [datagram for at, datagram in self._copies if at <= now]
        if due:
            self._copies = [copy for copy in self._copies if copy[0] > now]
        for datagram in due:
            self._outbox.spend(len(datagram))
        return due

    def next_due(self, now: float) -> float:
        """When `poll` has something to send [s]."""
        beat = self._beat_due if self._peer_life else math.inf
        copies = min((at for at, _ in self._copies), default=math.inf)
        return min(self._hello_due, beat, copies, self._outbox.next_due(now))

    def dropped(self, topic: int) -> int:
        """Messages of a topic that were not sent."""
        return self._outbox.dropped(topic)

    def lost(self, topic: int) -> int:
        """Messages of a topic that the peer could not send again."""
        return self._inboxes[topic].lost if topic in self._inboxes else 0

    def _hello(self) -> Hello:
        own = self._own
        kept = tuple(self._kept_row(topic) for topic in self._line.kept)
        return Hello(self._nonce, self._peer_nonce, self._peer_life, own.host, own.version, own.robot, kept)

    def _beat(self, now: float) -> Beat:
        held = max(0.0, now - self.watch.beat_arrived)
        rows = tuple(self._kept_row(topic) for topic, kept in self._line.kept.items() if kept.latest)
        return Beat(self._peer_life, self.watch.beat_stamp, held, self.watch.age(now), rows, self._line.refused)

    def _kept_row(self, topic: int) -> Kept:
        """What was sent of a topic; what still waits is neither to be asked for nor to be given up."""
        kept, first = self._line.kept[topic], self._outbox.first_waiting(topic)
        return Kept(topic, min(kept.oldest, first), first - 1) if first else Kept(topic, kept.oldest, kept.latest)

    def _asks(self, now: float) -> list[bytes]:
        pause = max(LEAST_PAUSE, 1.25 * self.watch.round_trip)
        wants = [want for inbox in self._inboxes.values() for want in inbox.wants(now, pause)]
        chunks = [wants[at : at + MOST_ROWS] for at in range(0, len(wants), MOST_ROWS)]
        return [self._frame(now, Kind.ASK, pack_wants(chunk)) for chunk in chunks]

    def _frame(self, stamp: float, kind: Kind, body: bytes, counted: bool = False) -> bytes:
        self._number += 1
        if not counted:
            self._outbox.spend(len(body) + OVERHEAD)
        own = self._own
        return encode(
            Frame(kind, own.role, own.interface, self._life, self._number, stamp, body), own.key, own.encrypts
        )

    # in ------------------------------------------------------------------------------------------------------

    def receive(self, now: float, datagram: bytes) -> list[Arrival]:
        """Take a datagram from the peer's address; the messages to deliver now. A refused one is counted."""
        frame = decode(datagram, self._own.key, self._own.encrypts)
        result = frame if isinstance(frame, Fault) else self._take(now, frame)
        if isinstance(result, Fault):
            self.faults[result] += 1
            return []
        return result

    def _take(self, now: float, frame: Frame) -> list[Arrival] | Fault:
        if frame.role == self._own.role:
            return Fault.OWN_SIDE
        if frame.kind is Kind.HELLO:
            return self._on_hello(now, frame)
        if frame.interface != self._own.interface:
            return Fault.OTHER_INTERFACE
        if not self._peer_life or frame.life != self._peer_life:
            return Fault.OTHER_LIFE
        if not self._window.accept(frame.number):
            return [] if self._is_copy(now, frame) else Fault.REPEATED
        self.watch.hear(now)
        handle = {Kind.BEAT: self._on_beat, Kind.DATA: self._on_data, Kind.ASK: self._on_ask}[frame.kind]
        arrivals = handle(now, frame)
        self.watch.update(now)
        return arrivals

    def _is_copy(self, now: float, frame: Frame) -> bool:
        """Whether a datagram that came before is one of the copies that a halt's sender makes."""
        data = Data.unpack(frame.body) if frame.kind is Kind.DATA else None
        if data is None or data.topic not in self._inboxes:
            return False
        halt = self._crossings[data.topic].priority is Priority.HALT
        return halt and self.watch.lateness(now, frame.stamp) <= COPIES_AGE

    def _on_hello(self, now: float, frame: Frame) -> list[Arrival] | Fault:
        hello = Hello.unpack(frame.body)
        if hello is None:
            return Fault.MALFORMED
        if frame.life == self._peer_life:
            if not self._window.accept(frame.number):
                return Fault.REPEATED
            self.watch.hear(now)
        self._peer_nonce = hello.nonce
        if frame.life != self._peer_life:
            if hello.heard_nonce != self._nonce:
                return []  # to be opened by the next one, which echoes this side's hello
            self._judge(now, frame, hello)
            if self.watch.mismatch:
                return []
            self._open(now, frame)
        self._answered = hello.heard_life == self._life
        return self._on_kept(hello.kept)

    def _judge(self, now: float, frame: Frame, hello: Hello) -> None:
        own = self._own
        self.watch.mismatch = ""
        if frame.interface != own.interface:
            self.watch.mismatch = (
                f"topics or messages differ: {own.host} is {own.version}, {hello.host} {hello.version}"
            )
        elif hello.host != self.peer:
            self.watch.mismatch = f"the host there is {hello.host}, in the hosts file {self.peer}"
        elif hello.robot != own.robot:
            self.watch.mismatch = f"the robot differs: {own.host} has {own.robot}, {hello.host} {hello.robot}"
        if self.watch.mismatch:
            self._peer_life, self._answered = 0, False
            self.watch.hear(now)

    def _open(self, now: float, frame: Frame) -> None:
        """A new life of the peer: nothing of the one before is accepted any more."""
        self._peer_life, self._window = frame.life, ReplayWindow(frame.number)
        self._nonce, self._hello_due = self._draw(), now
        ours = bool(self._own.role)
        self._inboxes = {
            topic: TopicInbox(topic, crossing)
            for topic, crossing in enumerate(self._crossings)
            if self._line.upward[topic] != ours
        }
        self.watch.meet(now)

    def _on_beat(self, now: float, frame: Frame) -> list[Arrival] | Fault:
        beat = Beat.unpack(frame.body)
        if beat is None:
            return Fault.MALFORMED
        ours = beat.heard_life == self._life
        echo = beat.heard_stamp if ours and beat.heard_stamp > 0.0 else None
        self.watch.on_beat(now, frame.stamp, beat.age if ours else math.inf, echo, beat.held, beat.refused)
        return self._on_kept(beat.kept)

    def _on_kept(self, rows: Sequence[Kept]) -> list[Arrival]:
        arrivals = []
        for row in rows:
            inbox = self._inboxes.get(row.topic)
            if inbox is not None and self._crossings[row.topic].order.is_repaired:
                durable = self._line.topics[row.topic].qos.value.durable
                arrivals += self._delivered(row.topic, inbox.on_kept(row, durable))
        return arrivals

    def _on_data(self, now: float, frame: Frame) -> list[Arrival] | Fault:
        data = Data.unpack(frame.body)
        inbox = self._inboxes.get(data.topic) if data is not None else None
        if data is None or inbox is None:
            return Fault.MALFORMED
        whole = inbox.add(now, frame.stamp, data)
        if whole is None:
            return Fault.MALFORMED
        self.watch.update(now)
        counts, crossing = self.counts[data.topic], self._crossings[data.topic]
        if crossing.moves and self.watch.state is not LinkState.FRESH:
            counts.withheld += len(whole)
            return []
        fresh = [one for one in whole if not crossing.late or self.watch.lateness(now, one[0]) <= crossing.late]
        counts.late += len(whole) - len(fresh)
        return self._delivered(data.topic, fresh)

    def _delivered(self, topic: int, messages: list[Delivered]) -> list[Arrival]:
        self.counts[topic].delivered += len(messages)
        self.counts[topic].delivered_bytes += sum(len(message) for _, message in messages)
        return [Arrival(topic, message) for _, message in messages]

    def _on_ask(self, now: float, frame: Frame) -> list[Arrival] | Fault:
        wants = unpack_wants(frame.body)
        if wants is None:
            return Fault.MALFORMED
        left = MOST_AGAIN
        for (topic, number), gaps in groupby(wants, lambda want: (want.topic, want.number)):
            left -= self._send_again(now, topic, number, gaps) if left > 0 else 0
        return []

    def _send_again(self, now: float, topic: int, number: int, gaps: Iterable[Want]) -> int:
        """Send parts of a kept message again unless some still wait; their bytes."""
        kept = self._line.kept.get(topic)
        message = kept.get(number) if kept is not None else None
        if message is None or self._outbox.waits(topic, number):
            return 0
        whole = split(topic, number, message)
        parts = [part for gap in gaps for part in whole[gap.first : gap.first + gap.parts]]
        if parts:
            self._outbox.put(now, topic, parts, again=True)
        return sum(len(part.payload) for part in parts)
