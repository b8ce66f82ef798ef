"""Waiting as a primitive of the program itself: for a time, for a signal, or for both [JPL-RTC]."""

from __future__ import annotations

from dataclasses import dataclass

from telerobot_nodes.rtc.primitives import Primitive, Report
from telerobot_nodes.rtc.request import Request
from telerobot_nodes.rtc.syntax import Both, Comparison, Condition, Either, Event, Negation


@dataclass(frozen=True)
class _Watch:
    primitive: int
    began: float  # [s]
    ends: float  # [s]
    until: Condition | None


class Watches:
    """Watches under way and the signals last heard."""

    def __init__(self) -> None:
        self._watches: dict[int, _Watch] = {}
        self.signals: dict[str, bool] = {}

    def begin(self, primitive: Primitive, request: Request | None, now: float) -> None:
        """Start a watch of `seconds`, ended early by the command's `until`."""
        seconds = primitive.parameters.get("seconds", 0.0)
        ends = now + (seconds if isinstance(seconds, float) else 0.0)
        until = request.until if request else None
        self._watches[primitive.number] = _Watch(primitive.number, now, ends, until)

    def forget(self, primitive: int) -> None:
        """The watch is over or no longer wanted."""
        self._watches.pop(primitive, None)

    def next(self) -> float:
        """When the first watch is over by time [s]."""
        return min((watch.ends for watch in self._watches.values()), default=float("inf"))

    def over(self, now: float) -> list[Report]:
        """Reports of the watches that are over."""
        reports = []
        for watch in self._watches.values():
            met = watch.until is not None and self._holds(watch.until, now - watch.began)
            if met or now >= watch.ends:
                outcome = "until" if met else "reached"
                reports.append(Report(watch.primitive, outcome, elapsed=now - watch.began))
        return reports

    def _holds(self, condition: Condition, elapsed: float) -> bool:
        """Signals and time; what only an arm can measure never holds here."""
        if isinstance(condition, Both):
            return all(self._holds(term, elapsed) for term in condition.terms)
        if isinstance(condition, Either):
            return any(self._holds(term, elapsed) for term in condition.terms)
        if isinstance(condition, Negation):
            return not self._holds(condition.term, elapsed)
        if isinstance(condition, Event):
            return (
                condition.kind == "signal"
                and condition.name is not None
                and self.signals.get(condition.name.text, False)
            )
        return _time_holds(condition, elapsed)


def _time_holds(condition: Comparison, elapsed: float) -> bool:
    if condition.measure.kind != "time":
        return False
    limit = condition.quantity.si
    return elapsed > limit if condition.comparator[0] == ">" else elapsed < limit
