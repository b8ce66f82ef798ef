"""A short-lived node behind `telerobot status`, `clutch` and the like: the operator client for one command."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from telerobot_nodes.nodes.clients.camera_requests import CameraRequests
from telerobot_nodes.nodes.clients.discovery import LOOK, NoGraphError, find_prefix
from telerobot_nodes.nodes.clients.operator_client import RosPort, connect, offered
from telerobot_nodes.nodes.framework import Foreground
from telerobot_nodes.operator.client import Command, Confirmation, OperatorClient, Outcome, Result, commands
from telerobot_nodes.operator.view import ConsoleView, view

SERVICE_LIMIT = 8.0  # [s] to find the command's service
REQUEST_LIMIT = 10.0  # [s] for an answer
CAMERA_LIMIT = 30.0  # [s] for its state, over the link and back
FIRST_STATES_LIMIT = 3.0  # [s] for the first states to arrive


class Terminal(Foreground):
    """The operator client of one command, on the operator's side of the link."""

    def __init__(self, namespace: str = "") -> None:
        """Raises NoGraphError when neither plan queue nor executor is found."""
        super().__init__(f"telerobot_terminal_{os.getpid()}", namespace)
        try:
            self.prefix = find_prefix(self, self.wait)
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
        self.wait_for(lambda _: bool(outcomes), 2.0 * REQUEST_LIMIT + Confirmation.limit(self._client.queue))
        if isinstance(command, commands.SetCamera) and self._port.camera is not None and outcomes and outcomes[0].done:
            return self._camera_outcome(self._port.camera)
        return outcomes[0] if outcomes else Outcome(Result.NO_ANSWER, "no answer")

    def _camera_outcome(self, camera: CameraRequests) -> Outcome:
        self.wait(lambda: camera.outcome is not None, CAMERA_LIMIT)
        return camera.outcome or Outcome(Result.NO_ANSWER, f"not in force after {CAMERA_LIMIT:g} s")

    def wait_for_this_host(self, limit: float) -> bool:
        """Receive until this host's recorder and link, where it has one, have reported; False after `limit` [s]."""

        def has_link() -> bool:
            return self.node.count_publishers(self.topic_name("link/state")) > 0

        def known(client: OperatorClient) -> bool:
            linked = client.received.peers is not None or not has_link()
            return client.received.recorder is not None and linked

        return self.wait_for(known, limit)

    def view(self) -> ConsoleView:
        """The texts now."""
        return view(self._client, self.now())

    def wait_for(self, ready: Callable[[OperatorClient], object], limit: float) -> bool:
        """Receive states and answers until `ready`; False after `limit` [s]."""

        def check() -> object:
            self._client.tick(self.now())
            return ready(self._client)

        return self.wait(check, limit)


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
