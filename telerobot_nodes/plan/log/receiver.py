"""Robot's end of the operation log: each operation exactly once, in order [US5046022 claims 7, 13, 20].

What belongs here: order, duplicates, epochs, expiry by receipt time. What must never enter: the effect of an
operation on the plan (`executor.py`), clocks, sockets.

Use: for each `Delivery` of `deliver`, apply the operation if `refusal` is empty. If the plan cannot take it, call
`refuse(number, reason)` before the next one: an operation is acknowledged when the next one is asked for. Publish
`acknowledgement` in every report. For a journal, store `position` with the effect of the operation and make a new
receiver from it: nothing is delivered twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from telerobot_nodes.core.protocol import OperationKind
from telerobot_nodes.plan.log.operations import EPOCHS, Operation, UnreadableOperation

REORDER_CAPACITY = 4096  # operations held while an earlier one is missing; later ones will be retransmitted
REORDER_POINTS = 1 << 17  # points in them

Received = Operation | UnreadableOperation
OpenPolicy = Callable[[float, Operation, "LogPosition"], str]  # time [s], claim, position -> why not, empty if allowed


@dataclass(frozen=True)
class LogPosition:
    """Position in the log: epoch, its holder, last operation applied or refused."""

    epoch: int = 0
    authority: str = ""
    applied_number: int = 0


@dataclass(frozen=True)
class Delivery:
    """An operation to apply, or one that was refused: `refusal` is not empty."""

    operation: Operation
    received: float  # [s] host monotonic clock, first receipt
    refusal: str = ""


@dataclass(frozen=True)
class Acknowledgement:
    """Confirmation by the robot (`ExecutorState.msg`: epoch, authority, applied, refused, refusal)."""

    position: LogPosition
    refused_number: int
    refusal: str
    applied_copy: int = 0  # of the latest operation applied or refused, as it was received first
    applied_received: float = -1.0  # [s] when; negative: not known


def open_when_free(_now: float, operation: Operation, position: LogPosition) -> str:
    """Default policy: a claim is allowed if the plan is free or the agent's own; returns why not, empty if allowed."""
    if position.authority in ("", operation.agent):
        return ""
    return f"authority: {operation.agent} claims it, {position.authority} holds it; allowed: consent or a supervisor"


class Receiver:
    """Orders and filters operations; each one of an epoch is delivered exactly once, in order of number."""

    def __init__(
        self,
        position: LogPosition | None = None,
        may_open: OpenPolicy = open_when_free,
        capacity: int = REORDER_CAPACITY,
    ) -> None:
        self._position = position or LogPosition()
        self._may_open = may_open
        self._capacity = capacity
        self._waiting: dict[int, tuple[Received, float]] = {}  # with the time [s] of first receipt
        self._waiting_points = 0
        self._refused_number = 0
        self._refusal = ""
        self._applied = (0, -1.0)  # copy and time of receipt [s] of the latest operation applied or refused
        self._cause = ""  # reason of the first of consecutive refusals
        self.doubles = 0  # operations received before
        self.strangers = 0  # operations of another agent or of an older epoch
        self.early = 0  # operations that overtook the claim of their epoch; they will be retransmitted

    @property
    def position(self) -> LogPosition:
        """Position in the log; belongs in the journal."""
        return self._position

    @property
    def waiting(self) -> int:
        """Operations held because an earlier one is missing."""
        return len(self._waiting)

    @property
    def acknowledgement(self) -> Acknowledgement:
        """Confirmation for the next report."""
        return Acknowledgement(self._position, self._refused_number, self._refusal, *self._applied)

    @property
    def overtaking(self) -> list[Operation]:
        """Operations without points that wait for an earlier one, in order: a stop among them should act at once."""
        found = [entry for entry, _ in self._waiting.values() if isinstance(entry, Operation) and entry.points is None]
        return sorted(found, key=lambda operation: operation.number)

    def receive(self, now: float, operations: Iterable[Received]) -> list[Delivery]:
        """Take received operations; returns those that are due now, in order, and those that were refused."""
        return list(self.deliver(now, operations))

    def deliver(self, now: float, operations: Iterable[Received]) -> Iterator[Delivery]:
        """Like `receive`, one by one: an operation is acknowledged after the caller's loop has dealt with it."""
        for operation in operations:
            yield from self._take(now, operation)

    def refuse(self, number: int, reason: str, alone: bool = False) -> None:
        """Record that the plan could not take operation `number` of the present epoch.

        An operation that is refused only because it follows a refused one is reported with that one's reason. `alone`:
        it depends on no other, and none on it. A refusal that comes after that of a later operation is not reported.
        """
        if number < self._refused_number:
            return
        if number != self._refused_number + 1:
            self._cause = ""
        self._refusal = f"follows a refused operation: {self._cause}" if self._cause and not alone else reason
        self._cause = self._cause or ("" if alone else reason)
        self._refused_number = number

    def open(self, agent: str) -> None:
        """Begin the next epoch for `agent` (hand-off decided by the robot); the log of the old epoch ends."""
        self._begin(LogPosition(self._position.epoch + 1, agent, 0))

    def _take(self, now: float, operation: Received) -> Iterator[Delivery]:
        position = self._position
        if operation.epoch > position.epoch:
            yield from self._claim(now, operation)
        elif operation.epoch < position.epoch:
            yield from self._reject(now, operation, f"epoch: {operation.epoch} is over; allowed: {position.epoch}")
        elif operation.agent != position.authority:
            reason = f"agent: {operation.agent} has no authority; allowed: {position.authority or 'nobody yet'}"
            yield from self._reject(now, operation, reason)
        elif operation.number <= position.applied_number or operation.number in self._waiting:
            self.doubles += 1
        elif self._has_room(operation):
            self._waiting[operation.number] = operation, now
            self._waiting_points += _points(operation)
            yield from self._advance(now)

    def _has_room(self, operation: Received) -> bool:
        """True when an operation may wait; the next one always may."""
        ahead = operation.number - self._position.applied_number
        return ahead == 1 or (ahead <= self._capacity and self._waiting_points + _points(operation) <= REORDER_POINTS)

    def _claim(self, now: float, operation: Received) -> Iterator[Delivery]:
        if not isinstance(operation, Operation) or not _is_claim(operation):
            self.early += 1
            return
        last = self._position.epoch + EPOCHS
        reason = f"epoch: {operation.epoch} is too high; allowed: up to {last}" if operation.epoch > last else ""
        reason = reason or self._may_open(now, operation, self._position)
        if reason:
            yield from self._reject(now, operation, reason)
            return
        self._begin(LogPosition(operation.epoch, operation.agent, 1))
        self._applied = operation.copy, now
        yield Delivery(operation, now)

    def _reject(self, now: float, operation: Received, reason: str) -> Iterator[Delivery]:
        self.strangers += 1
        if isinstance(operation, Operation):
            yield Delivery(operation, now, reason)

    def _begin(self, position: LogPosition) -> None:
        self._position = position
        self._waiting.clear()
        self._waiting_points = 0
        self._refused_number = 0
        self._refusal = self._cause = ""
        self._applied = (0, -1.0)

    def _advance(self, now: float) -> Iterator[Delivery]:
        """Deliver what is next; the position follows when the caller has dealt with it."""
        position = self._position
        while (entry := self._waiting.get(position.applied_number + 1)) is not None:
            operation, received = entry
            reason = _reason_against(now, operation, received)
            if reason:
                self.refuse(operation.number, reason, isinstance(operation, Operation) and operation.points is None)
            if isinstance(operation, Operation):
                yield Delivery(operation, received, reason)
            if self._position != position:
                return  # the caller ended the epoch
            del self._waiting[operation.number]
            self._waiting_points -= _points(operation)
            position = self._position = LogPosition(position.epoch, position.authority, operation.number)
            self._applied = operation.copy, received


def _is_claim(operation: Operation) -> bool:
    return operation.kind is OperationKind.AUTHORITY and operation.number == 1


def _points(operation: Received) -> int:
    points = operation.points if isinstance(operation, Operation) else None
    return len(points) if points is not None else 0


def _reason_against(now: float, operation: Received, received: float) -> str:
    """Why an operation whose turn has come is refused; empty if it is delivered."""
    if isinstance(operation, UnreadableOperation):
        return operation.reason
    late = now - received - operation.window
    if operation.window > 0.0 and late > 0.0:
        return f"window: expired {late:.3f} s ago; allowed: {operation.window:g} s after receipt"
    if operation.kind is OperationKind.AUTHORITY:
        return "operation.kind: AUTHORITY inside an epoch; allowed: as number 1 of a new epoch"
    return ""
