"""A sequence of primitives before the executive: checked when it comes, given up as a whole when one ends otherwise.

What belongs here: what waits, and what is reported of it. One thread (the host's); the loop is not involved.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from telerobot_nodes.errors import InvalidValueError, QueueFullError
from telerobot_nodes.motion.executive import Executive, ExecutiveStatus, PrimitiveRequest

MOST = 256  # primitives that may wait


class PrimitiveQueue:
    """First in, first out. A primitive that ends in a way its request does not accept empties what waits."""

    def __init__(self, executive: Executive) -> None:
        self._executive = executive
        self._waiting: deque[PrimitiveRequest] = deque()
        self._last = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def submit(self, requests: Sequence[PrimitiveRequest]) -> None:
        """Take all of them, or none. Raises InvalidValueError naming the primitive's field, or QueueFullError."""
        last = self._last
        if len(self._waiting) + len(requests) > MOST:
            raise QueueFullError(f"primitives: {len(self._waiting)} wait, {len(requests)} more; allowed: {MOST}")
        for request in requests:
            if request.id <= last:
                raise InvalidValueError("id", request.id, f"allowed: above {last}")
            last = request.id
            self._executive.check(request)
        self._waiting.extend(requests)
        self._last = last

    def next(self) -> PrimitiveRequest | None:
        """The primitive to prepare and begin now that the arm rests; None when none waits."""
        return self._waiting.popleft() if self._waiting else None

    def ended(self, request: PrimitiveRequest, status: ExecutiveStatus) -> tuple[PrimitiveRequest, ...]:
        """One has ended: those given up because of how it did."""
        return () if request.accepts(status.reason) else self.clear()

    def remove(self, number: int) -> PrimitiveRequest | None:
        """Give up the waiting primitive of this id; None when it does not wait."""
        for request in self._waiting:
            if request.id == number:
                self._waiting.remove(request)
                return request
        return None

    def clear(self) -> tuple[PrimitiveRequest, ...]:
        """Give up everything that waits; returns it."""
        given_up = tuple(self._waiting)
        self._waiting.clear()
        return given_up
