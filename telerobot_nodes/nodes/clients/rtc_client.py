"""A client of the decision unit: sends texts, receives replies and reports. For the shell, scripts and planners.

It uses the operator's side of the link where there is one. A text is retransmitted until a reply arrives; the decision
unit executes it once.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable
from typing import Any

from telerobot.msg import CommandReport
from telerobot_nodes import graph
from telerobot_nodes.core.protocol import identity, trial_of
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.nodes.clients.under_way import REPORTS, SCRIPT, TASKS, TextSender
from telerobot_nodes.nodes.framework import DISCOVERY_LIMIT, Foreground
from telerobot_nodes.operator.client import NO_ANSWER

ANSWER_LIMIT = NO_ANSWER  # [s]
_CLIENTS = itertools.count()
GONE = 10.0  # [s] without a publisher of reports
FOUND_TOGETHER = 0.3  # [s] within which the rest of a graph is found after its first node
POLL = 0.01  # [s]


class CommandClient(Foreground):
    """Sends one text after the other. A context manager; one thread."""

    def __init__(self, namespace: str = "", name: str = "shell", hurry: bool = False) -> None:
        """Raises TelerobotError when no decision unit is found.

        `hurry`, for a halt: use the first decision unit that is found, even one beside an emulated link.
        """
        again = next(_CLIENTS)  # each client of a process is a sender of its own
        self.sender = identity(name) + (f".{again}" if again else "")
        super().__init__("telerobot_" + re.sub(r"\W", "_", f"{name}_{self.sender.rpartition('/')[2]}"), namespace)
        self._received: list[Any] = []
        self._ended: dict[int, Any] = {}  # last reports of our commands, by number
        self.tasks: dict[int, str] = {}  # shown to the operator now
        self.watch: Callable[[Any], None] = lambda message: None  # receives the live scripts of our texts
        self.idle: Callable[[], None] = lambda: None  # called again and again while a text is waited for
        self.beside: Callable[[Any], None] = lambda message: None  # receives the replies to texts sent without waiting
        try:
            self.prefix = self._find(hurry)
            self._texts = TextSender(self, self.sender)
            self.subscribe(REPORTS, self._on_report)
            self.subscribe(TASKS, self._on_task)
            self.subscribe(SCRIPT, self._on_script)
            self.wait(lambda: self._texts.connected, DISCOVERY_LIMIT, POLL)
        except BaseException:
            self.close()
            raise

    def ask(self, text: str, limit: float = ANSWER_LIMIT) -> Any:
        """The reply to a text (CommandReport.msg, kind REPLY); a task continues after it."""
        return self._until(text, lambda message: message.kind == CommandReport.REPLY, limit)

    def say(self, text: str) -> None:
        """Send a text without waiting for its reply; for texts sent while another one is waited for."""
        self._texts.send(text, self.now())

    def begin(self, text: str, limit: float = ANSWER_LIMIT) -> int:
        """Number of the command that a text starts; raises TelerobotError with the reply when it starts none."""
        reply = self.ask(text, limit)
        if not reply.command:
            raise TelerobotError(str(reply.text))
        return int(reply.command)

    def end(self, command: int, limit: float = 3600.0) -> Any:
        """The last report of a command started here."""
        if not self.wait(lambda: command in self._ended, limit, POLL):
            raise TelerobotError(f"command {command} has not ended in {limit:g} s")
        return self._ended[command]

    def wait_until(self, ready: Callable[[], bool], limit: float) -> bool:
        """Receive messages until `ready`; False after `limit` [s]."""
        return self.wait(ready, limit, POLL)

    def run(self, text: str, progress: Callable[[Any], None] = lambda message: None, limit: float = 3600.0) -> Any:
        """The last report of a text: of its last command, or the reply when it starts none."""

        def over(message: Any) -> bool:
            if message.kind == CommandReport.REPLY:
                return not message.command
            if message.kind == CommandReport.PROGRESS:
                progress(message)
                return False
            return not message.more

        return self._until(text, over, limit)

    def attempt(self, text: str, limit: float = ANSWER_LIMIT) -> Any:
        """The report of a hypothesis test of tasks and macros, one after the other: `trial` has their steps."""
        return self.run(trial_of(text), limit=limit)

    def _until(self, text: str, over: Callable[[Any], bool], limit: float) -> Any:
        """Send `text` until a message about it satisfies `over`."""
        self._received.clear()
        number = self._texts.send(text, self.now())
        end, alive = time.monotonic() + limit, time.monotonic()
        while time.monotonic() < end:
            self.idle()
            self.wait(lambda: self._received, min(0.1, limit))
            if any(late.number == number for late in self._texts.step(self.now())):
                break
            if self.node.count_publishers(self.prefix + REPORTS):
                alive = time.monotonic()
            elif time.monotonic() - alive > GONE:
                raise TelerobotError(f"the decision unit has gone; what became of {text[:60]!r} is not known")
            while self._received:
                message = self._received.pop(0)
                if message.text_number == number:
                    if over(message):
                        return message
                elif message.kind == CommandReport.REPLY:
                    self.beside(message)
        raise TelerobotError(f"no answer to {text[:60]!r} in {limit:g} s")

    def _on_report(self, message: Any) -> None:
        if not self._texts.take(message, self.now()):
            return
        self._received.append(message)
        if message.kind == CommandReport.ENDED and not message.more:
            self._ended[message.origin or message.command] = message

    def _on_task(self, message: Any) -> None:
        if message.shown:
            self.tasks[message.task] = message.text
        else:
            self.tasks.pop(message.task, None)

    def _on_script(self, message: Any) -> None:
        if message.sender == self.sender:
            self.watch(message)

    def _find(self, hurry: bool) -> str:
        """Prefix of the crossing topics."""

        def published(topic: str) -> bool:
            return self.node.count_publishers(topic) > 0

        far = graph.OPERATOR_SIDE + REPORTS  # alone on an operator's host with a link to the robot's
        if not self.wait(lambda: published(REPORTS) or published(far), DISCOVERY_LIMIT, POLL):
            raise TelerobotError(
                f"no decision unit is running here: no node publishes {self.namespace}/{REPORTS}; start a graph with "
                "`telerobot up robot` or `telerobot demo`, or name its namespace with --namespace"
            )
        if not hurry:
            self.spin(FOUND_TOGETHER)
        return graph.OPERATOR_SIDE if published(far) else ""
