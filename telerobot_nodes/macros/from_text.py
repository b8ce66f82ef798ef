"""A macro of the command language as a file: its commands are the steps, its quantities numbers of the macro.

`define raise(arm) as { move arm by 5 cm up }` names things only; in the file the 5 cm is a parameter [m], which may be
given when the macro runs. Names are fixed when it is saved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import yaml

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros.macro_files import check_name
from telerobot_nodes.rtc.language import UNITS, CommandError, Define, Name, Quantity, Run, Statement, parse

RANGE = 2.0  # a number may be from 0 to so many times what was written, until somebody edits its bounds
LONGEST_DOC = 100  # characters
Mark = tuple[int, int, str]  # a stretch of the text from, to [characters], and what is written there


def from_text(text: str, names: Mapping[str, str], name: str = "", doc: str = "", version: int = 1) -> tuple[str, str]:
    """Name and file of a macro, from a `define` or from commands that are given a `name`.

    `names`: what stands for each parameter of the `define`. Raises CommandError where the text is wrong, and
    InvalidValueError naming what is missing.
    """
    define, statements, end = _statements(text)
    name = name or (define.name.text if define is not None else "")
    check_name(name)
    _check_names(define, names)
    parameters: dict[str, dict[str, object]] = {}
    steps = []
    ends = [*(statement.at.start for statement in statements[1:]), end]
    for number, (statement, end) in enumerate(zip(statements, ends, strict=True), 1):
        if isinstance(statement, (Define, Run)):
            raise InvalidValueError("text", text[statement.at.start : end], "allowed: commands, none of macros")
        marks = [*_renamed(statement, names), *_numbered(statement, text, parameters)]
        steps.append({"step": f"s{number}", "text": _written(text, statement.at.start, end, marks)})
    about = doc or " ".join(text.split())[:LONGEST_DOC]
    whole: dict[str, object] = {"macro": name, "version": version, "doc": about, "motion": "absolute"}
    if parameters:
        whole["parameters"] = parameters
    file: str = yaml.safe_dump({**whole, "steps": steps}, sort_keys=False, default_flow_style=None, width=120)
    return name, file


def _statements(text: str) -> tuple[Define | None, Sequence[Statement], int]:
    """The `define` if it is one, the commands, and where the last one ends."""
    parsed = parse(text)
    if len(parsed) == 1 and isinstance(parsed[0], Define):
        return parsed[0], parsed[0].body, text.rindex("}")
    if not parsed:
        raise InvalidValueError("text", text, "allowed: at least one command")
    return None, parsed, len(text)


def _check_names(define: Define | None, names: Mapping[str, str]) -> None:
    wanted = [parameter.text for parameter in define.parameters] if define is not None else []
    for missing in (one for one in wanted if one not in names):
        raise InvalidValueError("names", missing, f"missing; allowed: {missing}=NAME")
    for unknown in (one for one in names if one not in wanted):
        raise InvalidValueError("names", unknown, f"allowed: {', '.join(wanted) or 'none'}")
    for key, word in names.items():
        if not _is_name(word):
            raise InvalidValueError(key, word, "allowed: a name of the command language; in single quotes any")


def _is_name(word: str) -> bool:
    before = "approach "
    try:
        (statement,) = parse(before + word)
    except (CommandError, ValueError):
        return False
    return any((node.at.start, node.at.end) == (len(before), len(before + word)) for node in _nodes(statement, Name))


def _renamed(statement: Statement, names: Mapping[str, str]) -> Iterator[Mark]:
    for node in _nodes(statement, Name):
        if node.text in names and node.at.end:
            yield node.at.start, node.at.end, names[node.text]


def _numbered(statement: Statement, text: str, parameters: dict[str, dict[str, object]]) -> Iterator[Mark]:
    """The quantities as expressions; each becomes a parameter."""
    verb = text[statement.at.start : statement.at.end]
    for node in _nodes(statement, Quantity):
        if not node.at.end:  # not written: a default
            continue
        unit, value = _si(node)
        before = re.search(r"([A-Za-z]+)\s*[<>=]*\s*$", text[: node.at.start])
        name = _free("_".join((verb, before[1] if before else "number")), parameters)
        low, high = sorted((0.0, RANGE * value)) if value else (-1.0, 1.0)
        parameters[name] = {"unit": unit or "-", "low": low, "high": high, "default": value}
        yield node.at.start, node.at.end, f"${{{name}}} {unit}".rstrip()


def _si(quantity: Quantity) -> tuple[str, float]:
    """Unit and number in SI units; as written where the language has no such unit."""
    dimension = UNITS[quantity.unit].dimension
    for name, unit in UNITS.items():
        if unit.dimension == dimension and unit.factor == 1.0:
            return name, round(quantity.si, 12)
    return quantity.unit, quantity.number


def _free(wanted: str, taken: Mapping[str, object]) -> str:
    wanted = re.sub(r"\W+", "_", wanted)
    number = 2
    name = wanted
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def _written(text: str, start: int, end: int, marks: Sequence[Mark]) -> str:
    """The text from `start` to `end` on one line, with the marks in place."""
    parts, at = [], start
    for begin, stop, new in sorted(marks):
        parts += [text[at:begin], new]
        at = stop
    return " ".join("".join((*parts, text[at:end])).split()).rstrip("; ")


def _nodes(tree: object, kind: type) -> Iterator[Any]:
    """Every node of a kind, in the order of the fields."""
    if isinstance(tree, kind):
        yield tree
    elif isinstance(tree, tuple):
        for item in tree:
            yield from _nodes(item, kind)
    elif hasattr(tree, "__dataclass_fields__"):
        for entry in fields(tree):  # type: ignore[arg-type]
            yield from _nodes(getattr(tree, entry.name), kind)
