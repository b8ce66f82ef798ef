"""Who sent the halts that were heard: told apart from their copies, and reported to their senders."""

from __future__ import annotations

from telerobot_nodes.core.memory import AGENT_LENGTH, SENDERS, HaltSender, HeardHalt


class HaltReceipts:
    """Latest halt of each recent sender. A number serves only its own sender, as the name of one halt."""

    def __init__(self) -> None:
        self._told = 0  # halts told apart
        self._latest: dict[str, HaltSender] = {}

    def take(self, agent: str, number: int, reason: str) -> HeardHalt:
        """Take a halt, whatever its number. Without a number each one is new."""
        agent = agent[:AGENT_LENGTH]
        latest = self._latest.get(agent)
        if number == 0 or latest is None or latest.number != number:
            self._told += 1
            self._latest.pop(agent, None)
            self._latest[agent] = HaltSender(agent, number, self._told)
            if len(self._latest) > SENDERS:
                del self._latest[next(iter(self._latest))]
        return HeardHalt(self._told, f"{agent}: {reason}", list(self._latest.values()))
