"""The line of agents who wait for control, and when each was heard.

What belongs here: the order, silence, and how long a free plan is kept for one of them. What must never enter: who
may have control (`arbiter.py`).
"""

from __future__ import annotations

import math
from collections.abc import Collection

from telerobot_nodes.errors import AuthorityError

HEARTBEAT_TIMEOUT = 2.0  # [s] after which an agent counts as silent
TURN = 10.0  # [s] that a free plan is kept for one agent: some round trips of a long link, for its claim
MOST_WAITING = 8  # agents behind the one whose turn it is


class RequestLine:
    """Agents in the order of their requests; who is silent is passed over and keeps its place."""

    def __init__(self) -> None:
        self.agents: list[str] = []
        self.now = 0.0  # [s]
        self._received: dict[str, float] = {}  # [s] last message
        self._kept: dict[str, float] = {}  # [s] since when the free plan was kept for an agent

    def hear(self, agent: str) -> None:
        """Note a message of the agent."""
        self._received[agent] = self.now

    def forget_all_but(self, agents: Collection[str]) -> None:
        """Forget when others were heard."""
        self._received = {agent: time for agent, time in self._received.items() if agent in agents}

    def silence(self, agent: str, unknown: float = math.inf) -> float:
        """Time since the last message of the agent [s]; `unknown` if there was none."""
        return self.now - self._received[agent] if agent in self._received else unknown

    def is_heard(self, agent: str) -> bool:
        """True when the agent is not silent."""
        return self.silence(agent) < HEARTBEAT_TIMEOUT

    def first_heard(self) -> str:
        """The first who is heard; empty: nobody."""
        return next(filter(self.is_heard, self.agents), "")

    def append(self, agent: str) -> None:
        """Put the agent at the end. Raises AuthorityError when the line is full."""
        if len(self.agents) >= MOST_WAITING:
            raise AuthorityError(f"request of {agent}: {len(self.agents)} wait; allowed: {MOST_WAITING}")
        self.agents.append(agent)

    def leave(self, agent: str) -> None:
        """Take the agent out of the line, if it is there."""
        if agent in self.agents:
            self.agents.remove(agent)
        self._kept.pop(agent, None)

    def pop(self) -> str:
        """Take out whose turn is next: the first who is heard, else the first; empty: nobody waits."""
        agent = self.first_heard() or next(iter(self.agents), "")
        self.leave(agent)
        return agent

    def plan_freed(self) -> None:
        """Each has its turn anew."""
        self._kept.clear()

    def overdue(self) -> str:
        """For whom the free plan has been kept long enough; empty: nobody. Its time begins when it is first asked."""
        agent = self.first_heard()
        over = bool(agent) and self.now - self._kept.setdefault(agent, self.now) >= TURN
        return agent if over else ""
