"""A row of the table of faults, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from telerobot_nodes.bench import report

if TYPE_CHECKING:
    from telerobot_nodes.bench.faults.rig import Rig

Goal = dict[str, Any]


class Verdict(Enum):
    """What a run of a row has shown."""

    HELD = "held"
    PART = "held in part"
    NOT = "not held"
    UNTRIED = "not tried"


@dataclass(frozen=True)
class Outcome:
    """What was done, its goals, and what was observed."""

    did: str
    goals: tuple[Goal, ...] = ()
    observed: str = ""
    untried: str = ""  # why the row, or a part of it, was not tried here
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """Held if every goal is met and nothing was left out."""
        met = [bool(goal["met"]) for goal in self.goals]
        if not met:
            return Verdict.UNTRIED if self.untried else Verdict.NOT
        if all(met):
            return Verdict.PART if self.untried else Verdict.HELD
        return Verdict.PART if any(met) else Verdict.NOT


@dataclass(frozen=True)
class Row:
    """One fault: what must hold, and the function that tries it."""

    number: int
    fault: str
    must: str
    try_it: Callable[[Rig], Outcome]
    cause: str = ""  # of goals that were missed when the page was made; found by reading the product and its output


def at_most(name: str, value: float, most: float, unit: str = "s") -> Goal:
    """A goal with an upper bound."""
    return report.goal(name, value, unit, "<=", most)


def at_least(name: str, value: float, least: float, unit: str = "-") -> Goal:
    """A goal with a lower bound."""
    return report.goal(name, value, unit, ">=", least)


def none(name: str, value: float) -> Goal:
    """A goal of a count that must be zero."""
    return report.goal(name, value, "-", "==", 0)


def holds(name: str, value: bool) -> Goal:
    """A goal that holds or not."""
    return report.goal(name, float(value), "-", "==", 1)
