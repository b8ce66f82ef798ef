"""Errors of the command language: what is wrong, where, what was expected, and a hint [JPL-RTC]."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.rtc.language.syntax import NOWHERE, Position

LINE_WINDOW = 100  # [characters] of a long line that are shown
MAX_EXPECTED = 12  # words listed before "..."


class CommandError(TelerobotError):
    """A command that cannot be understood or accepted; nothing was done.

    `line` and `column` count from 1; `expected` are the words that could stand there; `hint` may be empty.
    """

    def __init__(
        self, problem: str, at: Position = NOWHERE, source: str = "", expected: Iterable[str] = (), hint: str = ""
    ) -> None:
        self.problem = problem
        self.line = at.line
        self.column = at.column
        self.at = at
        self.expected = tuple(expected)
        self.hint = hint
        self.source_line = _line_of(source, at)
        super().__init__(self._text())

    def with_source(self, source: str) -> CommandError:
        """The same error showing the line of `source` it is about."""
        return CommandError(self.problem, self.at, source, self.expected, self.hint)

    def _text(self) -> str:
        parts = [f"{self.line}:{self.column}: {self.problem}" if self.line else self.problem]
        if self.source_line:
            parts += _caret(self.source_line, self.at)
        if self.expected:
            parts.append(f"expected: {_listed(self.expected)}")
        if self.hint:
            parts.append(f"hint: {self.hint}")
        return "\n".join(parts)


def nearest(word: str, candidates: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The candidates most like `word`, best first; empty when none is near."""
    by_folded = {candidate.lower().replace("_", "-"): candidate for candidate in candidates}
    found = get_close_matches(word.lower().replace("_", "-"), by_folded, count, 0.6)
    return tuple(by_folded[match] for match in found)


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """A hint naming the nearest candidates, or an empty string."""
    found = nearest(word, candidates)
    return f"did you mean {' or '.join(found)}?" if found else ""


def _line_of(source: str, at: Position) -> str:
    lines = source.split("\n")
    return lines[at.line - 1] if 1 <= at.line <= len(lines) else ""


def _caret(line: str, at: Position) -> list[str]:
    column = at.column - 1
    first = max(0, column - LINE_WINDOW // 2) if len(line) > LINE_WINDOW else 0
    shown = "".join(c if c.isprintable() else " " for c in line[first : first + LINE_WINDOW])
    width = max(1, min(at.end - at.start, LINE_WINDOW - (column - first)))
    return ["  " + shown, "  " + " " * (column - first) + "^" * width]


def _listed(words: tuple[str, ...]) -> str:
    shown = ", ".join(words[:MAX_EXPECTED])
    return shown + (" ..." if len(words) > MAX_EXPECTED else "")
