"""A short-lived node behind `telerobot status`, `clutch` and the like: the operator client for one command."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from rclpy.node import NodeNameNonExistentError

from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.nodes.clients.operator_client import RosPort, connect, offered
from telerobot_nodes.nodes.framework import DISCOVERY_LIMIT, Foreground
from telerobot_nodes.operator.client import Command, ConsoleView, OperatorClient, Outcome, view

SERVICE_LIMIT = 8.0  # [s] to find the command's service
REQUEST_LIMIT = 10.0  # [s] for an answer
FIRST_STATES_LIMIT = 3.0  # [s] for the first states to arrive
SETTLE = 0.3  # [s]
LOOK = 0.05  # [s] between checks of what has been found
QUEUE = "path_plan_queue/state"
EXECUTOR = "plan_executor/state"


class NoGraphError(TelerobotError):
    """No graph was found."""


class Terminal(Foreground):
    """The operator client of one command, on the operator's side of the link."""

    def __init__(self, namespace: str = "") -> None:
        """Raises NoGraphError when neither plan queue nor executor is found."""
        super().__init__(f"telerobot_terminal_{os.getpid()}", namespace)
        try:
            self.prefix = self._find()
            self._port = RosPort(self, "shell", offered("demo"))
            self._client = connect(self, self._port, REQUEST_LIMIT)
            self.wait_for(lambda client: None not in (client.received.queue, client.received.robot), FIRST_STATES_LIMIT)
        except BaseException:
            self.close()
            raise

    @property
    def operator(self) -> OperatorClient:
        """State of the operator's side, as received."""
        return self._client

    def ask(self, command: Command) -> Outcome:
        """Send a command and wait for its outcome."""
        outcomes: list[Outcome] = []
        self.wait_for(lambda _: self._port.ready(command), SERVICE_LIMIT)
        self._client.ask(command, self.now(), outcomes.append)
        self.wait_for(lambda _: bool(outcomes), 2.0 * REQUEST_LIMIT)
        return outcomes[0] if outcomes else Outcome(False, "no answer")

    def view(self) -> ConsoleView:
        """The texts now."""
        return view(self._client, self.now())

    def wait_for(self, ready: Callable[[OperatorClient], object], limit: float) -> bool:
        """Receive states and answers until `ready`; False after `limit` [s]."""

        def check() -> object:
            self._client.tick(self.now())
            return ready(self._client)

        return self.wait(check, limit)

    def _find(self) -> str:
        """Prefix of crossing topics, once a plan queue or an executor is found."""

        def found() -> bool:
            return any(map(self.node.count_publishers, (QUEUE, EXECUTOR)))

        def connected() -> bool:
            return bool(self._reports_topic()) or not self.node.count_publishers(QUEUE)

        if not self.wait(found, DISCOVERY_LIMIT, LOOK):
            raise NoGraphError(
                f"no graph is running here: no node publishes {self.namespace}/{QUEUE} or {self.namespace}/{EXECUTOR}; "
                "start one with `telerobot up demo`, or name the arm with --namespace"
            )
        self.spin(SETTLE)  # the rest of the graph is found together with its first node
        self.wait(connected, SERVICE_LIMIT, LOOK)
        return self._reports_topic().removesuffix(EXECUTOR)

    def _reports_topic(self) -> str:
        """Topic on which the queue of this namespace receives the executor; with its own link, or another's.

        Empty: not found.
        """
        try:
            topics = self.node.get_subscriber_names_and_types_by_node("path_plan_queue", self.node.get_namespace())
        except NodeNameNonExistentError:
            return ""
        return next((str(name) for name, _ in topics if name.endswith(f"/{EXECUTOR}")), "")


def call_service(name: str, namespace: str) -> Any:
    """Response of a Trigger service of the table, called without any other node. Raises NoGraphError."""
    with Foreground(f"telerobot_call_{os.getpid()}", namespace) as foreground:
        client = foreground.client(name)
        if not foreground.wait(client.service_is_ready, SERVICE_LIMIT, LOOK):
            raise NoGraphError(f"no node serves {foreground.namespace}/{name} on this host")
        response = foreground.result(client.call_async(client.srv_type.Request()), REQUEST_LIMIT)
        if response is None:
            raise NoGraphError(f"{foreground.namespace}/{name} has not answered in {REQUEST_LIMIT:g} s")
        return response
