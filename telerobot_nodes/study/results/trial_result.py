"""One trial as performed, and its line in the results file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.study.design import Ending, Trial, Workload


@dataclass(frozen=True)
class TrialResult:
    """One trial of one person. Raises InvalidValueError naming the field."""

    person: str
    trial: Trial
    ending: Ending
    elapsed: float  # [s] from the first sight of the targets to the end
    seconds: float | None  # task time with what touches cost; None: the last target was not reached
    touches: int  # of the plate
    targets: int  # passed by the actual arm
    workload: Workload
    begun: str  # date and time, ISO 8601
    bag: str  # folder of the recording, in that of the study

    def __post_init__(self) -> None:
        if (self.ending is Ending.REACHED) != (self.seconds is not None):
            raise InvalidValueError("seconds", self.seconds, "allowed: a number if the last target was reached")

    def line(self) -> str:
        """The result as one line of JSON."""
        values: dict[str, Any] = {
            "person": self.person,
            **{entry.name: getattr(self.trial, entry.name) for entry in fields(Trial)},
            "ending": self.ending.value,
            **{name: getattr(self, name) for name in ("elapsed", "seconds", "touches", "targets")},
            "workload": dict(self.workload.answers),
            "workload_score": round(self.workload.score, 2),
            "begun": self.begun,
            "bag": self.bag,
        }
        return json.dumps(values)


def result_from_line(line: str) -> TrialResult:
    """A line of the results file. Raises InvalidValueError naming the key."""
    try:
        values = json.loads(line)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise InvalidValueError("line", line[:60], "allowed: one JSON object")
    ending = _text(values, "ending")
    if ending not in [one.value for one in Ending]:
        raise InvalidValueError("ending", ending, f"allowed: {', '.join(one.value for one in Ending)}")
    workload = _value(values, "workload")
    if not isinstance(workload, dict):
        raise InvalidValueError("workload", workload, "allowed: an answer for each scale")
    return TrialResult(
        person=_text(values, "person"),
        trial=Trial(
            _count(values, "number"),
            _text(values, "task"),
            _text(values, "condition"),
            _number(values, "round_trip"),
            _count(values, "seed"),
        ),
        ending=Ending(ending),
        elapsed=_number(values, "elapsed"),
        seconds=None if _value(values, "seconds") is None else _number(values, "seconds"),
        touches=_count(values, "touches"),
        targets=_count(values, "targets"),
        workload=Workload(workload),
        begun=_text(values, "begun"),
        bag=_text(values, "bag"),
    )


def _value(values: Mapping[str, Any], key: str) -> Any:
    if key not in values:
        raise InvalidValueError(key, "none", "allowed: every key of a trial")
    return values[key]


def _text(values: Mapping[str, Any], key: str) -> str:
    value = _value(values, key)
    if not isinstance(value, str):
        raise InvalidValueError(key, value, "allowed: a text")
    return value


def _number(values: Mapping[str, Any], key: str) -> float:
    value = _value(values, key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value) or value < 0.0:
        raise InvalidValueError(key, value, "allowed: a finite number from 0")
    return float(value)


def _count(values: Mapping[str, Any], key: str) -> int:
    value = _value(values, key)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidValueError(key, value, "allowed: a whole number from 0")
    return value
