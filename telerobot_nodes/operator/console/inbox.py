"""Bounded queue from the threads of the web server to the thread of the node; stops come first.

Callbacks of a browser only add requests; the node's thread takes and executes them. Of a stream only the newest value
is kept.
"""

from __future__ import annotations

import threading
from collections import deque
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
class Refused:
    """An input that is no valid command, and the reason."""

    reason: str


Request = Command | PoseTarget | GizmoMode | GizmoDrag | Refused


class Inbox:
    """Thread-safe queue of requests."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._stops: dict[type, Request] = {}
        self._waiting: deque[Request] = deque()
        self._newest: dict[type, Request] = {}
        self._dropped = 0

    def put(self, request: Request) -> bool:
        """Add a request; False if it was dropped because the queue is full. A stop is never dropped."""
        with self._lock:
            if isinstance(request, (EStop, Halt)):
                self._stops[type(request)] = request
            elif len(self._waiting) >= self._capacity:
                self._dropped += 1
                return False
            else:
                self._waiting.append(request)
        return True

    def put_newest(self, request: Request) -> None:
        """Add a value of a stream; it replaces an older value of its type."""
        with self._lock:
            self._newest[type(request)] = request

    def take(self) -> list[Request]:
        """Take everything: stops first, then requests in order, then the newest value of each stream."""
        with self._lock:
            requests: list[Request] = [*self._stops.values(), *self._waiting]
            requests += self._newest.values()
            if self._dropped:
                requests.append(Refused(f"{self._dropped} requests dropped: more than {self._capacity} waiting"))
            self._stops.clear()
            self._waiting.clear()
            self._newest.clear()
            self._dropped = 0
        return requests
