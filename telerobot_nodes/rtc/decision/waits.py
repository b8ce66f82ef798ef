"""Waits, which are primitives of the program itself: for a time, for a signal, or for both [JPL-RTC]."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from telerobot_nodes.rtc.decision.conditions import Measured, holds, instants, last_due
from telerobot_nodes.rtc.elaboration import Request
from telerobot_nodes.rtc.language import Condition
from telerobot_nodes.rtc.skills import TIMEOUT, Primitive, Report

AFTER = 1e-3  # [s] after an instant, where `time > 2 s` holds and not only nearly


@dataclass(frozen=True)
class _Wait:
    primitive: int
    began: float  # [s]
    ends: float  # [s]
    until: Condition | None
    every: float  # [s] between progress reports; 0: none
    told: float  # [s] the latest

    @property
    def changes(self) -> list[float]:
        """When its condition may change by time alone [s]."""
        return [] if self.until is None else [self.began + at + AFTER for at in instants(self.until)]


class TimedWaits:
    """Waits under way and the last state of each signal."""

    def __init__(self) -> None:
        self._waits: dict[int, _Wait] = {}
        self._looked = -math.inf  # [s] at the conditions, the last time
        self.signals: dict[str, bool] = {}

    def begin(self, primitive: Primitive, request: Request | None, now: float) -> None:
        """Start a wait of `seconds`; one with an `until` must see it come true by then."""
        seconds = primitive.parameters.get("seconds", 0.0)
        ends = now + (seconds if isinstance(seconds, float) else 0.0)
        until = request.until if request else None
        every = request.report_every if request else 0.0
        self._waits[primitive.number] = _Wait(primitive.number, now, ends, until, every, now)

    def remove(self, primitive: int) -> None:
        """Drop the wait of a primitive, if there is one."""
        self._waits.pop(primitive, None)

    def next_end(self) -> float:
        """When the first wait ends by time, has to be reported, or its condition may come true by time [s]."""
        reports = [wait.told + wait.every for wait in self._waits.values() if wait.every]
        changes = [at for wait in self._waits.values() for at in wait.changes if at > self._looked]
        return min([*reports, *changes, *(wait.ends for wait in self._waits.values())], default=math.inf)

    def over(self, now: float) -> list[Report]:
        """Reports of the waits that are over."""
        reports, self._looked = [], now
        for wait in self._waits.values():
            met = wait.until is not None and self._holds(wait.until, now - wait.began)
            if met or now >= wait.ends:
                outcome = "until" if met else "reached" if wait.until is None else TIMEOUT
                note = f"the condition did not hold within {now - wait.began:.3g} s" if outcome == TIMEOUT else ""
                reports.append(Report(wait.primitive, outcome, note=note, elapsed=now - wait.began))
        return reports

    def progress(self, now: float) -> list[Report]:
        """Reports that are due at the interval of each command."""
        due = [wait for wait in self._waits.values() if wait.every and now - wait.told >= wait.every]
        for wait in due:
            self._waits[wait.primitive] = replace(wait, told=last_due(wait.began, wait.every, now))
        return [
            Report(
                wait.primitive, "running", final=False, note=f"{now - wait.began:.1f} s of {wait.ends - wait.began:g} s"
            )
            for wait in due
        ]

    def _holds(self, condition: Condition, elapsed: float) -> bool:
        """Whether a condition is known to hold: a wait measures time and signals."""
        return holds(condition, Measured(signals=self.signals), elapsed) is True
