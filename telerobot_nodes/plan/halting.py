"""The sending end of a halt: asked once, repeated until the robot says it is halted [US5231693].

Numbers: the same number again is the same halt. A robot that reports this number or a later one without being
halted was resumed by somebody meanwhile; then a higher number is asked for.
"""

from __future__ import annotations

from telerobot_nodes.plan.operations import ExecutorMode, ExecutorReport

REPEAT = 0.05  # [s] between repetitions


class HaltSender:
    """One agent's halt."""

    def __init__(self) -> None:
        self.number = 0
        self.reason = ""
        self.open = False  # asked and not confirmed
        self._robot_number = 0
        self._next = 0.0

    def ask(self, now: float, reason: str) -> int:
        """Ask for a halt; its number. Asking again before it is confirmed is the same halt."""
        if not self.open:
            self.number = max(self.number, self._robot_number) + 1
            self.open = True
            self._next = now
        self.reason = reason
        return self.number

    def due(self, now: float) -> bool:
        """True when the halt must be sent (again) now."""
        if not self.open or now < self._next:
            return False
        self._next = now + REPEAT
        return True

    def on_report(self, report: ExecutorReport) -> None:
        """Take what the robot says: confirmed, not yet, or resumed meanwhile."""
        self._robot_number = report.halt_number
        if not self.open:
            return
        if report.mode in (ExecutorMode.HALTED, ExecutorMode.FAULT) and report.halt_number >= self.number:
            self.open = False
        elif report.halt_number >= self.number:
            self.number = report.halt_number + 1
