"""Attributes of things: each that the files give, write or read is one that some other part of them knows.

A misspelt attribute would otherwise be a new one that nothing reads [JPL-RTC section 4, command-object table].
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from itertools import chain

from telerobot_nodes.core.config import FileMapping
from telerobot_nodes.rtc.language import did_you_mean
from telerobot_nodes.rtc.skills.expressions import Expression, constants_of_calls
from telerobot_nodes.rtc.skills.skill_parts import all_expressions, all_steps, row_expressions
from telerobot_nodes.rtc.skills.skills import Library, Skill, Step
from telerobot_nodes.rtc.skills.workcell_file import BOUNDS, DEFAULT

# Attributes that every workcell knows: of arms and devices, and those that the code itself reads.
OWN = frozenset(("pose", "frame", "joints", "holds", "owner", "tool", "home", "width", "value", "mass", "kind"))
OF_ARMS = frozenset(("speed", "joint_speed", "load", "gripper"))
ALIKE = 0.75  # similarity from which a name that nothing knows is a misspelt one
ASKED_BY_NAME = ("has", "last")  # functions whose second argument is the name of an attribute


def check_attributes(library: Library) -> None:
    """Raise ParameterFileError for an attribute that looks like a misspelt one, at its line and column."""
    reads = {skill.name: frozenset(_reads(library, skill)) for skill in library.skills.values()}
    read = OWN | OF_ARMS | frozenset(BOUNDS) | frozenset(chain.from_iterable(reads.values()))
    given = OWN | frozenset(item.key.partition(".")[2] for item in library.workcell.items)
    written = frozenset(_attribute(key) for skill in library.skills.values() for _, key in _written(library, skill))
    _check_things(library, read | written)
    _check_rows(library, reads)
    for skill in library.skills.values():
        _check_skill(library, skill, given | read, given | written)


def _reads(library: Library, skill: Skill) -> Iterator[str]:
    """Attributes that the expressions of a skill and of its tables ask for."""
    for expression in (*(part.expression for part in all_expressions(skill)), *_of_tables(library, skill)):
        yield from (attribute for _, attribute in expression.attributes)
        yield from constants_of_calls(expression, ASKED_BY_NAME)


def _of_tables(library: Library, skill: Skill) -> Iterator[Expression]:
    tables = {step.table for step in all_steps(skill) if step.table}
    return chain.from_iterable(row_expressions(library.tables[name]) for name in sorted(tables))


def _written(library: Library, skill: Skill) -> Iterator[tuple[Step, str]]:
    """Database keys that the steps of a skill write, with the step."""
    for step in all_steps(skill):
        rows = chain.from_iterable(library.tables[step.table].rows.values()) if step.table else ()
        yield from ((step, rule.key) for rule in chain(step.writes, *(row.writes for row in rows)))
        yield from ((step, key) for key in step.adds)


def _attribute(key: str) -> str:
    return key.partition(".")[2]


def _refuse_misspelt(name: str, known: Iterable[str], source: FileMapping, key: str) -> None:
    """Refuse a name that nobody else knows and that looks like a known one."""
    candidates = sorted(known)
    meant = () if name in candidates else get_close_matches(name, candidates, 1, ALIKE)
    if meant:
        source.reject(key, f"nothing else knows {name!r}; did you mean {meant[0]}?")


def _check_things(library: Library, known: frozenset[str]) -> None:
    """Attributes and kinds of objects and places."""
    kinds = frozenset(_compared_kinds(library))
    for group in ("objects", "places"):
        for section in library.workcell.source.get(group, {}).values():
            for key in section:
                _refuse_misspelt(key, known, section, key)
            if "kind" in section:
                _refuse_misspelt(str(section["kind"]), kinds, section, "kind")


def _compared_kinds(library: Library) -> Iterator[str]:
    """Texts that a skill compares `.kind` of a thing with."""
    for part in chain.from_iterable(all_expressions(skill) for skill in library.skills.values()):
        for node in ast.walk(part.expression.tree):
            if isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr == "kind":
                texts = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
                yield from (text for text in texts if isinstance(text, str))


def _check_rows(library: Library, reads: Mapping[str, frozenset[str]]) -> None:
    """Every parameter of the command-object table is read by its skill, or by one that it is part of."""
    for skill, rows in library.workcell.source.get("command_objects", {}).items():
        users = (skill, *(other.name for other in library.skills.values() if _uses(other, skill)))
        read = frozenset().union(*(reads[name] for name in users))
        for name, row in rows.items():
            for key in row:
                if key not in read:
                    hint = did_you_mean(key, sorted(read)) or f"read: {', '.join(sorted(read)) or 'none'}"
                    row.reject(key, f"skill {skill} reads no {key!r}; {hint}")
                _same_kind(row, rows.get(DEFAULT, {}), key, name)


def _uses(skill: Skill, part: str) -> bool:
    return any(step.use == part for step in all_steps(skill))


def _same_kind(row: FileMapping, default: Mapping[str, object], key: str, name: str) -> None:
    """A value is of the kind of the default one: a truth value, a text, a number."""
    usual = default.get(key)
    if name != DEFAULT and isinstance(usual, (bool, str)) and type(row[key]) is not type(usual):
        row.reject(key, f"{row[key]!r} is not allowed; the default is {str(usual).lower()}")


def _check_skill(library: Library, skill: Skill, read: frozenset[str], given: frozenset[str]) -> None:
    """What its steps write is read or given, what they disturb or ask for is given or written."""
    for step, key in _written(library, skill):
        _refuse_misspelt(_attribute(key), read, step.source, _place_of(step, key))
    for step in all_steps(skill):
        for key in step.disturbs:
            if _attribute(key) not in given:
                hint = did_you_mean(_attribute(key), sorted(given)) or f"known: {', '.join(sorted(given))}"
                step.source.reject("disturbs", f"nothing has {_attribute(key)!r}; {hint}")
    parameters = frozenset(chain.from_iterable(library.workcell.command_objects.values()))
    for part in all_expressions(skill):
        for name in constants_of_calls(part.expression, ASKED_BY_NAME):
            _refuse_misspelt(name, given | parameters, part.source, part.key)


def _place_of(step: Step, key: str) -> str:
    if key in step.adds:
        return "adds"
    return "writes" if any(rule.key == key for rule in step.writes) else "table"
