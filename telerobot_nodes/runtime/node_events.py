"""What happens to the process of a node, for callbacks and for people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from telerobot_nodes.runtime.restarts import WINDOW


class Change(Enum):
    """Kinds of events of a node."""

    STARTED = "started"
    READY = "ready"
    ENDED = "ended"
    RESTARTING = "restarting"
    GIVEN_UP = "given up"


@dataclass(frozen=True)
class NodeEvent:
    """One event of one node, for callbacks; `code` is its exit code after its end."""

    node: str
    change: Change
    code: int | None = None
    restarts: int = 0  # in the last minute

    def __str__(self) -> str:
        """What happened, for people."""
        if self.code is None:
            return f"{self.node} {self.change.value}"
        how = f"by signal {-self.code}" if self.code < 0 else f"with exit code {self.code}"
        then = {
            Change.RESTARTING: f"; it is started again, time {self.restarts} in {WINDOW:g} s",
            Change.GIVEN_UP: f", after {self.restarts} restarts in {WINDOW:g} s",
        }
        return f"{self.node} ended {how}{then.get(self.change, '')}"
