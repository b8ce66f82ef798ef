"""A leaf with its form: what is typed becomes values of its primitive or macro, checked as the robot checks them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import InvalidValueError, ParameterFileError, TelerobotError
from telerobot_nodes.macros import Macro, MacroFolder, MacroParameter, check_macro
from telerobot_nodes.menus.fields import base_value, macro_field, primitive_field
from telerobot_nodes.menus.menu import Ask, Entry
from telerobot_nodes.menus.parts import Part, part_named, with_parts
from telerobot_nodes.motion.parameters import declarations, kind_named
from telerobot_nodes.motion.primitives import PrimitiveRequest, check_request
from telerobot_nodes.operator.forms import Filled, Form, FormField, Value

_NAMED = re.compile(r"(\w+)(?:\[(\d+)\])?")  # parameter and element that a refusal names


class FormRefusedError(TelerobotError):
    """What was typed is not allowed; `refusals`: why, by field; under "" what concerns no single field."""

    def __init__(self, path: str, refusals: Mapping[str, str]) -> None:
        super().__init__(f"{path}: {'; '.join(refusals.values())}")
        self.refusals = dict(refusals)


@dataclass(frozen=True)
class Leaf:
    """One leaf for one robot. `path`: names of menus and leaf, with slashes."""

    path: str
    entry: Entry
    form: Form
    robot: RobotModel = field(repr=False, compare=False)
    macros: MacroFolder | None = field(default=None, repr=False, compare=False)
    parts: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)  # what each field sets

    @property
    def runs(self) -> str:
        """Name of the primitive or macro."""
        return self.entry.primitive or self.entry.macro

    @property
    def macro_folder(self) -> Path | None:
        """Where its macro is; None: it runs a primitive."""
        return self.macros.folder if self.macros is not None else None

    def fill(self, typed: Mapping[str, object]) -> dict[str, Any]:
        """Values of the primitive, or parameters of the macro, as the robot takes them. Raises FormRefusedError."""
        filled = self.form.read(typed)
        if filled.refusals:
            raise FormRefusedError(self.path, filled.refusals)
        values = self.values(filled)
        try:
            self.check(values)
        except InvalidValueError as error:
            raise FormRefusedError(self.path, {self._field_of(error): str(error)}) from None
        except ParameterFileError as error:  # of a step of the macro
            raise FormRefusedError(self.path, {"": str(error)}) from None
        return values

    def values(self, filled: Filled) -> dict[str, Any]:
        """The presets with what was typed, not checked."""
        values = dict(self.entry.values)
        if self.entry.macro:
            return values | {self.parts[name][0].parameter: _plain(value) for name, value in filled.values.items()}
        declared = declarations(kind_named(self.entry.primitive))
        changes: dict[str, list[tuple[Part, Value]]] = {}
        for name, value in filled.values.items():
            for part in self.parts[name]:
                changes.setdefault(part.parameter, []).append((part, value))
        for name, set_to in changes.items():
            base = base_value(self.robot, declared[name], self.entry.values)
            values[name] = _plain(with_parts(declared[name], base, set_to))
        return values

    def check(self, values: Mapping[str, Any]) -> None:
        """Check values as the robot would. Raises InvalidValueError, ParameterFileError."""
        if self.entry.primitive:
            check_request(self.robot, PrimitiveRequest(1, self.entry.primitive, values))
        elif self.macros is not None:
            check_macro(self.macros, self.entry.macro, self.robot, values)

    def _field_of(self, error: InvalidValueError) -> str:
        """The field that sets what a refusal names; empty: none does."""
        named = _NAMED.match(error.field)
        if named is None:
            return ""
        parameter, index = named[1], int(named[2]) if named[2] else None
        setters = [(name, part) for name, parts in self.parts.items() for part in parts if part.parameter == parameter]
        exact = [name for name, part in setters if part.index in (None, index)]
        return next(iter([*exact, *(name for name, _ in setters)]), "")


def leaf_of(path: str, entry: Entry, robot: RobotModel, macros: MacroFolder) -> Leaf:
    """The leaf of an entry, its defaults checked as the robot would. Raises ParameterFileError at the line of a key."""
    leaf = _macro_leaf(path, entry, robot, macros) if entry.macro else _primitive_leaf(path, entry, robot)
    try:
        leaf.check(leaf.values(leaf.form.read({})))
    except InvalidValueError as error:
        named = _NAMED.match(error.field)
        entry.reject(named[1] if named else error.field, str(error))
    return leaf


def _primitive_leaf(path: str, entry: Entry, robot: RobotModel) -> Leaf:
    declared = declarations(kind_named(entry.primitive))
    parts: dict[str, tuple[Part, ...]] = {}
    fields: list[FormField] = []
    taken: dict[tuple[str, int | None], str] = {}
    for name, ask in (entry.form or {}).items():
        try:
            parts[name] = tuple(part_named(text, declared) for text in ask.sets)
            for part in parts[name]:
                _take(part, name, taken)
            first = parts[name][0]
            entry_of = declared[first.parameter]
            base = base_value(robot, entry_of, entry.values)
            if first.index is not None and len(base) <= first.index:
                raise InvalidValueError("sets", ask.sets[0], f"allowed: with {first.parameter} of six values")
            fields.append(primitive_field(ask, first, entry_of, base, entry.values))
        except InvalidValueError as error:
            _refuse(entry, ask, error)
    return Leaf(path, entry, Form(tuple(fields)), robot, parts=parts)


def _macro_leaf(path: str, entry: Entry, robot: RobotModel, macros: MacroFolder) -> Leaf:
    macro = _macro_of(entry, macros)
    form = entry.form
    if form is None:
        form = {name: Ask(name, (name,)) for name in macro.parameters if name not in entry.values}
    fields: list[FormField] = []
    parts: dict[str, tuple[Part, ...]] = {}
    taken: dict[tuple[str, int | None], str] = {}
    for name in entry.values:
        if name not in macro.parameters:
            entry.reject(name, f"unknown; allowed: {', '.join(macro.parameters) or 'none'}")
    for name, ask in form.items():
        try:
            parts[name] = tuple(Part(_parameter(text, macro).name) for text in ask.sets)
            for part in parts[name]:
                _take(part, name, taken)
            first = parts[name][0].parameter
            fields.append(macro_field(ask, macro.parameters[first], entry.values.get(first)))
        except InvalidValueError as error:
            _refuse(entry, ask, error)
    return Leaf(path, entry, Form(tuple(fields)), robot, macros, parts)


def _parameter(text: str, macro: Macro) -> MacroParameter:
    if text not in macro.parameters:
        raise InvalidValueError("sets", text, f"allowed: {', '.join(macro.parameters) or 'no parameter'}")
    return macro.parameters[text]


def _take(part: Part, name: str, taken: dict[tuple[str, int | None], str]) -> None:
    """Refuse a part that two fields set."""
    other = next((by for (parameter, index), by in taken.items() if _same(part, parameter, index)), None)
    if other is not None:
        raise InvalidValueError("sets", part.parameter, f"allowed: once; the field {other} sets it")
    taken[part.parameter, part.index] = name


def _same(part: Part, parameter: str, index: int | None) -> bool:
    return part.parameter == parameter and (part.index is None or index is None or part.index == index)


def _macro_of(entry: Entry, macros: MacroFolder) -> Macro:
    try:
        return macros.closure(entry.macro)[-1]
    except ParameterFileError as error:
        entry.reject("macro", f"the macro {entry.macro} is broken: {error}")
    except TelerobotError as error:
        entry.reject("macro", str(error))


def _refuse(entry: Entry, ask: Ask, error: InvalidValueError) -> None:
    if error.field in ask.source:
        ask.source.reject(error.field, f"{error.value!r} is not allowed; {error.allowed}")
    entry.reject(error.field, f"{error.value!r} is not allowed; {error.allowed}")


def _plain(value: Any) -> Any:
    """A value as a file or a message has it: lists instead of tuples."""
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
