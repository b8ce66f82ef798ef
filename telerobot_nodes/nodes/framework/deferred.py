"""Services with a deferred response: the callback returns at once, the response is sent later, from any thread.

rclpy sends what the callback returns. A coroutine as callback would be the ordinary way, but rclpy's EventsExecutor
(7.1.6) does not await those of services: it sends the coroutine itself, a TypeError. Here the callback returns a
`DeferredResponse`, and the service sends it when it is filled; the client sees an ordinary service.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from telerobot_nodes.nodes.framework.services import PatientService

Send = Callable[[Any], None]  # takes the filled response: once, from any thread


class DeferredResponse:
    """A response and the way to its client; it is sent when both are known. A second response is dropped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._response: Any = None
        self._deliver: Send | None = None

    def fill(self, response: Any) -> None:
        """Send `response`, or keep it until the way is known."""
        with self._lock:
            if self._response is not None:
                return
            self._response, deliver = response, self._deliver
        if deliver is not None:
            deliver(response)

    def route(self, deliver: Send) -> None:
        """Send the response by `deliver`, now or when it is filled."""
        with self._lock:
            self._deliver, response = deliver, self._response
        if response is not None:
            deliver(response)


class DeferredService(PatientService):
    """A service whose callback returns a `DeferredResponse`."""

    def send_response(self, response: DeferredResponse, header: Any) -> None:
        """rclpy's: called with what the callback returned, and the address of the client."""
        response.route(lambda filled: PatientService.send_response(self, filled, header))
