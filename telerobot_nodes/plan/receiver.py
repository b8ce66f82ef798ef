"""The robot's end of the operation log: exactly once, in order, whatever the link does [US5046022 claims 7, 13, 20].

What belongs here: order, doubles, epochs, expiry by receipt time. What must never enter: what an operation does to
the plan (`executor.py`), clocks, sockets.

Use: for each `Delivery` of `receive`, apply the operation when `refusal` is empty; when the plan cannot take it,
call `refuse(number, reason)`. Publish `acknowledgement` in every report. For a journal, store `position` with the
effect of the operation and make a new receiver from it: nothing is delivered twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from telerobot_nodes.plan.operations import Operation, OperationKind

REORDER_CAPACITY = 4096  # operations held while an earlier one is missing; what is beyond will be sent again

OpenPolicy = Callable[[Operation, "LogPosition"], str]


@dataclass(frozen=True)
class LogPosition:
    """How far the log was followed: epoch in force, who holds it, last operation applied or refused."""

    epoch: int = 0
    authority: str = ""
    applied_number: int = 0


@dataclass(frozen=True)
class Delivery:
    """One operation whose turn has come, or which was turned away; `refusal` empty: apply it."""

    operation: Operation
    received: float  # [s] host monotonic clock, first receipt
    refusal: str = ""


@dataclass(frozen=True)
class Acknowledgement:
    """What the robot confirms (`ExecutorState.msg`: epoch, authority, applied, refused, refusal)."""

    position: LogPosition
    refused_number: int
    refusal: str


def open_when_free(operation: Operation, position: LogPosition) -> str:
    """Default policy for a claim: the plan is free or already the agent's own; returns why not, or nothing."""
    if position.authority in ("", operation.agent):
        return ""
    return f"authority: {operation.agent} asked, {position.authority} holds it; allowed: consent or a supervisor"


class Receiver:
    """Orders and filters operations; every one of an epoch is delivered exactly once, in order of number."""

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
        self.doubles = 0  # operations that had come before
        self.strangers = 0  # operations of another agent or of an epoch that is over
        self.early = 0  # operations that overtook the claim of their epoch; they will be sent again

    @property
    def position(self) -> LogPosition:
        """How far the log was followed; belongs in the journal."""
        return self._position

    @property
    def waiting(self) -> int:
        """Operations held because an earlier one is missing."""
        return len(self._waiting)

    @property
    def acknowledgement(self) -> Acknowledgement:
        """What to report."""
        return Acknowledgement(self._position, self._refused_number, self._refusal)

    def receive(self, now: float, operations: Iterable[Operation]) -> list[Delivery]:
        """Take in what the link brought; returns what is due now, in order, and what was turned away."""
        due: list[Delivery] = []
        for operation in operations:
            self._take(now, operation, due)
        return due

    def refuse(self, number: int, reason: str) -> None:
        """Record that the plan could not take operation `number` of the epoch in force.

        What is refused only because it follows one that was refused is told with that one's reason.
        """
        if number != self._refused_number + 1 or not self._cause:
            self._cause = reason
            self._refusal = reason
        else:
            self._refusal = f"it follows what was refused: {self._cause}"
        self._refused_number = number

    def open(self, agent: str) -> None:
        """Begin the next epoch for `agent` (hand-off decided on the robot's side); the old epoch's log ends."""
        self._begin(LogPosition(self._position.epoch + 1, agent, 0))

    def _take(self, now: float, operation: Operation, due: list[Delivery]) -> None:
        position = self._position
        if operation.epoch > position.epoch:
            self._claim(now, operation, due)
        elif operation.epoch < position.epoch:
            self._turn_away(now, operation, f"epoch: {operation.epoch} is over; allowed: {position.epoch}", due)
        elif operation.number <= position.applied_number or operation.number in self._waiting:
            self.doubles += 1
        elif operation.kind is not OperationKind.AUTHORITY and operation.agent != position.authority:
            reason = f"agent: {operation.agent} has no authority; allowed: {position.authority or 'nobody yet'}"
            self._turn_away(now, operation, reason, due)
        elif operation.number <= position.applied_number + self._capacity:
            self._waiting[operation.number] = Delivery(operation, now)
            self._advance(now, due)

    def _claim(self, now: float, operation: Operation, due: list[Delivery]) -> None:
        if operation.kind is not OperationKind.AUTHORITY or operation.number != 1:
            self.early += 1
            return
        reason = self._may_open(operation, self._position)
        if reason:
            self._turn_away(now, operation, reason, due)
            return
        self._begin(LogPosition(operation.epoch, operation.agent, 1))
        due.append(Delivery(operation, now))

    def _turn_away(self, now: float, operation: Operation, reason: str, due: list[Delivery]) -> None:
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
