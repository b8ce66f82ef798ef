"""One line of an arm's check: what was looked at, how it was found, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Result(Enum):
    """How a line ended."""

    OK = "ok"
    NOT_DONE = "not done"  # it needs motion, or something before it failed
    WARNING = "warning"  # the arm works, with less margin or without a part of its protection
    FAILED = "failed"


@dataclass(frozen=True)
class Line:
    """The result of one check; `advice` is empty when there is nothing to do."""

    check: str
    found: str
    result: Result = Result.OK
    advice: str = ""


def exit_code(lines: Iterable[Line]) -> int:
    """0: all is well; 1: a warning; 2: something failed."""
    results = {line.result for line in lines}
    return 2 if Result.FAILED in results else 1 if Result.WARNING in results else 0


def warning(check: str, found: str, advice: str) -> Line:
    """A line with a warning."""
    return Line(check, found, Result.WARNING, advice)


def failed(check: str, found: str, advice: str) -> Line:
    """A line of a check that failed."""
    return Line(check, found, Result.FAILED, advice)
