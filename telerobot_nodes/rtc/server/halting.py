"""A halt that was heard: the arms on the thread that hears it, the bookkeeping on the decision thread after it."""

from __future__ import annotations

from collections.abc import Callable

from telerobot_nodes.core.protocol import HaltId
from telerobot_nodes.rtc.decision import HaltSubsystem, Output
from telerobot_nodes.rtc.language import Control
from telerobot_nodes.rtc.server.inbox import Task
from telerobot_nodes.rtc.server.subsystems import Subsystems
from telerobot_nodes.rtc.server.text_server import EVERYTHING, InterfaceServer


class Halting:
    """Passes each halt on once, under the name it came with. One pass of bookkeeping serves all that wait for it."""

    def __init__(
        self,
        interface: InterfaceServer,
        subsystems: Subsystems,
        urgent: Callable[[Task], None],
        clock: Callable[[], float],
    ) -> None:
        """`urgent` takes a task for the decision thread, before all others."""
        self._interface, self._subsystems, self._urgent, self._clock = interface, subsystems, urgent, clock
        self._waits = False  # a halt of everything waits for its bookkeeping
        self._heard = 0.0  # [s] the last of them

    def halt(self, meant: Control, reason: str, named: HaltId | None) -> None:
        """Stop what is meant, on the caller's thread; its commands end soon after. Any thread."""
        stopped: frozenset[str] | None = None  # all
        if meant == EVERYTHING:
            self._subsystems.halt_all(reason, named)
            self._heard = heard = self._clock()
            if self._waits:
                return
            self._waits = True
        else:
            moved = self._interface.moved_by(meant)
            for subsystem, primitive in moved:
                self._subsystems.halt(subsystem, reason, primitive, named)
            stopped, heard = frozenset(subsystem for subsystem, _ in moved), self._clock()
        self._urgent(lambda now: self._settle(meant, reason, stopped, heard, now))

    def _settle(
        self, meant: Control, reason: str, stopped: frozenset[str] | None, heard: float, now: float
    ) -> list[Output]:
        """End what was stopped; only a subsystem that moves since then is halted now. Decision thread."""
        if meant == EVERYTHING:
            self._waits = False  # a halt that comes from now on has a pass of its own
            heard = self._heard  # the latest of those that waited for this pass
        left: list[Output] = []
        for output in self._interface.halt(meant, reason, now, heard):
            if isinstance(output, HaltSubsystem) and (stopped is None or output.subsystem in stopped):
                self._subsystems.end(output.subsystem, output.primitive)
            else:
                left.append(output)
        return left
