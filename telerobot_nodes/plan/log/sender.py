"""Operator's end of the operation log: numbers operations and retransmits them [US5046022 claims 7, 13].

What belongs here: numbering, redundancy, retransmission, back-pressure. What must never enter: the meaning of
operations, clocks, sockets.

Two defences against loss. Each small operation is sent in `copies` consecutive messages, so that a lost message costs
no round trip. An operation that is not acknowledged after the measured round trip and a margin is retransmitted,
oldest first, without end: the link may be down for minutes.

Operations without points, which may be stops, go before points, in a message of their own. Points are sent no faster
than the link carries them (`send_rate.py`), so that nothing waits behind them on the link. Who makes operations of
points asks `room_for_points` first, so that a later operation is not numbered behind points that are not yet sent.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field, replace

from telerobot_nodes.errors import InvalidValueError, QueueFullError
from telerobot_nodes.core.protocol import OperationKind
from telerobot_nodes.plan.log.operations import MOST_COPIES, Operation
from telerobot_nodes.plan.log.points import PlanPoints
from telerobot_nodes.plan.log.send_rate import RateConfig, SendRate

OPERATION_BYTES = 90  # about, on the wire, without points
WAITED = 0.15  # [s] longer than until the next report: the operation waited for an earlier one
LONGEST_PATIENCE = 1.3  # [s] until an operation is retransmitted again, if the round trip is not longer
POINT_BYTES = 66  # about, on the wire: time, pose, timing


@dataclass(frozen=True)
class SenderConfig:
    """Bounds of the sending end; validated when made."""

    max_unacknowledged: int = 512  # operations
    message_operations: int = 64  # most operations per message (`PlanOperations.msg`)
    message_bytes: int = 12000  # about; large messages are split by the transport and lost more often
    copies: int = 3  # messages that each small operation is sent in
    copy_bytes: int = 1500  # about; larger operations are sent once, and retransmitted when lost
    first_timeout: float = 1.0  # [s] until a round trip is measured
    margin: float = 0.15  # [s] beyond the round trip before retransmission: report period and jitter
    longest_wait: float = 10.0  # [s] beyond the round trip
    rate: RateConfig = field(default_factory=RateConfig)  # of points

    def __post_init__(self) -> None:
        for name in ("max_unacknowledged", "message_operations", "message_bytes", "copies"):
            if getattr(self, name) < 1:
                raise InvalidValueError(f"sender.{name}", getattr(self, name), "allowed: 1 or more")


@dataclass(slots=True)
class _Pending:
    operation: Operation
    bytes: int
    sent: list[float] = field(default_factory=list)  # [s] of each copy

    @property
    def copies(self) -> int:
        """How often it was sent."""
        return len(self.sent)


class RoundTrip:
    """Round trip on the link: the least of recent samples.

    A sample is the time from sending to acknowledgement of the copy that the robot names, without the time that it
    lay there: neither losses nor repetitions make it longer (as with TCP's timestamps and RTCP's delay since the last
    report) [BormanEtAl2014, SchulzrinneEtAl2003].
    """

    def __init__(self, samples: int = 16) -> None:
        self._samples: deque[float] = deque(maxlen=samples)

    def add(self, sample: float) -> None:
        """Take one sample [s]. Points that wait on the link lengthen it, hence the least."""
        self._samples.append(sample)

    @property
    def value(self) -> float:
        """Measured round trip [s]; -1 if none."""
        return min(self._samples) if self._samples else -1.0

    @property
    def spread(self) -> float:
        """Median excess over the least [s]: jitter."""
        if not self._samples:
            return 0.0
        ordered = sorted(self._samples)
        return ordered[len(ordered) // 2] - ordered[0]


class Sender:
    """Operations of one epoch by one agent; `poll` returns what to send now."""

    def __init__(self, epoch: int, agent: str, config: SenderConfig | None = None, number: int = 0) -> None:
        self._config = config or SenderConfig()
        self.epoch = epoch
        self.agent = agent
        self._pending: deque[_Pending] = deque()
        self._last_number = number
        self.round_trip = RoundTrip()
        self.rate = SendRate(self._config.rate)
        self.retransmitted = 0

    @property
    def unacknowledged(self) -> int:
        """Operations submitted and not acknowledged."""
        return len(self._pending)

    @property
    def room(self) -> int:
        """Operations that may still be submitted."""
        return self._config.max_unacknowledged - len(self._pending)

    def room_for_points(self, now: float) -> int:
        """Points that may be submitted now, to be sent at once."""
        waiting = sum(entry.bytes for entry in self._pending if not entry.copies and entry.operation.points is not None)
        return max(int((self.rate.room(now) - waiting - OPERATION_BYTES) / POINT_BYTES), 0) if self.room > 0 else 0

    @property
    def last_number(self) -> int:
        """Number of the latest operation."""
        return self._last_number

    def submit(
        self,
        kind: OperationKind,
        points: PlanPoints | None = None,
        after_seq: int = 0,
        rate: float = 1.0,
        window: float = 0.0,
        agent: str = "",
        urgent: bool = False,
        halt_count: int = 0,
    ) -> Operation:
        """Number an operation and keep it until acknowledged.

        Raises QueueFullError when too many are unacknowledged (nothing changes), unless `urgent`: a stop must not
        wait behind points. Raises InvalidValueError naming the field.
        """
        if self.room <= 0 and not urgent:
            raise QueueFullError(f"operations: {len(self._pending)} not acknowledged; allowed: {self._config.max_unacknowledged}")
        operation = Operation(
            self.epoch, self._last_number + 1, kind, agent or self.agent, points, after_seq, rate, window, halt_count
        )
        self._last_number += 1
        size = OPERATION_BYTES + (len(points) * POINT_BYTES if points is not None else 0)
        self._pending.append(_Pending(operation, size))
        return operation

    def poll(self, now: float) -> list[Operation]:
        """Operations to send in one message now, in order of number; none if empty."""
        limit = now - self.timeout()
        overdue = [entry for entry in self._pending if entry.copies and self._overdue(entry, now)]
        if self.rate.credit(now) <= 0.0:
            overdue = [entry for entry in overdue if entry.operation.points is None]
        fresh = [entry for entry in self._pending if not entry.copies]
        repeated = [e for e in self._pending if 0 < e.copies < self._copies(e) and limit <= e.sent[-1] < now]
        due = overdue + fresh + repeated
        if any(entry.operation.points is None for entry in fresh):  # perhaps a stop
            due = [entry for entry in due if entry.operation.points is None]
        return self._message(now, due)

    def _message(self, now: float, entries: list[_Pending]) -> list[Operation]:
        """The first of `entries` that fit into one message, in order of number."""
        chosen: list[_Pending] = []
        left = self._config.message_bytes
        for entry in entries:
            if len(chosen) == self._config.message_operations:
                break
            if entry.bytes <= left or not chosen:
                left -= entry.bytes
                chosen.append(entry)
                self._mark(entry, now)
        chosen.sort(key=lambda entry: entry.operation.number)
        return [_numbered(entry) for entry in chosen]

    def acknowledge(self, now: float, applied_number: int, applied_copy: int, applied_age: float) -> None:
        """Drop the operations up to `applied_number`: the robot applied or refused them.

        Of the last one it received `applied_copy` first, `applied_age` [s] before it sent this.
        """
        entries: list[_Pending] = []
        while self._pending and self._pending[0].operation.number <= applied_number:
            entries.append(self._pending.popleft())
        if not entries or not entries[-1].sent:
            return
        newest = entries[-1]
        if newest.operation.number == applied_number and applied_copy < min(newest.copies, MOST_COPIES):
            sent = newest.sent[applied_copy]
            round_trip = now - sent - applied_age
        else:
            sent, round_trip = newest.sent[0], math.nan
        if applied_age >= 0.0 and 0.0 <= round_trip < math.inf:
            self.round_trip.add(round_trip)
        of_points = [entry for entry in entries if entry.operation.points is not None]
        size = sum(entry.bytes for entry in of_points)
        carried = sum(entry.bytes * min(entry.copies, self._copies(entry)) for entry in of_points)
        lost = math.nan
        if applied_copy >= self._copies(newest) or applied_age > WAITED:
            lost = max((entry.sent[0] for entry in entries if self._repeated(entry)), default=math.nan)
        self.rate.acknowledged(now, size, sent, round_trip, lost, carried)

    def timeout(self) -> float:
        """Time [s] after which an unacknowledged operation is retransmitted."""
        value = self.round_trip.value
        if value < 0.0:
            return self._config.first_timeout
        beyond = 2.0 * self.round_trip.spread + self._config.margin + self.rate.drain_time
        return value + min(beyond, self._config.longest_wait)

    def next_time(self, now: float) -> float:
        """Time [s] of the next poll: `now` if something is due, infinity if nothing is pending."""
        times = [self._due(entry, now) for entry in self._pending]
        return max(now, min(times)) if times else float("inf")

    def _due(self, entry: _Pending, now: float) -> float:
        if entry.copies < self._copies(entry):
            return now
        return entry.sent[-1] + self._patience(entry)

    def _overdue(self, entry: _Pending, now: float) -> bool:
        return entry.sent[-1] < now - self._patience(entry)

    def _patience(self, entry: _Pending) -> float:
        """Time [s] without acknowledgement after which an operation is retransmitted; longer the second time."""
        timeout = self.timeout()
        return max(timeout, min(2.0 * timeout, LONGEST_PATIENCE)) if self._repeated(entry) else timeout

    def _repeated(self, entry: _Pending) -> bool:
        return entry.copies > self._copies(entry)

    def _copies(self, entry: _Pending) -> int:
        return self._config.copies if entry.bytes <= self._config.copy_bytes else 1

    def _mark(self, entry: _Pending, now: float) -> None:
        self.retransmitted += entry.copies >= self._copies(entry)
        if entry.operation.points is not None:
            self.rate.sent(now, entry.bytes, again=entry.copies > 0)
        entry.sent.append(now)


def _numbered(entry: _Pending) -> Operation:
    """The operation as its present copy."""
    again = min(entry.copies - 1, MOST_COPIES)
    return replace(entry.operation, copy=again) if again else entry.operation
