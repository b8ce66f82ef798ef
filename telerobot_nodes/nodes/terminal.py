"""A short-lived node behind `telerobot status`, `halt` and the like: the operator client for one command."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import NodeNameNonExistentError
from rclpy.signals import SignalHandlerOptions

from telerobot_nodes import graph
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.nodes.interfaces import interface_class, qos_profile
from telerobot_nodes.nodes.operator_client import RosPort, connect, offered
from telerobot_nodes.operator.client import OperatorClient
from telerobot_nodes.operator.commands import Command
from telerobot_nodes.operator.requests import Outcome
from telerobot_nodes.operator.view_model import ConsoleView, view

DISCOVERY_LIMIT = 10.0  # [s] to find the graph: nodes announce themselves every 3 s
SERVICE_LIMIT = 8.0  # [s] to find the command's service
REQUEST_LIMIT = 10.0  # [s] for an answer; nobody presses twice here
FIRST_NEWS_LIMIT = 3.0  # [s] for the first states to arrive
SETTLE = 0.3  # [s]
LOOK = 0.05  # [s] between looks at who has been found
QUEUE = "path_plan_queue/state"
EXECUTOR = "plan_executor/state"


class NoGraphError(TelerobotError):
    """No operator's graph answers."""


class Terminal:
    """The operator client in the foreground: spins only while it waits. A context manager."""

    def __init__(self, namespace: str = "") -> None:
        """Raises NoGraphError when neither plan queue nor executor is found."""
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        self._node = rclpy.create_node(f"telerobot_terminal_{os.getpid()}", namespace=namespace)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        try:
            self._prefix = self._find()
            self._port = RosPort(self, f"operator/terminal_{os.getpid()}", offered("demo"))
            self._client = connect(self, self._port, REQUEST_LIMIT)
            self.wait_for(lambda client: None not in (client.heard.queue, client.heard.robot), FIRST_NEWS_LIMIT)
        except BaseException:
            self.close()
            raise

    @property
    def operator(self) -> OperatorClient:
        """What the operator's side knows."""
        return self._client

    def ask(self, command: Command) -> Outcome:
        """Send a command and wait for what really happened."""
        outcomes: list[Outcome] = []
        self.wait_for(lambda _: self._port.ready(command), SERVICE_LIMIT)
        self._client.ask(command, self.now(), outcomes.append)
        self.wait_for(lambda _: bool(outcomes), 2.0 * REQUEST_LIMIT)
        return outcomes[0] if outcomes else Outcome(False, "no answer")

    def view(self) -> ConsoleView:
        """The texts now."""
        return view(self._client, self.now())

    def wait_for(self, ready: Callable[[OperatorClient], bool], limit: float) -> bool:
        """Serve topics and answers until `ready`; False after `limit` [s]."""
        end = self.now() + limit
        while not ready(self._client):
            if self.now() > end:
                return False
            self._executor.spin_once(timeout_sec=0.1)
            self._client.tick(self.now())
        return True

    def close(self) -> None:
        """Leave the graph."""
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.try_shutdown()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # the wiring that `connect` asks for ----------------------------------------------------------------------

    def publisher(self, name: str) -> Any:
        """Publisher of a topic of the table, on the operator's side of the link."""
        entry = graph.topic(name)
        return self._node.create_publisher(interface_class(entry.type), self._name(entry), qos_profile(entry.qos))

    def subscribe(self, name: str, callback: Callable[[Any], None]) -> Any:
        """Subscription to a topic of the table, on the operator's side of the link."""
        entry = graph.topic(name)
        kind, qos = interface_class(entry.type), qos_profile(entry.qos)
        return self._node.create_subscription(kind, self._name(entry), callback, qos)

    def client(self, name: str) -> Any:
        """Client of a service of the table."""
        return self._node.create_client(interface_class(graph.service(name).type), name)

    @staticmethod
    def now() -> float:
        """Host monotonic time [s]."""
        return time.monotonic()

    def stamp(self) -> Any:
        """ROS time now."""
        return self._node.get_clock().now().to_msg()

    def _name(self, entry: graph.Topic) -> str:
        return self._prefix + entry.name if entry.crosses or entry.shared else entry.name

    def _find(self) -> str:
        """Prefix of crossing topics, once a plan queue or an executor is seen."""
        if not self._look(lambda: any(map(self._node.count_publishers, (QUEUE, EXECUTOR))), DISCOVERY_LIMIT):
            where = self._node.get_namespace().rstrip("/")
            raise NoGraphError(
                f"no graph is running here: nobody publishes {where}/{QUEUE} or {where}/{EXECUTOR}; "
                "start one with `telerobot up demo`, or name the arm with --namespace"
            )
        self._look(lambda: False, SETTLE)  # the rest of the graph is found together with its first node
        self._look(lambda: self._heard_by_queue() or not self._node.count_publishers(QUEUE), SERVICE_LIMIT)
        return self._heard_by_queue().removesuffix(EXECUTOR)

    def _look(self, found: Callable[[], object], limit: float) -> bool:
        """Let the graph be discovered until `found`; False after `limit` [s]."""
        end = self.now() + limit
        while not found():
            if self.now() > end:
                return False
            self._executor.spin_once(timeout_sec=LOOK)
        return True

    def _heard_by_queue(self) -> str:
        """Where the plan queue of this namespace hears the executor: its link may be another's; empty: not found."""
        try:
            topics = self._node.get_subscriber_names_and_types_by_node("path_plan_queue", self._node.get_namespace())
        except NodeNameNonExistentError:
            return ""
        return next((str(name) for name, _ in topics if name.endswith(f"/{EXECUTOR}")), "")
