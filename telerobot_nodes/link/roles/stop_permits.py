"""Which operators may end the stop in force, as the plan executor knows it: the robot's link permits it by count."""

from __future__ import annotations

from telerobot_nodes.link.roles.roles import Refusal, RoleFault, Roles


class StopPermits:
    """Permits by agent and count of halts; another halt ends them all."""

    def __init__(self, roles: Roles) -> None:
        self._operators = frozenset(agent for agents in roles.operators.values() for agent in agents)
        self._counts: dict[str, int] = {}

    def permit(self, agent: str, halt_count: int) -> None:
        """The link has judged: this agent may end the stop that is in force at this count of halts."""
        self._counts[agent] = halt_count

    def refusal(self, agent: str, word: str, halt_count: int, stop: str) -> Refusal | None:
        """Why an agent may not end the stop in force, which `stop` describes; None: he may. `word`: RESUME or RESET."""
        if agent not in self._operators or self._counts.get(agent) == halt_count:
            return None
        reason = f"{word}: {agent} has not made this stop ({stop}); allowed: who made it, or a supervisor's key"
        return Refusal(RoleFault.STOP_OF_ANOTHER, reason)
