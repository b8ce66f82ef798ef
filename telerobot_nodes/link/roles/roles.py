"""What each operator's host may do at the robot, by the role of its key.

What belongs here: rights as values. What must never enter: messages, sockets, keys. Stops are not asked for here: a
halt and an e-stop are obeyed from everybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from telerobot_nodes.link.roles.keys import KeyRole


class RoleFault(Enum):
    """Why something that came with a valid key is refused."""

    OTHER_NAME = "in a name that the key does not give"
    SUPERVISORS_ONLY = "only a supervisor may do it"
    STOP_OF_ANOTHER = "ends a stop that somebody else has made"
    OBSERVER = "an observer's key watches, and stops the arm"


@dataclass(frozen=True)
class Refusal:
    """A refusal: its type, and a sentence for the operator."""

    fault: RoleFault
    reason: str


@dataclass(frozen=True)
class HostRole:
    """The rights of one operator's host."""

    role: KeyRole
    agents: tuple[str, ...]  # names in which it may speak


class Roles:
    """The rights of every operator's host; false when no key has a role, so that every key has every right."""

    def __init__(self, by_host: Mapping[str, HostRole]) -> None:
        self._by_host = dict(by_host)

    def __bool__(self) -> bool:
        return bool(self._by_host)

    @property
    def operators(self) -> dict[str, tuple[str, ...]]:
        """The hosts whose keys are operators', with their names."""
        return {host: row.agents for host, row in self._by_host.items() if row.role is KeyRole.OPERATOR}

    @property
    def supervisors(self) -> frozenset[str]:
        """The names that may take control."""
        return frozenset(
            agent for row in self._by_host.values() if row.role is KeyRole.SUPERVISOR for agent in row.agents
        )

    def of_observer(self, host: str) -> Refusal | None:
        """Why a host may send nothing but what stops the arm; None: it may send more."""
        row = self._by_host.get(host)
        if row is None or row.role is not KeyRole.OBSERVER:
            return None
        return Refusal(RoleFault.OBSERVER, f"the key of {host} is an observer's; allowed: to watch, to halt, to e-stop")

    def of_name(self, host: str, agent: str) -> Refusal | None:
        """Why a host may not speak in this name; None: it may."""
        row = self._by_host.get(host)
        allowed = row.agents if row is not None else ()
        if agent in allowed:
            return None
        names = ", ".join(allowed) or "no name"
        return Refusal(RoleFault.OTHER_NAME, f"the key of {host} does not speak as {agent!r}; allowed: {names}")

    def of_take(self, host: str, agent: str) -> Refusal | None:
        """Why a host may not take control without consent; None: it may."""
        other_name = self.of_name(host, agent)
        if other_name is not None or self._by_host[host].role is KeyRole.SUPERVISOR:
            return other_name
        reason = f"the key of {host} is an operator's: it takes no control; allowed: a supervisor's key, or a request"
        return Refusal(RoleFault.SUPERVISORS_ONLY, reason)
