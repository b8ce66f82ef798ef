"""Services whose answer comes later, from another thread: the callback returns at once and nothing waits in it.

rclpy sends what a callback returns. Here that is a mark, and the sending is put off until the handler's `send` is
called; the client sees an ordinary service.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from telerobot_nodes import graph
from telerobot_nodes.errors import GraphError, TelerobotError
from telerobot_nodes.nodes.base import GraphNode
from telerobot_nodes.nodes.interfaces import interface_class

Send = Callable[[Any], None]
Handler = Callable[[Any, Any, Send], None]  # request, empty response, what sends it filled: once, from any thread


class _Pending:
    """An answer and the address it goes to; whichever of the two comes last sends."""

    def __init__(self, send: Callable[[Any, Any], None]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._response: Any = None
        self._header: Any = None
        self._sent = False

    def fill(self, response: Any) -> None:
        """The answer is there; a second one is dropped."""
        with self._lock:
            if self._response is None:
                self._response = response
        self._send_when_whole()

    def address(self, header: Any) -> None:
        """Where it goes."""
        with self._lock:
            self._header = header
        self._send_when_whole()

    def _send_when_whole(self) -> None:
        with self._lock:
            if self._sent or self._response is None or self._header is None:
                return
            self._sent = True
        self._send(self._response, self._header)


def serve_later(node: GraphNode, name: str, handler: Handler) -> Any:
    """Serve `node/name` of the table; a TelerobotError of the handler is answered at once as `success = False`."""
    if name not in {entry.name for entry in node.entry.services}:
        raise GraphError(f"the table does not give service {name!r} to node {node.options.name}")

    def answer(request: Any, response: Any) -> _Pending:
        pending = _Pending(send)
        try:
            handler(request, response, pending.fill)
        except TelerobotError as error:
            node.note_refusal(error)
            response.success, response.message = False, str(error)
            pending.fill(response)
        except Exception as error:  # noqa: BLE001 -- process boundary: a caller's trouble is not the node's
            node.note_error(error)
            response.success, response.message = False, f"internal error: {error}"
            pending.fill(response)
        return pending

    service = node.create_service(interface_class(graph.service(name).type), name, answer)
    send: Callable[[Any, Any], None] = service.send_response
    service.send_response = lambda pending, header: pending.address(header)
    return service
