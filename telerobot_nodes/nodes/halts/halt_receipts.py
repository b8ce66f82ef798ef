"""Who sent the halts that were received. Copies of one halt count once; every sender gets a receipt."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from telerobot_nodes.core.memory import AGENT_LENGTH, SENDERS, HaltSender, ReceivedHalt

_KEPT = 64  # halts of one sender by which copies are recognised


@dataclass
class _Sender:
    """The distinct halts of one sender: how many, the latest numbers, and how many of them each way has brought."""

    latest: HaltSender
    count: int = 0
    numbers: deque[int] = field(default_factory=lambda: deque(maxlen=_KEPT))
    brought: dict[str, int] = field(default_factory=dict)

    def is_new(self, number: int, way: str) -> bool:
        """Whether no way has brought this halt. Each way keeps the order of the halts, but may lose some."""
        first = self.count - len(self.numbers)
        brought = max(self.brought.get(way, 0), first)
        if number and brought > first and self.numbers[brought - first - 1] == number:  # repeated by its sender
            return False
        ahead = (at for at in range(brought, self.count) if self.numbers[at - first] == number)
        place = next(ahead, self.count)
        self.brought[way] = place + 1
        if place < self.count:
            return False
        self.numbers.append(number)
        self.count += 1
        return True


class HaltReceipts:
    """Latest halt of each recent sender. A number serves only its own sender, as the name of one halt."""

    def __init__(self) -> None:
        self._distinct = 0  # distinct halts
        self._senders: dict[str, _Sender] = {}

    def take(self, agent: str, number: int, reason: str, way: str = "") -> ReceivedHalt:
        """Take a halt, whatever its number.

        One without a number is new on the `way` on which it comes first: the same halt may come on every way once.
        """
        agent = agent[:AGENT_LENGTH]
        sender = self._senders.pop(agent, None) or _Sender(HaltSender(agent, number, 0))
        if sender.is_new(number, way):
            self._distinct += 1
            sender.latest = HaltSender(agent, number, self._distinct)
        self._senders[agent] = sender
        if len(self._senders) > SENDERS:
            del self._senders[next(iter(self._senders))]
        return ReceivedHalt(self._distinct, f"{agent}: {reason}", [one.latest for one in self._senders.values()])
