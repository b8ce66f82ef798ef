"""Bounded queue from the threads of the web server to the thread of the node.

Callbacks of a browser only add requests; the node's thread takes and executes them. Of a stream only the newest value
is kept. Stops are sent by the thread that receives them; here they only leave their trace.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from telerobot_nodes.operator.client import Command, EStop, Halt, PoseTarget

CAPACITY = 64  # requests; a person cannot press faster than the node takes them


@dataclass(frozen=True)
class GizmoMode:
    """The operator switches driving by the gizmo on or off."""

    on: bool


@dataclass(frozen=True)
class GizmoDrag:
    """The operator grabs (`held`) or lets go of the gizmo."""

    held: bool


@dataclass(frozen=True)
class Stopped:
    """A stop that was sent."""

    command: Halt | EStop


@dataclass(frozen=True)
class Refused:
    """An input that is no valid command, and the reason."""

    reason: str


Request = Command | PoseTarget | GizmoMode | GizmoDrag | Stopped | Refused


class Inbox:
    """Thread-safe queue of requests. `wake` is called when one was added, but not for a value of a stream."""

    def __init__(self, capacity: int = CAPACITY, wake: Callable[[], object] = lambda: None) -> None:
        self._capacity, self._wake = capacity, wake
        self._lock = threading.Lock()
        self._waiting: deque[Request] = deque()
        self._newest: dict[type, Request] = {}
        self._dropped = 0

    def put(self, request: Request) -> bool:
        """Add a request; False if it was dropped because the queue is full."""
        with self._lock:
            if len(self._waiting) >= self._capacity:
                self._dropped += 1
                return False
            self._waiting.append(request)
        self._wake()
        return True

    def put_newest(self, request: Request) -> None:
        """Add a value of a stream; it replaces an older value of its type."""
        with self._lock:
            self._newest[type(request)] = request

    def take(self) -> list[Request]:
        """Take everything: requests in order, then the newest value of each stream."""
        with self._lock:
            requests: list[Request] = [*self._waiting, *self._newest.values()]
            if self._dropped:
                requests.append(Refused(f"{self._dropped} requests dropped: more than {self._capacity} waiting"))
            self._waiting.clear()
            self._newest.clear()
            self._dropped = 0
        return requests
