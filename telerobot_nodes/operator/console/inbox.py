"""From the web server's threads to the node's: bounded, ordered, halts first, streams keep only their newest value.

Callbacks of the browser only ever put something in here; the node's thread takes it out and acts.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

from telerobot_nodes.operator.commands import Command, Halt, PoseTarget

CAPACITY = 64  # requests waiting; a person cannot press faster than the node takes


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
    """What was typed or dragged cannot be a command; says why."""

    reason: str


Request = Command | PoseTarget | GizmoMode | GizmoDrag | Refused


class Inbox:
    """Thread-safe; the node's thread looks into it often enough for a person."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._halt: Halt | None = None
        self._waiting: deque[Request] = deque()
        self._newest: dict[type, Request] = {}
        self._dropped = 0

    def put(self, request: Request) -> bool:
        """Add a request; False when the box is full and it was dropped. A halt always fits."""
        with self._lock:
            if isinstance(request, Halt):
                self._halt = request
            elif len(self._waiting) >= self._capacity:
                self._dropped += 1
                return False
            else:
                self._waiting.append(request)
        return True

    def put_newest(self, request: Request) -> None:
        """Add a value of a stream; it replaces one of its type that was not taken yet."""
        with self._lock:
            self._newest[type(request)] = request

    def take(self) -> list[Request]:
        """Everything waiting: a halt first, then requests in order, then the newest of each stream."""
        with self._lock:
            halt, self._halt = self._halt, None
            requests: list[Request] = [] if halt is None else [halt]
            requests += self._waiting
            requests += self._newest.values()
            if self._dropped:
                requests.append(Refused(f"{self._dropped} requests dropped: more than {self._capacity} waiting"))
            self._waiting.clear()
            self._newest.clear()
            self._dropped = 0
        return requests
