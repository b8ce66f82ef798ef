"""Workload as a person judges it after a trial: the six scales of NASA-TLX [HartStaveland1988].

The score is the mean of the scales without weights, the raw TLX [Hart2006].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from telerobot_nodes.errors import InvalidValueError

LOWEST, HIGHEST, STEP = 0, 100, 5


@dataclass(frozen=True)
class Scale:
    """One scale, its question, and the words at its ends."""

    title: str
    question: str
    low: str = "very low"
    high: str = "very high"


SCALES: Mapping[str, Scale] = MappingProxyType(
    {
        "mental": Scale("mental demand", "How much did you have to think, decide, look and remember?"),
        "physical": Scale("physical demand", "How much bodily effort did it take?"),
        "temporal": Scale("temporal demand", "How hurried was the pace?"),
        "performance": Scale("performance", "How well did you do what was asked?", "perfectly", "not at all"),
        "effort": Scale("effort", "How hard did you work to do as well as you did?"),
        "frustration": Scale("frustration", "How insecure, irritated or annoyed were you?"),
    }
)


@dataclass(frozen=True)
class Workload:
    """One answer for each scale, 0 .. 100 in steps of 5. Raises InvalidValueError naming the scale."""

    answers: Mapping[str, int]

    def __post_init__(self) -> None:
        for name in self.answers:
            if name not in SCALES:
                raise InvalidValueError("workload", name, f"allowed: {', '.join(SCALES)}")
        for name in SCALES:
            if name not in self.answers:
                raise InvalidValueError(f"workload.{name}", "none", "allowed: an answer for each scale")
        checked = {name: _answer(name, self.answers[name]) for name in SCALES}
        object.__setattr__(self, "answers", MappingProxyType(checked))

    @property
    def score(self) -> float:
        """Mean of the six scales, 0 .. 100 [Hart2006]."""
        return sum(self.answers.values()) / len(SCALES)


def _answer(name: str, value: Any) -> int:
    """`value` as a whole number. A slider of a page may send 35.0."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not LOWEST <= value <= HIGHEST or value % STEP:
        raise InvalidValueError(f"workload.{name}", value, f"allowed: {LOWEST} .. {HIGHEST} in steps of {STEP}")
    return int(value)
