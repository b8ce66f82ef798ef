"""One field of a form: what may be typed into it, and the refusal that names field, value and what is allowed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

from telerobot_nodes.errors import InvalidValueError

Value = float | int | bool | str | tuple[Any, ...]

WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_BRACKETS = str.maketrans("[](),;", "      ")


class Sort(Enum):
    """What a field holds."""

    NUMBER = "a number"
    WHOLE = "a whole number"
    FLAG = "on or off"
    CHOICE = "a word"
    NUMBERS = "numbers"
    FLAGS = "flags"


@dataclass(frozen=True)
class FormField:
    """One field. Bounds hold for each number; `count` of numbers or flags, 0: any. The default may be none: ()."""

    name: str
    sort: Sort
    default: Value
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    doc: str = ""
    choices: tuple[str, ...] = ()
    count: int = 0

    @property
    def label(self) -> str:
        """Name and unit, for a person."""
        unit = "" if self.unit in ("", "-") else f" [{self.unit}]"
        return self.name.replace("_", " ") + unit

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        if self.sort is Sort.CHOICE:
            return f"allowed: {', '.join(self.choices)}"
        if self.sort is Sort.FLAG:
            return "allowed: on, off"
        several = f"{self.count} " if self.count else ""
        if self.sort is Sort.FLAGS:
            return f"allowed: {several}values, each 0 or 1"
        word = {Sort.NUMBERS: f"{several}numbers", Sort.WHOLE: "whole numbers"}.get(self.sort, "")
        if math.isinf(self.low) and math.isinf(self.high):
            return f"allowed: {word or 'numbers'} [{self.unit or '-'}]"
        return f"allowed: {word}{', each ' if self.sort is Sort.NUMBERS else ' '}{self._range}".replace(":  ", ": ")

    @property
    def _range(self) -> str:
        if math.isinf(self.high):
            return f"{self.low:g} or more [{self.unit or '-'}]"
        if math.isinf(self.low):
            return f"{self.high:g} or less [{self.unit or '-'}]"
        return f"{self.low:g} .. {self.high:g} [{self.unit or '-'}]"

    def text(self, value: Value | None = None) -> str:
        """A value as it would be typed; None: the default."""
        value = self.default if value is None else value
        if isinstance(value, tuple):
            return " ".join(_word(item) for item in value)
        return ("on" if value else "off") if isinstance(value, bool) else _word(value)

    def read(self, typed: object) -> Value:
        """The value of what was typed, or of a value given as such. Raises InvalidValueError naming the field."""
        if self.sort is Sort.CHOICE:
            return self._choice(typed)
        if self.sort is Sort.FLAG:
            return self._flag(typed, typed)
        if self.sort in (Sort.NUMBERS, Sort.FLAGS):
            return self._several(typed)
        return self._number(typed, typed)

    def _choice(self, typed: object) -> str:
        word = typed.strip() if isinstance(typed, str) else typed
        if word not in self.choices:
            raise InvalidValueError(self.name, typed, self.allowed)
        return str(word)

    def _several(self, typed: object) -> tuple[Any, ...]:
        items = typed.translate(_BRACKETS).split() if isinstance(typed, str) else typed
        if not isinstance(items, (list, tuple)) or (self.count and len(items) != self.count):
            raise InvalidValueError(self.name, typed, self.allowed)
        one = self._flag if self.sort is Sort.FLAGS else self._number
        return tuple(one(item, typed) for item in items)

    def _flag(self, item: object, typed: object) -> bool:
        word = item.strip().lower() if isinstance(item, str) else item
        value = WORDS.get(word) if isinstance(word, str) else word
        if value not in (True, False):
            raise InvalidValueError(self.name, typed, self.allowed)
        return bool(value)

    def _number(self, item: object, typed: object) -> float | int:
        try:
            if isinstance(item, bool) or (isinstance(item, str) and "_" in item):
                raise ValueError
            value = float(item)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            raise InvalidValueError(self.name, typed, self.allowed) from None
        whole = self.sort is Sort.WHOLE
        if not math.isfinite(value) or not self.low <= value <= self.high or (whole and value != int(value)):
            raise InvalidValueError(self.name, typed, self.allowed)
        return int(value) if whole else value


def _word(value: object) -> str:
    """The shortest text that is read as the same value."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return str(value)
