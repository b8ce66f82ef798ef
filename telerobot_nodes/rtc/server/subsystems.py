"""What the host asks of the subsystems: begin, halt, stop, hold, slow."""

from __future__ import annotations

from typing import Protocol

from telerobot_nodes.core.protocol import HaltId
from telerobot_nodes.rtc.elaboration import Request
from telerobot_nodes.rtc.skills import HALTED, Primitive


class Subsystems(Protocol):
    """The subsystems. Calls come from the decision thread, halts from any thread; none may block."""

    def send(self, primitive: Primitive, request: Request) -> None:
        """Begin a primitive; its report comes back through `Host.report`."""

    def halt(self, subsystem: str, reason: str, primitive: int, named: HaltId | None = None) -> None:
        """Stop a subsystem now, and let nothing move it before `resume_all`; the primitive (0: any) reports HALTED.

        `named`: the halt that was heard; None: the decision unit's own.
        """

    def halt_all(self, reason: str, named: HaltId | None = None) -> None:
        """Stop every arm now; nothing moves one before `resume_all`."""

    def end(self, subsystem: str, primitive: int, outcome: str = HALTED) -> None:
        """End a motion that is stopped already; it reports `outcome`."""

    def resume_all(self, reason: str) -> None:
        """End the halts of all arms."""

    def stop(self, subsystem: str, reason: str, primitive: int, outcome: str = HALTED) -> None:
        """Like `halt`, for this motion only: the next may begin at once."""

    def hold(self, primitive: int, subsystem: str, hold: bool) -> None:
        """Stop on the path and keep the rest, or go on."""

    def slow(self, primitive: Primitive, speed: float) -> None:
        """A reflex slows a primitive down to `speed` [m/s]."""
