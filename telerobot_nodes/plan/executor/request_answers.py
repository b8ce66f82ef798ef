"""What became of RESET and TARE operations: the nodes that serve them answer after the operation was acknowledged."""

from __future__ import annotations

from typing import Any, NamedTuple

from telerobot_nodes.core.protocol import OperationKind
from telerobot_nodes.plan.log import Operation

REQUESTS = (OperationKind.RESET, OperationKind.TARE)


class RequestAnswer(NamedTuple):
    """Answer to the latest request of one kind."""

    number: int = 0  # of the operation; 0: none was answered
    refusal: str = ""  # empty: it was done


class RequestAnswers:
    """The latest answer of each kind, in one epoch."""

    def __init__(self) -> None:
        self._epoch = 0
        self._latest: dict[OperationKind, RequestAnswer] = {}

    def note(self, operation: Operation, refusal: str) -> None:
        """Take the answer to an operation; one that is no request is ignored, and so is a late one to an older one."""
        if operation.kind not in REQUESTS or operation.epoch < self._epoch:
            return
        if operation.epoch > self._epoch:
            self._epoch, self._latest = operation.epoch, {}
        if operation.number >= self._latest.get(operation.kind, RequestAnswer()).number:
            self._latest[operation.kind] = RequestAnswer(operation.number, refusal)

    def latest(self, kind: OperationKind, epoch: int) -> RequestAnswer:
        """The latest answer to a request of this kind in `epoch`."""
        return self._latest.get(kind, RequestAnswer()) if epoch == self._epoch else RequestAnswer()

    def report_fields(self, epoch: int) -> dict[str, Any]:
        """Fields of an ExecutorReport about the requests of `epoch`."""
        reset, tare = (self.latest(kind, epoch) for kind in REQUESTS)
        return {
            "reset_number": reset.number,
            "reset_refusal": reset.refusal,
            "tare_number": tare.number,
            "tare_refusal": tare.refusal,
        }
