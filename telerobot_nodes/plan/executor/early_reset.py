"""When a stop may be ended, and by whom; RESET before its turn, at an executor restarted while the e-stop is latched.

Such an executor takes no operation before it knows where the arm came to rest; the arm, its e-stop latched, comes to
rest on no path before the RESET.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from telerobot_nodes.core.protocol import ControlState, OperationKind
from telerobot_nodes.errors import AuthorityError, InvalidValueError
from telerobot_nodes.plan.log import ControlReport, LogPosition, Operation, UnreadableOperation

EndPolicy = Callable[[Operation, ControlReport], str]  # why its agent may not end the stop in force; empty if it may


def anyone_ends(_operation: Operation, _control: ControlReport) -> str:
    """Default policy: who has authority ends every stop."""
    return ""


def check_end(operation: Operation, control: ControlReport, may_end: EndPolicy) -> None:
    """Raise AuthorityError when the operation would end a halt or an e-stop that its agent may not end."""
    if refusal := may_end(operation, control) if control.halted or control.estop else "":
        raise AuthorityError(refusal)


def check_resume(operation: Operation, control: ControlReport, may_end: EndPolicy) -> None:
    """Raise InvalidValueError unless the operation names the present halt, and no e-stop is latched.

    Raises AuthorityError when its agent may not end it.
    """
    count, present = operation.halt_count, control.halt_count
    if count != present if control.halted else count > present:
        raise InvalidValueError("operation.halt_count", count, f"allowed: {present}, the present count of halts")
    if control.estop:
        raise InvalidValueError("operation.kind", "RESUME", "allowed: after a reset of the e-stop")
    check_end(operation, control, may_end)


def check_request(operation: Operation, control: ControlReport | None, may_end: EndPolicy) -> None:
    """Raise InvalidValueError when a RESET or TARE has no object, AuthorityError when its agent may not send it."""
    kind = operation.kind
    if kind is OperationKind.RESET:
        if not (control and control.state is ControlState.FAULT):
            raise InvalidValueError("operation.kind", "RESET", "allowed: while the e-stop or a fault is latched")
        check_end(operation, control, may_end)
    if kind is OperationKind.TARE and not (control and control.resting):
        raise InvalidValueError("operation.kind", "TARE", "allowed: while the arm rests")


class EarlyReset:
    """Finds each RESET once, whatever is sent again."""

    def __init__(self, may_end: EndPolicy = anyone_ends) -> None:
        self._may_end = may_end
        self._latest = (0, 0)  # epoch and number

    def take(
        self,
        operations: Iterable[Operation | UnreadableOperation],
        position: LogPosition,
        control: ControlReport | None,
    ) -> list[Operation]:
        """The new RESETs of the agent in control that have not had their turn; none while no e-stop is latched."""
        found: list[Operation] = []
        if control is None or not control.estop:
            return found
        for operation in operations:
            if not isinstance(operation, Operation) or operation.kind is not OperationKind.RESET:
                continue
            ours = (operation.epoch, operation.agent) == (position.epoch, position.authority)
            if ours and operation.number > position.applied_number and _numbered(operation) > self._latest:
                if self._may_end(operation, control):
                    continue  # it is refused in its turn
                self._latest = _numbered(operation)
                found.append(operation)
        return found

    def took(self, operation: Operation) -> bool:
        """True when it is the latest that was taken: its turn changes nothing more."""
        return _numbered(operation) == self._latest


def _numbered(operation: Operation) -> tuple[int, int]:
    return operation.epoch, operation.number
