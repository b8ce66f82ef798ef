"""The console's command line on topics: texts up the link; answers, reports and tasks down it."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

from telerobot.msg import Command, CommandReport
from telerobot_nodes.core.share import share_path
from telerobot_nodes.nodes.convert import LinkCounter
from telerobot_nodes.rtc.completion import complete
from telerobot_nodes.rtc.skill_files import load_library

if TYPE_CHECKING:
    from telerobot_nodes.nodes.base import GraphNode
    from telerobot_nodes.operator.console.command_line import CommandLine

AGAIN = (0.3, 1.0, 3.0)  # [s] after which a text without an answer is said again


@dataclasses.dataclass
class _Said:
    message: Any
    at: float  # [s]
    times: int = 0


class CommandTalk:
    """Says what is typed until it is answered, shows what is said back. The node's thread."""

    def __init__(self, node: GraphNode, line: CommandLine) -> None:
        self._node, self._line = node, line
        self._sender = f"console_{os.getpid()}"
        self._link = LinkCounter(self._sender)
        self._open: list[_Said] = []
        self._heard: set[tuple[str, int]] = set()
        self._say = node.publisher("rtc_decision_unit/commands")
        node.subscribe("rtc_decision_unit/reports", self._on_report)
        node.subscribe("rtc_decision_unit/tasks", self._on_task)

    def step(self) -> None:
        """Say what is new, and again what nobody has answered; show what was heard."""
        now = self._node.now()
        for text in self._line.take():
            link = self._link.next(self._node.stamp())
            message = Command(link=link, sender=self._sender, text=text)
            self._say.publish(message)
            self._open.append(_Said(message, now))
        for said in list(self._open):
            if said.times == len(AGAIN):
                self._open.remove(said)
                self._line.tell(f"no answer to {said.message.text!r}", "bad")
            elif now - said.at >= AGAIN[said.times]:
                said.times += 1
                said.at = now
                self._say.publish(said.message)
        self._line.show()

    def _on_report(self, message: Any) -> None:
        key = (message.link.sender, message.link.number)
        if message.sender != self._sender or key in self._heard:
            return
        self._heard.add(key)
        if message.kind == CommandReport.REPLY:
            del self._open[:1]  # answers come in the order of the texts
            self._line.tell(message.text, "" if message.ok else "bad")
        elif message.kind == CommandReport.PROGRESS:
            self._line.tell(f"command {message.command}: {message.step}: {message.reason}")
        else:
            text = f"command {message.command} {message.outcome}: {message.reason} ({message.elapsed:.1f} s)"
            self._line.tell(text, "good" if message.ok else "bad")

    def _on_task(self, message: Any) -> None:
        self._line.task(message.task, message.text if message.shown else "")


def completer() -> Any:
    """Words that may stand at the end of a text, of the package's skill files."""
    vocabulary = load_library(share_path("config/rtc")).workcell.vocabulary
    return lambda text: complete(text, len(text), vocabulary)
