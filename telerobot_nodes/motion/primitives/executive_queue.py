"""Queue of primitives for the executive, checked on arrival.

One thread (the host's); the loop is not involved.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from telerobot_nodes.errors import InvalidValueError, QueueFullError
from telerobot_nodes.motion.primitives.executive import Executive
from telerobot_nodes.motion.primitives.request import PrimitiveRequest

CAPACITY = 256  # primitives


class PrimitiveQueue:
    """First in, first out."""

    def __init__(self, executive: Executive) -> None:
        self._executive = executive
        self._waiting: deque[PrimitiveRequest] = deque()
        self._last = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def submit(self, requests: Sequence[PrimitiveRequest]) -> None:
        """Append all of them or none. Raises InvalidValueError naming the primitive's field, or QueueFullError."""
        last = self._last
        if len(self._waiting) + len(requests) > CAPACITY:
            raise QueueFullError(f"primitives: {len(self._waiting)} wait, {len(requests)} more; allowed: {CAPACITY}")
        for request in requests:
            last = self._checked(request, last)
        self._waiting.extend(requests)
        self._last = last

    def submit_first(self, request: PrimitiveRequest) -> None:
        """Put one before all others, whatever their number. Raises InvalidValueError naming the primitive's field."""
        self._last = self._checked(request, self._last)
        self._waiting.appendleft(request)

    def next(self) -> PrimitiveRequest | None:
        """Remove and return the first primitive, or None."""
        return self._waiting.popleft() if self._waiting else None

    def remove(self, number: int) -> PrimitiveRequest | None:
        """Remove and return the waiting primitive of this id, or None."""
        for request in self._waiting:
            if request.id == number:
                self._waiting.remove(request)
                return request
        return None

    def clear(self) -> tuple[PrimitiveRequest, ...]:
        """Remove and return all waiting primitives."""
        given_up = tuple(self._waiting)
        self._waiting.clear()
        return given_up

    def _checked(self, request: PrimitiveRequest, last: int) -> int:
        """The id of a request that may follow `last`."""
        if request.id <= last:
            raise InvalidValueError("id", request.id, f"allowed: above {last}")
        self._executive.check(request)
        return request.id
