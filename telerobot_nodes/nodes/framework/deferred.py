"""Services with a deferred response: the callback returns at once, the response is sent later, from any thread.

rclpy sends what the callback returns. A coroutine as callback would be the ordinary way, but rclpy's EventsExecutor
(7.1.6) does not await those of services: it sends the coroutine itself, a TypeError. Here the callback returns a
`DeferredResponse`, and the service sends it when it is filled; the client sees an ordinary service.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_services_default
from rclpy.service import Service
from rclpy.type_support import check_is_valid_srv_type

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


class DeferredService(Service):  # type: ignore[misc]
    """rclpy's service, whose callback returns a `DeferredResponse`."""

    @classmethod
    def on(cls, node: Node, kind: Any, name: str, callback: Callable[[Any, Any], DeferredResponse]) -> DeferredService:
        """A service of `node`, as `Node.create_service` makes one; the node adds it to its services."""
        qos, group = qos_profile_services_default, node.default_callback_group
        check_is_valid_srv_type(kind)  # loads the type support
        with node.handle:
            handle = _rclpy.Service(node.handle, kind, name, qos.get_c_qos_profile())
        service = cls(handle, kind, name, callback, group, qos)
        group.add_entity(service)
        return service

    def send_response(self, response: DeferredResponse, header: Any) -> None:
        """rclpy's: called with what the callback returned, and the address of the client."""
        response.route(lambda filled: self._send(filled, header))

    def _send(self, response: Any, header: Any) -> None:
        with contextlib.suppress(InvalidHandle):  # the node has ended: the client has its time-out
            super().send_response(response, header)
