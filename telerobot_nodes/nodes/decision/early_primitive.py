"""A primitive that comes while the arm's latest report is old: this process may have been held up, not the arm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from telerobot_nodes.rtc.elaboration import Request
from telerobot_nodes.rtc.execution import FRESH
from telerobot_nodes.rtc.skills import Primitive


@dataclass
class _Waiting:
    primitive: Primitive
    request: Request
    until: float  # [s]
    held: bool = False


class EarlyPrimitive:
    """Keeps one primitive until the arm's next report, FRESH at most. Times [s] are arguments."""

    def __init__(self, answer: Callable[[Primitive, str], None]) -> None:
        """`answer` gets a primitive that does not begin, and its outcome."""
        self._answer = answer
        self._waiting: _Waiting | None = None

    def wait(self, primitive: Primitive, request: Request, now: float) -> None:
        """Keep a primitive."""
        self._waiting = _Waiting(primitive, request, now + FRESH)

    def stop(self, number: int, outcome: str) -> None:
        """Answer the primitive of this number (0: whichever waits) with `outcome`; it does not begin."""
        if self._waiting is not None and number in (0, self._waiting.primitive.number):
            self._answer(self._take().primitive, outcome)

    def hold(self, number: int, hold: bool) -> None:
        """Keep the primitive of this number as long as `hold` is true."""
        if self._waiting is not None and self._waiting.primitive.number == number:
            self._waiting.held = hold

    def due(self, now: float, known: bool) -> tuple[Primitive, Request] | None:
        """The primitive to begin, because the arm is `known` to report; one whose time has passed is answered."""
        if self._waiting is None or self._waiting.held:
            return None
        if known:
            waiting = self._take()
            return waiting.primitive, waiting.request
        if now > self._waiting.until:
            self._answer(self._take().primitive, "link_loss")
        return None

    def _take(self) -> _Waiting:
        assert self._waiting is not None
        waiting, self._waiting = self._waiting, None
        return waiting
