"""Reads `config/rtc`: primitives, evaluation tables, skills; workcell in `workcell_file.py` [JPL-RTC section 5].

Every error names file, line and key; nothing is returned unless everything is right. Cross-checks: `library_check.py`.
"""

from __future__ import annotations

from pathlib import Path

from telerobot_nodes.errors import InvalidValueError, ParameterFileError
from telerobot_nodes.rtc.database import Validity
from telerobot_nodes.rtc.library_check import check_library
from telerobot_nodes.rtc.located_yaml import Section, read_yaml
from telerobot_nodes.rtc.primitives import TIMEOUT, Space, Stop, check_stops
from telerobot_nodes.rtc.skills import (
    Branch,
    Demand,
    Library,
    PrimitiveKind,
    Row,
    Skill,
    Step,
    Table,
    Then,
    Trial,
    Verdict,
    WriteRule,
)
from telerobot_nodes.rtc.workcell_file import read_workcell

ROLES = ("arm", "gripper", "camera", "authority", "operator", "program")
VALIDITIES = {validity.name.lower(): validity for validity in Validity}


def load_library(folder: Path) -> Library:
    """All of `config/rtc`; raises ParameterFileError."""
    kinds = _read_kinds(folder / "primitives.yaml")
    tables = _read_tables(folder / "evaluations.yaml")
    files = sorted((folder / "skills").glob("*.yaml"))
    skills: dict[str, Skill] = {}
    for file in files:
        skill = _read_skill(file)
        if skill.name in skills:
            raise ParameterFileError(file.name, 1, "skill", f"{skill.name!r} is also in {skills[skill.name].file}")
        skills[skill.name] = skill
    workcell = read_workcell(folder / "workcell.yaml", frozenset(skills))
    library = Library(kinds, tables, skills, workcell)
    check_library(library)
    return library


def fingerprint(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Name, size and time of each file: equal while nobody has changed the folder."""
    rows = []
    for file in sorted(folder.rglob("*.yaml")):
        status = file.stat()
        rows.append((str(file.relative_to(folder)), status.st_size, status.st_mtime_ns))
    return tuple(rows)


def reload_library(folder: Path) -> Library:
    """`load_library` of a folder nobody changes meanwhile; raises ParameterFileError when somebody does."""
    before = fingerprint(folder)
    library = load_library(folder)
    if fingerprint(folder) != before:
        raise ParameterFileError(folder.name, 1, "-", "files changed while they were read; reload again")
    return library


def _read_kinds(file: Path) -> dict[str, PrimitiveKind]:
    root = read_yaml(file)
    common = [_stop(row) for row in root.sections("common_stops")]
    section = root.section("primitives")
    kinds = {name: _kind(name, section.section(name), common) for name in section.names()}
    root.end()
    return kinds


def _stop(row: Section) -> Stop:
    stop = Stop(row.text("outcome"), row.text("when"), row.text("action", "stop"))
    row.end()
    return stop


def _kind(name: str, s: Section, common: list[Stop]) -> PrimitiveKind:
    stops = (*common, *(_stop(row) for row in s.sections("stops")), Stop(TIMEOUT, "end_time"))
    try:
        check_stops(name, stops)
    except InvalidValueError as error:
        s.refuse("stops", str(error))
    success = s.word("success", tuple(stop.outcome for stop in stops))
    role = s.word("role", ROLES)
    space = Space(s.word("space", tuple(space.value for space in Space), "none"))
    kind = PrimitiveKind(
        name=name,
        doc=s.text("doc"),
        role=role,
        executive=s.text("executive"),
        law=s.text("law", "position"),
        space=space,
        stops=stops,
        success=success,
        timeout=s.number("timeout", 0.1, 3600.0),
        parameters=s.expressions("parameters"),
        predicts=s.expressions("predicts"),
        operator=s.text("operator", ""),
        moves=s.flag("moves"),
        joints=s.flag("joints"),
        speed=s.number("speed", 0.001, 5.0, 5.0),
    )
    s.end()
    return kind


def _read_tables(file: Path) -> dict[str, Table]:
    root = read_yaml(file)
    section = root.section("tables")
    root.end()
    rows: dict[str, dict[str, tuple[Row, ...]]] = {}
    for name in section.names():
        s = section.section(name)
        merged: dict[str, tuple[Row, ...]] = {}
        for other in s.texts("include"):
            if other not in rows:
                s.refuse("include", f"no table above is called {other!r}")
            merged.update(rows[other])
        for outcome in s.names():
            if outcome != "include":
                merged[outcome] = _rows(s, outcome)
        rows[name] = merged
    return {name: Table(name, merged) for name, merged in rows.items()}


def _rows(s: Section, outcome: str) -> tuple[Row, ...]:
    rows = tuple(_row(row) for row in s.sections(outcome))
    if not rows or rows[-1].when is not None or any(row.when is None for row in rows[:-1]):
        s.refuse(outcome, "the last row, and only the last, has no condition, so that one row always applies")
    return rows


def _row(s: Section) -> Row:
    verdict = Verdict(s.word("verdict", tuple(verdict.value for verdict in Verdict)))
    row = Row(verdict, s.maybe_expression("when"), s.text("note", ""), _writes(s))
    s.end()
    return row


def _writes(s: Section) -> tuple[WriteRule, ...]:
    section = s.maybe_section("writes")
    if section is None:
        return ()
    out = []
    for key in section.names():
        rule = section.section(key)
        validity = VALIDITIES[rule.word("validity", tuple(VALIDITIES), "valid")]
        out.append(WriteRule(key, rule.maybe_expression("value"), validity, rule.text("frame", "")))
        rule.end()
    return tuple(out)


def _read_skill(file: Path) -> Skill:
    s = read_yaml(file)
    name = s.text("skill")
    scripts = s.section("scripts")
    trials = s.maybe_section("trial_stack")
    skill = Skill(
        name=name,
        doc=s.text("doc"),
        verbs=s.texts("verbs") or (name,),
        performer=s.word("performer", ("arm", "camera", "none"), "arm").replace("none", ""),
        uses=s.texts("uses"),
        requires=_demands(s, "requires"),
        defaults=s.expressions("defaults"),
        candidates=s.expressions("candidates"),
        plan=s.expressions("plan"),
        tests=_demands(s, "tests"),
        choose=tuple(_branch(row) for row in s.sections("choose")) or (Branch(scripts.names()[0]),),
        scripts={script: _steps(scripts, script) for script in scripts.names()},
        trials={} if trials is None else {key: _trial(key, trials.section(key)) for key in trials.names()},
        owner=s.word("owner", ("program", "operator", "anybody"), "program").replace("anybody", ""),
        reversible=s.flag("reversible", True),
        file=file.name,
    )
    s.end()
    if skill.choose[-1].when is not None:
        s.refuse("choose", "the last branch has no condition, so that one always applies")
    return skill


def _demands(s: Section, key: str) -> tuple[Demand, ...]:
    demands = []
    for row in s.sections(key):
        demands.append(Demand(row.expression("that"), row.text("else")))
        row.end()
    return tuple(demands)


def _branch(row: Section) -> Branch:
    branch = Branch(row.text("script"), row.maybe_expression("when"))
    row.end()
    return branch


def _trial(name: str, s: Section) -> Trial:
    then = Then(s.word("then", tuple(then.value for then in Then)))
    trial = Trial(name, _steps(s, "steps") if s.has("steps") else (), then, s.text("from", ""), s.text("doc", ""))
    s.end()
    return trial


def _steps(s: Section, key: str) -> tuple[Step, ...]:
    steps = tuple(_step(row) for row in s.sections(key))
    names = [step.name for step in steps]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        s.refuse(key, f"two steps are called {twice!r}")
    return steps


def _step(s: Section) -> Step:
    name = s.text("step")
    if s.has("do") == s.has("use"):
        s.refuse("step", "a step has either `do`, a primitive, or `use`, a skill")
    step = Step(
        name=name,
        kind=s.text("do", ""),
        use=s.text("use", ""),
        arguments=s.expressions("arguments"),
        target=s.maybe_expression("target"),
        parameters=s.expressions("parameters"),
        table=s.text("table", "") or "",
        trims=s.texts("trims"),
        disturbs=s.texts("disturbs"),
        writes=_writes(s),
        when=s.maybe_expression("when"),
        irreversible=s.flag("irreversible"),
        operator=s.text("operator", ""),
        duration=s.maybe_expression("duration"),
        via=s.flag("via"),
        file=s.file,
        line=s.line,
    )
    s.end()
    return step
