"""Texts and reports of the decision unit on topics, for one sender: the messages of `TextExchange`."""

from __future__ import annotations

from typing import Any, Protocol

from telerobot.msg import Command, CommandReport, Halt, LinkStamp
from telerobot_nodes.core.protocol import HaltId, begins_with_halt, halt_scope
from telerobot_nodes.operator.client import SentText, TextExchange

COMMANDS, REPORTS, TASKS, SCRIPT = (f"rtc_decision_unit/{name}" for name in ("commands", "reports", "tasks", "script"))


class Publishing(Protocol):
    """The part of a node that is used here."""

    def publisher(self, name: str) -> Any:
        """Publisher of a topic of the table."""

    def stamp(self) -> Any:
        """ROS time now."""


class TextSender:
    """Publishes texts until they are answered; a text that stops everything also as a message on `halt`."""

    def __init__(self, node: Publishing, sender: str) -> None:
        self.sender = sender
        self._node, self._exchange = node, TextExchange()
        self._commands, self._halts = node.publisher(COMMANDS), node.publisher("halt")

    @property
    def connected(self) -> bool:
        """True when somebody receives the texts."""
        return bool(self._commands.get_subscription_count())

    def send(self, text: str, now: float) -> int:
        """Publish a text; its number."""
        text = text.encode("utf-8", "replace").decode()  # what no message can carry must not keep a halt back
        sent = self._exchange.send(text, now)
        self._publish(sent)
        return sent.number

    def step(self, now: float) -> list[SentText]:
        """Publish again what is due; the texts that are given up without an answer."""
        for sent in self._exchange.due(now):
            self._publish(sent)
        return self._exchange.late(now)

    def take(self, message: Any, now: float) -> bool:
        """Take a report; whether it is for this sender and new."""
        if message.sender != self.sender or not self._exchange.is_new(message.link.sender, message.link.number):
            return False
        if message.kind == CommandReport.REPLY:
            self._exchange.answered(message.text_number, message.link.sender, bool(message.command), now)
        elif message.kind == CommandReport.ENDED and not message.more:
            self._exchange.ended(message.text_number)
        return True

    def _publish(self, sent: SentText) -> None:
        link = LinkStamp(stamp=self._node.stamp(), sender=self.sender, number=sent.number)
        if begins_with_halt(sent.text) and not halt_scope(sent.text) and not sent.unit:
            named = HaltId.of_text(self.sender, sent.number)
            self._halts.publish(Halt(link=link, number=named.number, agent=named.agent, reason=sent.text[:200]))
        self._commands.publish(Command(link=link, sender=self.sender, text=sent.text, unit=sent.unit))
