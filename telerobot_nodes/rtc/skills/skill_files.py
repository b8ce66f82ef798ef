"""Reads `config/rtc`: primitives, evaluation tables, skills; workcell in `workcell_file.py` [JPL-RTC section 5].

Every error names file, line and key; nothing is returned unless everything is right. Cross-checks: `library_check.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from telerobot_nodes.core.config import (
    FileMapping,
    Rules,
    Spot,
    build,
    convert,
    finite,
    parse_yaml,
    read_yaml,
    read_yaml_text,
)
from telerobot_nodes.errors import InvalidValueError, ParameterFileError
from telerobot_nodes.rtc.language import TASK_VERBS, Verb
from telerobot_nodes.rtc.skills.expressions import Expression, ExpressionError, compile_expression
from telerobot_nodes.rtc.skills.library_check import check_library
from telerobot_nodes.rtc.skills.primitives import TIMEOUT, Stop, check_stops
from telerobot_nodes.rtc.skills.skills import Library, PrimitiveSpec, Row, Skill, Table
from telerobot_nodes.rtc.skills.workcell_file import read_workcell


def _expression(value: object) -> Expression:
    if value is None or not finite(value):
        raise ExpressionError(f"{value!r} is neither an expression nor a finite number")
    if isinstance(value, list):  # each entry is an expression
        return compile_expression(f"[{', '.join(str(entry) for entry in value)}]")
    return compile_expression(value)


SKILLS_KEPT = 256  # of files as they were read

RULES = Rules({Expression: _expression})


def load_library(folder: Path) -> Library:
    """All of `config/rtc`; raises ParameterFileError."""
    kinds = _read_kinds(folder / "primitives.yaml")
    tables = _read_tables(folder / "evaluations.yaml")
    files = sorted((folder / "skills").glob("*.yaml"))
    skills: dict[str, Skill] = {}
    for file in files:
        skill = _read_skill(file)
        if skill.name in skills:
            skill.source.reject("skill", f"{skill.name!r} is also in {skills[skill.name].source.file}")
        skills[skill.name] = skill
    workcell = read_workcell(folder / "workcell.yaml", frozenset(skills), _new_verbs(skills.values()))
    library = Library(kinds, tables, skills, workcell)
    check_library(library)
    return library


def _new_verbs(skills: Iterable[Skill]) -> tuple[Verb, ...]:
    """The verbs that the language has from these files alone."""
    verbs: list[Verb] = []
    for skill in skills:
        try:
            verbs += [Verb(word, skill.takes, skill.doc) for word in skill.verbs if word not in TASK_VERBS]
        except InvalidValueError as error:
            skill.source.reject(error.field, f"{error.value!r}; {error.allowed}")
    return tuple(verbs)


def fingerprint(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Name, size and time of each file: equal as long as the folder is unchanged."""
    rows = []
    for file in sorted(folder.rglob("*.yaml")):
        status = file.stat()
        rows.append((str(file.relative_to(folder)), status.st_size, status.st_mtime_ns))
    return tuple(rows)


def reload_library(folder: Path) -> Library:
    """`load_library`; also raises ParameterFileError when a file changes meanwhile."""
    before = fingerprint(folder)
    library = load_library(folder)
    if fingerprint(folder) != before:
        raise ParameterFileError(folder.name, 1, "-", "files changed while they were read; reload again")
    return library


@dataclass(frozen=True)
class _PrimitivesFile:
    common_stops: tuple[Stop, ...]
    primitives: Mapping[str, PrimitiveSpec]


def _read_kinds(file: Path) -> dict[str, PrimitiveSpec]:
    root = read_yaml(file, file.name)
    whole = build(_PrimitivesFile, root, Spot(file.name), RULES)
    return {name: _complete(spec, whole.common_stops, root["primitives"]) for name, spec in whole.primitives.items()}


def _complete(spec: PrimitiveSpec, common: tuple[Stop, ...], section: FileMapping) -> PrimitiveSpec:
    """The primitive with the stops that all have."""
    stops = (*common, *spec.stops, Stop(TIMEOUT, "end_time"))
    try:
        check_stops(spec.name, stops)
    except InvalidValueError as error:
        section.reject(spec.name, str(error))
    outcomes = [stop.outcome for stop in stops]
    if spec.success not in outcomes:
        section[spec.name].reject("success", f"{spec.success!r} is not allowed; allowed: {', '.join(outcomes)}")
    return replace(spec, stops=stops)


@dataclass(frozen=True)
class _TablesFile:
    tables: Mapping[str, Mapping[str, object]]


def _read_tables(file: Path) -> dict[str, Table]:
    root = read_yaml(file, file.name)
    build(_TablesFile, root, Spot(file.name))
    tables: dict[str, Table] = {}
    for name, section in root["tables"].items():
        spot = Spot(file.name, key=name)
        rows: dict[str, tuple[Row, ...]] = {}
        for other in convert(tuple[str, ...], section.get("include", ()), spot.below(section, "include")):
            if other not in tables:
                section.reject("include", f"no table above is called {other!r}")
            rows |= tables[other].rows
        for outcome in (name for name in section if name != "include"):
            rows[outcome] = _rows(section, outcome, spot.below(section, outcome))
        tables[name] = Table(name, rows, section)
    return tables


def _rows(section: FileMapping, outcome: str, spot: Spot) -> tuple[Row, ...]:
    rows: tuple[Row, ...] = convert(tuple[Row, ...], section[outcome], spot, RULES)
    if not rows or rows[-1].when is not None or any(row.when is None for row in rows[:-1]):
        section.reject(outcome, "the last row, and only the last, has no condition, so that one row always applies")
    return rows


def _read_skill(file: Path) -> Skill:
    return _skill_of(file.name, read_yaml_text(file, file.name))


@lru_cache(maxsize=SKILLS_KEPT)
def _skill_of(file: str, text: str) -> Skill:
    """The skill of a file's text: a reload builds only what was edited."""
    return build(Skill, parse_yaml(text, file), Spot(file), RULES)
