"""A menu file as values, and its schema: menus inside menus, leaves with presets and the fields they ask for.

`values` of a leaf are its presets. `form` names what a person may set; a field's default is the preset, else that of
the primitive, else the declared one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, NoReturn

from telerobot_nodes.core.config import OWN_KEY, SOURCE, FileMapping, Key
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.parameters import kind_named

WORD = re.compile(r"[a-z][a-z0-9_]*")


def check_word(name: str, key: str) -> None:
    """Raise InvalidValueError unless a name is one word for shells and pages."""
    if not WORD.fullmatch(name):
        raise InvalidValueError(key, name, "allowed: small letters, digits and _, a letter first")


def check_names(names: Iterable[str], key: str) -> None:
    """Raise InvalidValueError for a list without names, or with one given twice."""
    listed = list(names)
    twice = next((name for name in listed if listed.count(name) > 1), None)
    if twice is not None or not listed:
        raise InvalidValueError(key, twice, "allowed: one entry or more, each with a name of its own")


@dataclass(frozen=True)
class Ask:
    """One field of a leaf. It sets the first of `sets`, and the others to the same; `-` before: to the opposite."""

    name: Annotated[str, OWN_KEY]
    sets: tuple[str, ...]
    low: float | None = None  # inside what is declared
    high: float | None = None
    doc: str = ""  # empty: the declared one
    source: Annotated[FileMapping, SOURCE] = field(default_factory=FileMapping, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_word(self.name, "form")
        if not self.sets:
            raise InvalidValueError("sets", [], "allowed: one parameter or more")


@dataclass(frozen=True)
class Entry:
    """A menu inside a menu, or a leaf that runs a primitive or a macro."""

    name: Annotated[str, Key("entry")]
    doc: str
    entries: tuple[Entry, ...] = ()
    primitive: str = ""
    macro: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    form: Mapping[str, Ask] | None = None  # None: of a macro all its parameters, of a primitive none
    source: Annotated[FileMapping, SOURCE] = field(default_factory=FileMapping, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_word(self.name, "entry")
        if sum(map(bool, (self.entries, self.primitive, self.macro))) != 1:
            raise InvalidValueError("entry", self.name, "allowed: with one of entries, primitive, macro")
        if self.entries:
            check_names((entry.name for entry in self.entries), "entries")
            if self.values or self.form is not None:
                raise InvalidValueError("values", self.name, "allowed: beside primitive or macro")
        if self.primitive:
            self._check_primitive()

    def _check_primitive(self) -> None:
        try:
            kind = kind_named(self.primitive)
        except InvalidValueError as error:
            raise InvalidValueError("primitive", error.value, error.allowed) from None
        for name in self.values:
            if name not in kind.allowed:
                raise InvalidValueError("values", name, f"allowed for {kind.name}: {', '.join(kind.allowed)}")

    def reject(self, key: str, problem: str) -> NoReturn:
        """Raise ParameterFileError at a key of its values, or of the entry."""
        values = self.source.get("values")
        holder = values if isinstance(values, FileMapping) and key in values else self.source
        holder.reject(key, problem)


@dataclass(frozen=True)
class Menu:
    """The whole file."""

    name: Annotated[str, Key("menu")]
    doc: str
    order: Annotated[int, Key(low=1, high=1000)]  # place among the menus
    entries: tuple[Entry, ...]
    source: Annotated[FileMapping, SOURCE] = field(default_factory=FileMapping, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_word(self.name, "menu")
        check_names((entry.name for entry in self.entries), "entries")
