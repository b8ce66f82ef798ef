"""A client of the decision unit: says texts, hears answers and reports. For the shell, scripts and planners.

Goes over the operator's side of the link where there is one. A text is said again until it is answered; the decision
unit does it once.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from telerobot.msg import Command, CommandReport
from telerobot_nodes import graph
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.nodes.convert import LinkCounter
from telerobot_nodes.nodes.interfaces import interface_class, qos_profile

COMMANDS, REPORTS, TASKS = (f"rtc_decision_unit/{name}" for name in ("commands", "reports", "tasks"))
DISCOVERY_LIMIT = 10.0  # [s]
AGAIN = 2.0  # [s] after which a text is said again; doubles each time
HALT_AGAIN = 0.1  # [s] the same of a halt
ANSWER_LIMIT = 30.0  # [s]
_CLIENTS = itertools.count()
GONE = 10.0  # [s] nobody publishes reports
FOUND_TOGETHER = 0.3  # [s] within which the rest of a graph is found after its first node
LOOK = 0.01  # [s] between looks at who has been found


class CommandClient:
    """Says one text after the other. A context manager; one thread."""

    def __init__(self, namespace: str = "", name: str = "shell", hurry: bool = False) -> None:
        """Raises TelerobotError when no decision unit is found.

        `hurry`, for a halt: the first that is found is spoken to, beside an emulated link perhaps, not over it.
        """
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        again = next(_CLIENTS)  # another client of this process is another sender: old answers are not for it
        self.sender = f"{name}_{os.getpid()}" + (f"_{again}" if again else "")
        self._node = rclpy.create_node(f"telerobot_{self.sender}", namespace=namespace)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._link = LinkCounter(self.sender)
        self._heard: list[Any] = []
        self._ended: dict[int, Any] = {}  # last reports of our commands, by number
        self.tasks: dict[int, str] = {}  # shown to the operator now
        try:
            self._prefix = prefix = self._find(hurry)
            says = graph.topic(COMMANDS)
            self._say = self._node.create_publisher(
                interface_class(says.type), prefix + says.name, qos_profile(says.qos)
            )
            for topic, hear in ((REPORTS, self._on_report), (TASKS, self._on_task)):
                kind, qos = graph.topic(topic).type, qos_profile(graph.topic(topic).qos)
                self._node.create_subscription(interface_class(kind), prefix + topic, hear, qos)
            self._wait_for(lambda: self._say.get_subscription_count() > 0, DISCOVERY_LIMIT)
        except BaseException:
            self.close()
            raise

    def ask(self, text: str, limit: float = ANSWER_LIMIT) -> Any:
        """The answer to a text (CommandReport.msg, kind REPLY); a task goes on after it."""
        return self._until(text, lambda said: said.kind == CommandReport.REPLY, limit)

    def begin(self, text: str, limit: float = ANSWER_LIMIT) -> int:
        """Number of the command that a text begins; raises TelerobotError with the refusal when it begins none."""
        reply = self.ask(text, limit)
        if not reply.command:
            raise TelerobotError(str(reply.text))
        return int(reply.command)

    def end(self, command: int, limit: float = 3600.0) -> Any:
        """The last report of a command begun here."""
        if not self._wait_for(lambda: command in self._ended, limit):
            raise TelerobotError(f"command {command} has not ended in {limit:g} s")
        return self._ended[command]

    def hear(self, ready: Callable[[], bool], limit: float) -> bool:
        """Listen until `ready`; False after `limit` [s]."""
        return self._wait_for(ready, limit)

    def run(self, text: str, progress: Callable[[Any], None] = lambda said: None, limit: float = 3600.0) -> Any:
        """The last report of a text: of its last command, or the answer when it begins none."""
        numbers: set[int] = set()

        def over(said: Any) -> bool:
            if said.kind == CommandReport.REPLY:
                numbers.add(said.command)
                return not said.command
            if said.kind == CommandReport.PROGRESS:
                progress(said)
                return False
            return bool(numbers) and not said.more

        return self._until(text, over, limit)

    def attempt(self, text: str, limit: float = ANSWER_LIMIT) -> Any:
        """The report of a hypothesis test of a task: `trial` has its steps."""
        return self.run(text if text.split()[:1] == ["try"] else f"try {text}", limit=limit)

    def _until(self, text: str, over: Callable[[Any], bool], limit: float) -> Any:
        """Say `text` until a message for us satisfies `over`."""
        message = Command(link=self._link.next(self._node.get_clock().now().to_msg()), sender=self.sender, text=text)
        seen: set[int] = set()
        end, again = time.monotonic() + limit, time.monotonic()
        pause = HALT_AGAIN if text.split()[:1] == ["halt"] else AGAIN
        alive = time.monotonic()
        self._heard.clear()
        while time.monotonic() < end:
            if time.monotonic() >= again:
                self._say.publish(message)
                again, pause = time.monotonic() + pause, min(2.0 * pause, 30.0)
            self._executor.spin_once(timeout_sec=0.1)
            if self._node.count_publishers(self._prefix + REPORTS):
                alive = time.monotonic()
            elif time.monotonic() - alive > GONE:
                raise TelerobotError(f"the decision unit has gone; what became of {text[:60]!r} is not known")
            while self._heard:
                said = self._heard.pop(0)
                if said.sender != self.sender or said.link.number in seen:
                    continue
                seen.add(said.link.number)
                if over(said):
                    return said
        raise TelerobotError(f"no answer to {text[:60]!r} in {limit:g} s")

    def _on_report(self, message: Any) -> None:
        if message.sender != self.sender:
            return
        self._heard.append(message)
        if message.kind == CommandReport.ENDED and not message.more:
            self._ended[message.origin or message.command] = message

    def _on_task(self, message: Any) -> None:
        if message.shown:
            self.tasks[message.task] = message.text
        else:
            self.tasks.pop(message.task, None)

    def _wait_for(self, ready: Callable[[], bool], limit: float) -> bool:
        end = time.monotonic() + limit
        while not ready():
            if time.monotonic() > end:
                return False
            self._executor.spin_once(timeout_sec=LOOK)
        return True

    def _find(self, hurry: bool) -> str:
        """Prefix of the crossing topics."""
        if not self._wait_for(lambda: self._node.count_publishers(REPORTS) > 0, DISCOVERY_LIMIT):
            where = self._node.get_namespace().rstrip("/")
            raise TelerobotError(
                f"no decision unit is running here: nobody publishes {where}/{REPORTS}; start a graph with "
                "`telerobot up robot` or `telerobot demo`, or name its namespace with --namespace"
            )
        if not hurry:
            self._wait_for(lambda: False, FOUND_TOGETHER)
        far = self._node.count_publishers(graph.OPERATOR_SIDE + REPORTS)
        return graph.OPERATOR_SIDE if far else ""

    def close(self) -> None:
        """Leave the graph."""
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.try_shutdown()

    def __enter__(self) -> CommandClient:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
