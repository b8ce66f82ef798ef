"""Robot's end of the operation log: each operation exactly once, in order [US5046022 claims 7, 13, 20].

What belongs here: order, duplicates, epochs, expiry by receipt time. What must never enter: the effect of an
operation on the plan (`executor.py`), clocks, sockets.

Use: for each `Delivery` of `receive`, apply the operation if `refusal` is empty. If the plan cannot take it, call
`refuse(number, reason)`. Publish `acknowledgement` in every report. For a journal, store `position` with the effect of
the operation and make a new receiver from it: nothing is delivered twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from telerobot_nodes.core.protocol import OperationKind
from telerobot_nodes.plan.log.operations import EPOCHS, Operation

REORDER_CAPACITY = 4096  # operations held while an earlier one is missing; later ones will be retransmitted

OpenPolicy = Callable[[Operation, "LogPosition"], str]


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


def open_when_free(operation: Operation, position: LogPosition) -> str:
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
        self._waiting: dict[int, Delivery] = {}
        self._refused_number = 0
        self._refusal = ""
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
        return Acknowledgement(self._position, self._refused_number, self._refusal)

    def receive(self, now: float, operations: Iterable[Operation]) -> list[Delivery]:
        """Take received operations; returns those that are due now, in order, and those that were refused."""
        due: list[Delivery] = []
        for operation in operations:
            self._take(now, operation, due)
        return due

    def refuse(self, number: int, reason: str) -> None:
        """Record that the plan could not take operation `number` of the present epoch.

        An operation that is refused only because it follows a refused one is reported with that one's reason.
        """
        if number != self._refused_number + 1 or not self._cause:
            self._cause = reason
            self._refusal = reason
        else:
            self._refusal = f"follows a refused operation: {self._cause}"
        self._refused_number = number

    def open(self, agent: str) -> None:
        """Begin the next epoch for `agent` (hand-off decided by the robot); the log of the old epoch ends."""
        self._begin(LogPosition(self._position.epoch + 1, agent, 0))

    def _take(self, now: float, operation: Operation, due: list[Delivery]) -> None:
        position = self._position
        if operation.epoch > position.epoch:
            self._claim(now, operation, due)
        elif operation.epoch < position.epoch:
            self._reject(now, operation, f"epoch: {operation.epoch} is over; allowed: {position.epoch}", due)
        elif operation.number <= position.applied_number or operation.number in self._waiting:
            self.doubles += 1
        elif operation.kind is not OperationKind.AUTHORITY and operation.agent != position.authority:
            reason = f"agent: {operation.agent} has no authority; allowed: {position.authority or 'nobody yet'}"
            self._reject(now, operation, reason, due)
        elif operation.number <= position.applied_number + self._capacity:
            self._waiting[operation.number] = Delivery(operation, now)
            self._advance(now, due)

    def _claim(self, now: float, operation: Operation, due: list[Delivery]) -> None:
        if operation.kind is not OperationKind.AUTHORITY or operation.number != 1:
            self.early += 1
            return
        last = self._position.epoch + EPOCHS
        reason = f"epoch: {operation.epoch} is too high; allowed: up to {last}" if operation.epoch > last else ""
        reason = reason or self._may_open(operation, self._position)
        if reason:
            self._reject(now, operation, reason, due)
            return
        self._begin(LogPosition(operation.epoch, operation.agent, 1))
        due.append(Delivery(operation, now))

    def _reject(self, now: float, operation: Operation, reason: str, due: list[Delivery]) -> None:
        self.strangers += 1
        due.append(Delivery(operation, now, reason))

    def _begin(self, position: LogPosition) -> None:
        self._position = position
        self._waiting.clear()
        self._refused_number = 0
        self._refusal = self._cause = ""

    def _advance(self, now: float, due: list[Delivery]) -> None:
        while True:
            delivery = self._waiting.pop(self._position.applied_number + 1, None)
            if delivery is None:
                return
            due.append(self._step(now, delivery))

    def _step(self, now: float, delivery: Delivery) -> Delivery:
        operation, position = delivery.operation, self._position
        self._position = LogPosition(position.epoch, position.authority, operation.number)
        late = now - delivery.received - operation.window
        if operation.window > 0.0 and late > 0.0:
            reason = f"window: expired {late:.3f} s ago; allowed: {operation.window:g} s after receipt"
            self.refuse(operation.number, reason)
            return Delivery(operation, delivery.received, reason)
        if operation.kind is OperationKind.AUTHORITY and operation.agent != position.authority:
            self.open(operation.agent)
        return delivery
