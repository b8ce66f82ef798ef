"""A form, what was typed into it, and the tree of menus whose leaves have one [US5231693]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.forms.form_field import FormField, Value


@dataclass(frozen=True)
class Filled:
    """What was typed. `refusals`: by field why it is not allowed; under "" what concerns no single field."""

    values: Mapping[str, Value] = field(default_factory=dict)
    refusals: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Form:
    """The fields of one leaf, in the order in which they are shown."""

    fields: tuple[FormField, ...] = ()

    def read(self, typed: Mapping[str, object]) -> Filled:
        """Every field's value, its default where nothing was typed, and the refusals; never raises."""
        values: dict[str, Value] = {}
        refusals: dict[str, str] = {}
        known = {entry.name: entry for entry in self.fields}
        for name in typed:
            if name not in known:
                error = InvalidValueError(name, typed[name], f"allowed fields: {', '.join(known) or 'none'}")
                refusals[name] = str(error)
        for name, entry in known.items():
            try:
                values[name] = entry.read(typed[name]) if name in typed else entry.default
            except InvalidValueError as error:
                refusals[name] = str(error)
        return Filled(values, refusals)


class Mode(Enum):
    """What a leaf of the menus moves [US5231693]."""

    SETUP = "setup"  # nothing: its numbers are checked
    SIMULATION = "simulation"  # an arm in physics on this host
    PRACTICE = "practice"  # the practice robot of this host, behind its delay
    EXECUTION = "execution"  # the robot

    @property
    def verb(self) -> str:
        """What is done with a leaf in this mode."""
        return _VERBS[self]

    @property
    def doc(self) -> str:
        """What moves in this mode, for a person."""
        return _DOCS[self]


_VERBS = {Mode.SETUP: "check", Mode.SIMULATION: "simulate", Mode.PRACTICE: "practise", Mode.EXECUTION: "run"}
_DOCS = {
    Mode.SETUP: "nothing moves: the numbers are checked, and shown as they would be sent",
    Mode.SIMULATION: "an arm in physics on this host moves, from where the robot stands; the robot does not",
    Mode.PRACTICE: "the practice robot of this host moves, `telerobot up practice`; the robot does not",
    Mode.EXECUTION: "the robot moves",
}


@dataclass(frozen=True)
class StartLeaf:
    """A person starts a leaf in a mode. `typed`: what its fields held, by name."""

    path: str
    typed: Mapping[str, object]
    mode: Mode


@dataclass(frozen=True)
class AddLeaf:
    """A person adds a leaf to a sequence, by its name. `typed`: what its fields held, by name."""

    path: str
    typed: Mapping[str, object]
    sequence: str


@dataclass(frozen=True)
class StopLeaf:
    """A person stops what runs."""


Asked = AddLeaf | StartLeaf | StopLeaf


def stops_first(pressed: Iterable[Asked]) -> list[Asked]:
    """What was pressed, stops first; what was started before a stop does not begin after it."""
    found: list[Asked] = []
    for asked in pressed:
        if isinstance(asked, StopLeaf):
            found = [asked, *(other for other in found if isinstance(other, AddLeaf))]
        else:
            found.append(asked)
    return found


@dataclass(frozen=True)
class MenuItem:
    """A menu with its items, or a leaf with its form."""

    name: str
    doc: str = ""
    items: tuple[MenuItem, ...] = ()
    form: Form | None = None  # of a leaf

    @property
    def title(self) -> str:
        """The name for a person."""
        return self.name.replace("_", " ")
