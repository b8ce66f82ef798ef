"""Values with expressions: `${...}` in a macro's values and texts, computed when a step is sent [US5231693 claim 7]."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.rtc.language import did_you_mean
from telerobot_nodes.rtc.skills import Angles, Expression, ExpressionError, compile_expression, evaluate

_MARK = re.compile(r"\$\{([^{}]*)\}")
_DECIMALS = 9  # of a number inside a text


@dataclass(frozen=True)
class Context:
    """What is known of the robot when a step is sent. Poses (7,): x y z [m], qx qy qz qw, WORLD."""

    tool_pose: FloatArray = field(default_factory=lambda: np.empty(0))  # TN; empty: not known
    joints: FloatArray = field(default_factory=lambda: np.empty(0))  # (dof,) [rad]; empty: not known
    objects: Mapping[str, Any] = field(default_factory=dict)  # name to pose
    camera_pose: tuple[float, ...] = ()  # empty: not known

    def named(self) -> dict[str, Any]:
        """The values as expressions name them: `tool.pose`, `arm.joints`, `object.NAME.pose`, `camera.pose`."""
        places: dict[str, dict[str, Any]] = {
            "tool": {"pose": self.tool_pose},
            "arm": {"joints": np.asarray(self.joints, dtype=np.float64).view(Angles)},
            "camera": {"pose": self.camera_pose},
        }
        found = {name: {key: value for key, value in place.items() if len(value)} for name, place in places.items()}
        return {**found, "object": self.objects}


class Scope:
    """Values of the names in one macro's expressions."""

    def __init__(self, arguments: Mapping[str, tuple[float, ...]], context: Context) -> None:
        plain = {name: value if len(value) > 1 else value[0] for name, value in arguments.items()}
        self._values = {**context.named(), **plain}

    def lookup(self, name: str) -> object:
        """The value of a name; raises ExpressionError."""
        if name not in self._values:
            hint = did_you_mean(name, self._values) or f"known: {', '.join(self._values)}"
            raise ExpressionError(f"nothing is called {name!r}; {hint}")
        return self._values[name]

    def call(self, name: str, _arguments: list[Any]) -> object:
        """Functions that ask the robot's database have no value here."""
        raise ExpressionError(f"{name}() is known to the decision unit only; a macro has {', '.join(self._values)}")


@lru_cache(maxsize=4096)
def _compiled(text: str) -> Expression:
    return compile_expression(text)


def expressions_of(value: Any) -> Iterator[Expression]:
    """Every expression in a value; raises ExpressionError naming what is not allowed."""
    if isinstance(value, str):
        if "${" in _MARK.sub("", value):
            raise ExpressionError(f"{value!r}: '${{' needs its '}}'")
        yield from (_compiled(text) for text in _MARK.findall(value))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from expressions_of(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from expressions_of(item)


def bound(value: Any, scope: Scope) -> Any:
    """The value with every expression computed, in plain numbers, texts and lists; raises ExpressionError."""
    if isinstance(value, (list, tuple)):
        return [bound(item, scope) for item in value]
    if not isinstance(value, str):
        return value
    whole = _MARK.fullmatch(value)
    if whole:
        return _plain(evaluate(_compiled(whole[1]), scope))
    return _MARK.sub(lambda match: _word(evaluate(_compiled(match[1]), scope)), value)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        raise ExpressionError(f"it has the values {', '.join(value) or 'none'}; name one of them with a dot")
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if type(value) is int and abs(value) > sys.float_info.max:
        raise ExpressionError(f"a number is too large; allowed: up to {sys.float_info.max:.2g}")
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _word(value: Any) -> str:
    value = _plain(value)
    if isinstance(value, (bool, list)):
        raise ExpressionError(f"{value!r} cannot stand in a text; allowed: a number or a word")
    return np.format_float_positional(value, _DECIMALS, trim="-") if isinstance(value, (int, float)) else str(value)
