"""Who sent the halts that were heard: told apart from their copies, and reported to their senders."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from telerobot_nodes.core.memory import AGENT_LENGTH, SENDERS, HaltSender, HeardHalt


@dataclass
class _Sender:
    """The latest halt of one sender, and how many without a number came on each way."""

    latest: HaltSender
    unnumbered: Counter[str] = field(default_factory=Counter)


class HaltReceipts:
    """Latest halt of each recent sender. A number serves only its own sender, as the name of one halt."""

    def __init__(self) -> None:
        self._told = 0  # halts told apart
        self._senders: dict[str, _Sender] = {}

    def take(self, agent: str, number: int, reason: str, way: str = "") -> HeardHalt:
        """Take a halt, whatever its number.

        One without a number is new on the `way` on which it comes first: the same halt may come on every way once.
        """
        agent = agent[:AGENT_LENGTH]
        known = self._senders.pop(agent, None)
        sender = known or _Sender(HaltSender(agent, number, 0))
        new = known is None or sender.latest.number != number
        if number == 0:
            before = max(sender.unnumbered.values(), default=0)
            sender.unnumbered[way] += 1
            new = sender.unnumbered[way] > before
        if new:
            self._told += 1
            sender.latest = HaltSender(agent, number, self._told)
        self._senders[agent] = sender
        if len(self._senders) > SENDERS:
            del self._senders[next(iter(self._senders))]
        return HeardHalt(self._told, f"{agent}: {reason}", [one.latest for one in self._senders.values()])
