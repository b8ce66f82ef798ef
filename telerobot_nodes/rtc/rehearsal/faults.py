"""Faults of a rehearsal, from a YAML file: which steps end how, who does not answer, what sensors show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from telerobot_nodes.core.config import FileMapping, read_yaml
from telerobot_nodes.rtc.language import did_you_mean
from telerobot_nodes.rtc.rehearsal.executor import SILENT, WRONG_WIDTH
from telerobot_nodes.rtc.skills import Library, Step

KEYS = ("faults", "silent", "sensors")
NONE = "none"  # this time the step succeeds


@dataclass(frozen=True)
class Faults:
    """What goes wrong in a rehearsal."""

    steps: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)  # outcomes in turn; None: no fault
    silent: frozenset[str] = frozenset()  # subsystems that do not answer
    sensors: Mapping[str, float] = field(default_factory=dict)  # what each shows, SI


def read_faults(path: Path, library: Library) -> Faults:
    """The faults of a file, checked against the skills; raises ParameterFileError at the key that is wrong."""
    root = read_yaml(path, path.name)
    odd = next((key for key in root if key not in KEYS), None)
    if odd is not None:
        root.reject(odd, f"no such key; {did_you_mean(odd, KEYS) or 'known: ' + ', '.join(KEYS)}")
    steps = _section(root, "faults")
    known = _outcomes(library)
    faults = {name: tuple(_words(steps, name, known)) for name in steps}
    return Faults(faults, _silent(root, library), _sensors(root, library))


def _section(root: FileMapping, key: str) -> FileMapping:
    found = root.get(key, FileMapping())
    if not isinstance(found, FileMapping):
        root.reject(key, "a mapping is expected")
    return found


def _words(steps: FileMapping, name: str, known: Mapping[str, set[str]]) -> Iterator[str | None]:
    last = name.rpartition(".")[2]
    if last not in known:
        steps.reject(name, f"no step of a skill is called so; {did_you_mean(last, known)}".rstrip("; "))
    words = steps[name] if isinstance(steps[name], list) else [steps[name]]
    for word in words:
        if word not in (None, NONE) and (not isinstance(word, str) or word not in known[last]):
            allowed = ", ".join((NONE, *sorted(known[last])))
            steps.reject(name, f"{word!r} is not allowed; allowed: {allowed}")
        yield None if word == NONE else word


def _outcomes(library: Library) -> dict[str, set[str]]:
    """What each step can end with, by its name without the frame; steps of one name together."""
    found: dict[str, set[str]] = {}
    for step in _steps(library):
        if step.kind in library.kinds:
            outcomes = {stop.outcome for stop in library.kinds[step.kind].stops}
            special = {SILENT} | ({WRONG_WIDTH} if "gripped" in outcomes else set())
            found.setdefault(step.name, set()).update(outcomes, special)
    return found


def _steps(library: Library) -> Iterator[Step]:
    for skill in library.skills.values():
        for script in (*skill.scripts.values(), *(recovery.steps for recovery in skill.recoveries.values())):
            yield from script


def _silent(root: FileMapping, library: Library) -> frozenset[str]:
    names = root.get("silent", [])
    known = {*library.workcell.arms, *library.workcell.cameras, *library.workcell.sensors}
    known |= {arm.gripper for arm in library.workcell.arms.values() if arm.gripper}
    for name in names if isinstance(names, list) else [names]:
        if name not in known:
            root.reject("silent", f"{name!r} is not allowed; allowed: a list of {', '.join(sorted(known))}")
    return frozenset(names if isinstance(names, list) else [names])


def _sensors(root: FileMapping, library: Library) -> dict[str, float]:
    section = _section(root, "sensors")
    for name, value in section.items():
        if name not in library.workcell.sensors:
            known = ", ".join(library.workcell.sensors) or "none"
            section.reject(name, f"the workcell has no such sensor; it has: {known}")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            section.reject(name, f"{value!r} is not allowed; allowed: a number, SI")
    return {name: float(value) for name, value in section.items()}
