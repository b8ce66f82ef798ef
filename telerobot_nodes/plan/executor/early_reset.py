"""RESET before its turn, at an executor that was restarted while the e-stop is latched.

Such an executor takes no operation before it knows where the arm came to rest; the arm, its e-stop latched, comes to
rest on no path before the RESET.
"""

from __future__ import annotations

from collections.abc import Iterable

from telerobot_nodes.core.protocol import OperationKind
from telerobot_nodes.plan.log import ControlReport, LogPosition, Operation, UnreadableOperation


class EarlyReset:
    """Finds each RESET once, whatever is sent again."""

    def __init__(self) -> None:
        self._latest = (0, 0)  # epoch and number

    def take(
        self,
        operations: Iterable[Operation | UnreadableOperation],
        position: LogPosition,
        control: ControlReport | None,
    ) -> list[Operation]:
        """The new RESETs of the agent in control that have not had their turn; none while no e-stop is latched."""
        found: list[Operation] = []
        for operation in operations if control is not None and control.estop else ():
            if not isinstance(operation, Operation) or operation.kind is not OperationKind.RESET:
                continue
            ours = (operation.epoch, operation.agent) == (position.epoch, position.authority)
            if ours and operation.number > position.applied_number and _numbered(operation) > self._latest:
                self._latest = _numbered(operation)
                found.append(operation)
        return found

    def took(self, operation: Operation) -> bool:
        """True when it is the latest that was taken: its turn changes nothing more."""
        return _numbered(operation) == self._latest


def _numbered(operation: Operation) -> tuple[int, int]:
    return operation.epoch, operation.number
