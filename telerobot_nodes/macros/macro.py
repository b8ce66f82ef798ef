"""A macro as a value: steps with parameters and accepted results; the schema of the files [US5231693].

A value may hold expressions: `${depth / 2}` alone, in a list, or inside a text.
"""

from __future__ import annotations

import hashlib
import json
import keyword
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NoReturn

from telerobot_nodes.core.config import OWN_KEY, SOURCE, FileMapping, Key
from telerobot_nodes.core.values import one_of
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.parameters import kind_named
from telerobot_nodes.operator.client import CommandEnd

IN_LABELS = ("/", "#")  # of steps that run: macro/step#2
CONTEXT = ("tool", "arm", "object", "camera")  # names that a step can use besides the macro's parameters
# A halt ends every sequence: nobody can accept it.
PRIMITIVE_RESULTS = {
    reason.name.lower(): reason.succeeded
    for reason in Termination
    if reason not in (Termination.RUNNING, Termination.EXTERNAL_STOP)
}
TEXT_RESULTS = {
    end.value: end in (CommandEnd.SUCCEEDED, CommandEnd.ANSWERED)
    for end in (CommandEnd.SUCCEEDED, CommandEnd.ANSWERED, CommandEnd.FAILED, CommandEnd.CANCELLED)
}


@dataclass(frozen=True)
class MacroParameter:
    """A number, or several numbers, that a macro is run with. Bounds hold for each."""

    name: Annotated[str, OWN_KEY]
    unit: str  # SI; "-" for none
    low: float
    high: float
    default: tuple[float, ...]
    doc: str = ""

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or keyword.iskeyword(self.name) or self.name in CONTEXT:
            raise InvalidValueError("name", self.name, f"allowed: a name that is none of {', '.join(CONTEXT)}")
        if not self.default:
            raise InvalidValueError("default", [], "allowed: a number, or several")
        object.__setattr__(self, "default", tuple(self.check(self.default, "default")))

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        count = f"{len(self.default)} numbers, " if len(self.default) > 1 else ""
        return f"allowed: {count}{self.low:g} .. {self.high:g} [{self.unit}]"

    def check(self, value: object, field_name: str = "") -> tuple[float, ...]:
        """A value as numbers. Raises InvalidValueError naming the parameter."""
        items: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value]
        right = all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in items)
        if not right or len(items) != len(self.default):
            raise InvalidValueError(field_name or self.name, value, self.allowed)
        for item in items:
            if not self.low <= item <= self.high:  # also NaN, and a whole number that is too large for a float
                raise InvalidValueError(field_name or self.name, item, self.allowed)
        return tuple(float(item) for item in items)


@dataclass(frozen=True)
class MacroStep:
    """One line of a macro: a primitive, a text of the command language, or another macro."""

    name: Annotated[str, Key("step")]
    primitive: str = ""
    text: str = ""
    macro: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)  # of the primitive, or arguments of the macro
    accept: tuple[str, ...] = ()  # results after which the sequence continues; none: the successful ones
    repeat: Annotated[int, Key(low=1, high=1000)] = 1
    source: Annotated[FileMapping, SOURCE] = field(default_factory=FileMapping, compare=False, repr=False)

    def __post_init__(self) -> None:
        if set(self.name) & set(IN_LABELS):
            raise InvalidValueError("step", self.name, f"allowed: without {' and '.join(IN_LABELS)}, as in labels")
        if sum(map(bool, (self.primitive, self.text, self.macro))) != 1:
            raise InvalidValueError("step", self.name, "allowed: with one of primitive, text, macro")
        if self.primitive:
            allowed = kind_of(self.primitive).allowed
            for name in self.values:
                if name not in allowed:
                    raise InvalidValueError("values", name, f"allowed for {self.primitive}: {', '.join(allowed)}")
        if self.text and self.values:
            raise InvalidValueError("values", list(self.values), "allowed: none beside `text`, which has ${...}")
        if self.macro and self.accept:
            raise InvalidValueError("accept", self.accept, "allowed: in the steps of the macro itself")
        for word in self.accept:
            one_of(word, "accept", self.results)

    @property
    def results(self) -> Mapping[str, bool]:
        """The results it may accept, and whether each counts as success."""
        return PRIMITIVE_RESULTS if self.primitive else TEXT_RESULTS

    def accepts(self, result: str) -> bool:
        """True when the sequence continues after this result."""
        return result in self.accept if self.accept else self.results.get(result, False)

    def reject(self, key: str, problem: str) -> NoReturn:
        """Raise ParameterFileError at a key of its values, or of the step."""
        values = self.source.get("values")
        holder = values if isinstance(values, FileMapping) and key in values else self.source
        holder.reject(key, problem)


def kind_of(name: str) -> Any:
    """The primitive of this name. Raises InvalidValueError at the key `primitive`."""
    try:
        return kind_named(name)
    except InvalidValueError as error:
        raise InvalidValueError("primitive", error.value, error.allowed) from None


@dataclass(frozen=True)
class Macro:
    """The whole file. relative: the same motion from wherever it starts; absolute: it ends at the same place."""

    name: Annotated[str, Key("macro")]
    version: Annotated[int, Key(low=1, high=1e9)]
    doc: str
    motion: Literal["absolute", "relative"]
    steps: tuple[MacroStep, ...]
    parameters: Mapping[str, MacroParameter] = field(default_factory=dict)
    source: Annotated[FileMapping, SOURCE] = field(default_factory=FileMapping, compare=False, repr=False)

    def __post_init__(self) -> None:
        names = Counter(step.name for step in self.steps)
        twice = next((name for name, count in names.items() if count > 1), None)
        if twice is not None or not names:
            raise InvalidValueError("steps", twice, "allowed: one step or more, each with a name of its own")

    def arguments(self, given: Mapping[str, object]) -> dict[str, tuple[float, ...]]:
        """The value of every parameter. Raises InvalidValueError naming the parameter."""
        for name, value in given.items():
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                raise InvalidValueError(name, value, f"allowed parameters of {self.name}: {known}")
        return {
            name: info.check(given[name]) if name in given else info.default for name, info in self.parameters.items()
        }


def fingerprint(macros: Iterable[Macro]) -> str:
    """A hash of what the files say, whatever their layout and comments: 64 hexadecimal digits."""
    said = {macro.name: macro.source for macro in macros}
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()
