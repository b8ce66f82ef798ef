"""What a check of this host found, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """How a finding affects a graph on this host."""

    OK = "ok"
    CARE = "take care"  # it works, with less comfort or margin
    WRONG = "wrong"  # the graph does not start, or does not keep its limits


@dataclass(frozen=True)
class Finding:
    """The result of one check; `advice` is empty when all is well."""

    check: str
    found: str
    verdict: Verdict = Verdict.OK
    advice: str = ""


def judged(check: str, found: str, trouble: Verdict | None, advice: str) -> Finding:
    """A finding with `trouble` and its advice, or one that is well (None)."""
    return Finding(check, found) if trouble is None else Finding(check, found, trouble, advice)
