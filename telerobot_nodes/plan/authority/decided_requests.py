"""Which requests about authority were decided, and how: copies of them that arrive later change nothing.

What belongs here: the decisions, by agent and number. What must never enter: why a request is decided as it is
(`arbiter.py`).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

REMEMBERED = 8  # decided requests of one agent
AGENTS = 64  # agents whose requests are remembered; the one decided longest ago is forgotten


@dataclass(frozen=True)
class Decision:
    """How a request was decided: its agent, its number and, when it was refused, the reason."""

    agent: str = ""
    number: int = 0
    reason: str = ""


class DecidedRequests:
    """The latest decisions of each agent's requests; requests without a number are not remembered."""

    def __init__(self) -> None:
        self._decisions: dict[str, deque[Decision]] = {}

    def __len__(self) -> int:
        return len(self._decisions)

    def note(self, decision: Decision) -> None:
        """Remember a decision; it replaces an earlier one of the same request."""
        if not decision.number:
            return
        latest = self._decisions.pop(decision.agent, deque(maxlen=REMEMBERED))
        self._decisions[decision.agent] = latest
        latest.append(decision)
        if len(self._decisions) > AGENTS:
            del self._decisions[next(iter(self._decisions))]

    def of(self, agent: str, number: int) -> Decision | None:
        """How the request was decided; None: it was not, or too long ago."""
        found = (entry for entry in reversed(self._decisions.get(agent, ())) if entry.number == number)
        return next(found, None)
