"""Orders from the host to the control loop, complete and in sequence: primitives, changes, stops.

What belongs here: the orders, and their transport inside one process or between two. What must never enter: what the
loop does with them. Measurements, windows and halts are fixed-size records (`control_records.py`).
"""

from __future__ import annotations

import copyreg
import pickle
import socket
import threading
from collections import deque
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

from telerobot_nodes.motion.primitives import Prepared, PreparedChange

_HEADER = 8  # bytes: length of what follows
_PIECE = 65536  # most bytes received in one period of the loop


def _proxy(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


copyreg.pickle(MappingProxyType, lambda proxy: (_proxy, (dict(proxy),)))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Begin:
    """Begin a primitive with the arm at rest where it was prepared; `number` counts orders."""

    number: int
    prepared: Prepared


@dataclass(frozen=True)
class Change:
    """Change the running primitive's parameters."""

    number: int
    prepared: PreparedChange


@dataclass(frozen=True)
class Stop:
    """Stop the primitive `id`; 0: any."""

    id: int
    reason: str


@dataclass(frozen=True)
class Tare:
    """Take the latest wrench as no contact."""


@dataclass(frozen=True)
class ClearTimes:
    """Clear the statistics of periods and lateness."""


Order = Begin | Change | Stop | Tare | ClearTimes


class OrderSource(Protocol):
    """The loop's end of the transport. `receive` never waits."""

    def receive(self) -> Order | None:
        """The next complete order, or None."""


class LocalOrders:
    """Transport between two threads of one process."""

    def __init__(self) -> None:
        self._waiting: deque[Order] = deque()

    def send(self, order: Order) -> None:
        """Append an order."""
        self._waiting.append(order)

    def receive(self) -> Order | None:
        """The next order, or None."""
        return self._waiting.popleft() if self._waiting else None


class OrderSender:
    """The host's end of a stream socket to the loop's process."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def send(self, order: Order) -> None:
        """Send an order. Raises OSError when the loop's process has ended."""
        data = pickle.dumps(order, protocol=pickle.HIGHEST_PROTOCOL)
        with self._lock:
            self._stream.sendall(len(data).to_bytes(_HEADER, "little") + data)


class OrderReceiver:
    """The loop's end of the stream: receives a bounded piece per call and returns complete orders."""

    def __init__(self, stream: socket.socket) -> None:
        stream.setblocking(False)
        self.closed = False  # the host has ended, or ends the loop
        self._stream = stream
        self._buffer = bytearray()
        self._piece = bytearray(_PIECE)

    def receive(self) -> Order | None:
        """The next complete order, or None."""
        try:
            count = self._stream.recv_into(self._piece)
            self.closed = count == 0
            self._buffer += memoryview(self._piece)[:count]
        except BlockingIOError:
            pass
        except OSError:
            self.closed = True
        if len(self._buffer) < _HEADER:
            return None
        size = int.from_bytes(self._buffer[:_HEADER], "little")
        if len(self._buffer) < _HEADER + size:
            return None
        data = bytes(self._buffer[_HEADER : _HEADER + size])
        del self._buffer[: _HEADER + size]
        order: Order = pickle.loads(data)
        return order
