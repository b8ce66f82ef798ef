"""The console's command line on topics: texts to the decision unit; answers, reports and tasks from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from telerobot.msg import CommandReport
from telerobot_nodes.core.config import share_path
from telerobot_nodes.core.protocol import identity
from telerobot_nodes.nodes.clients import TextSender
from telerobot_nodes.operator.client import NO_ANSWER
from telerobot_nodes.operator.console import script_rows, waits
from telerobot_nodes.rtc.language import complete
from telerobot_nodes.rtc.skills import load_library

if TYPE_CHECKING:
    from telerobot_nodes.nodes.framework import GraphNode
    from telerobot_nodes.operator.console import CommandLine


class ConsoleCommands:
    """Sends each text until it is answered; shows answers, reports and tasks. Runs on the node's thread."""

    def __init__(self, node: GraphNode, line: CommandLine) -> None:
        self._node, self._line = node, line
        self._texts = TextSender(node, identity("console"))
        node.subscribe("rtc_decision_unit/reports", self._on_report)
        node.subscribe("rtc_decision_unit/tasks", self._on_task)
        node.subscribe("rtc_decision_unit/script", self._on_script)

    def step(self) -> None:
        """Send new texts, retransmit those without an answer, show what was received."""
        now = self._node.now()
        for text in self._line.take():
            self._texts.send(text, now)
        for sent in self._texts.step(now):
            self._line.tell(f"no answer to {sent.text!r} in {NO_ANSWER:g} s; what became of it is not known", "bad")
        self._line.show()

    def _on_report(self, message: Any) -> None:
        if not self._texts.take(message, self._node.now()):
            return
        if message.kind == CommandReport.REPLY:
            self._line.tell(message.text, "" if message.ok else "bad")
        elif message.kind == CommandReport.PROGRESS:
            self._line.tell(f"command {message.command}: {message.step}: {message.reason}")
        else:
            text = f"command {message.command} {message.outcome}: {message.reason} ({message.elapsed:.1f} s)"
            self._line.tell(text, "good" if message.ok else "bad")

    def _on_script(self, message: Any) -> None:
        """Show every command that runs, whoever sent it: the latest steps, the active one and the next."""
        self._line.script(message.command, [] if message.outcome else script_rows(message), waits(message))

    def _on_task(self, message: Any) -> None:
        self._line.task(message.task, message.text if message.shown else "")


def completer() -> Any:
    """Words that may stand at the end of a text, of the package's skill files."""
    vocabulary = load_library(share_path("config/rtc")).workcell.vocabulary
    return lambda text: complete(text, len(text), vocabulary)
