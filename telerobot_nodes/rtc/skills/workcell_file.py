"""Reads `workcell.yaml`: arms, devices, resources, regions, objects, command-object table [JPL-RTC section 4]."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from telerobot_nodes.core.config import OWN_KEY, FileMapping, Key, Rules, Spot, build, finite, read_yaml
from telerobot_nodes.core.values import poses
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.rtc.language import Verb, Vocabulary, did_you_mean
from telerobot_nodes.rtc.skills.resources import Kind, Resource, ResourceError
from telerobot_nodes.rtc.skills.skills import Arm, Camera, Region, Sensor, Workcell
from telerobot_nodes.rtc.world import WORLD, Item, Value

T = TypeVar("T")
DEFAULT = "default"
FRAMES = (WORLD, "world", "tool")  # no thing is called so
AGENTS = ("operator", "program")  # every workcell has them
FARTHEST = 20.0  # [m] from its frame; a pose in millimetres is farther
# What a number of a thing can be: lowest, highest, unit.
BOUNDS = {
    "mass": (0.0, 1000.0, "kg"),
    "angle": (-100.0, 100.0, "rad"),
    **dict.fromkeys(("swing", "turn_angle", "start_turn"), (-100.0, 100.0, "rad")),
    **dict.fromkeys(("width", "height", "radius", "depth", "travel", "lead", "search"), (0.0, 5.0, "m")),
    **dict.fromkeys(
        ("approach_distance", "near_distance", "carry_height", "standoff", "clearance_width"), (0.0, 5.0, "m")
    ),
    **dict.fromkeys(("grip_force", "press_force", "push_force", "pull_force"), (0.0, 1000.0, "N")),
    **dict.fromkeys(("insert_force", "seat_force"), (0.0, 1000.0, "N")),
    "dither": (0.0, 0.05, "m"),
    "polish_time": (0.0, 3600.0, "s"),
}


@dataclass(frozen=True)
class _Resource:
    name: Annotated[str, OWN_KEY]
    kind: Kind
    capacity: Annotated[int, Key(low=1, high=1000)] = 1


@dataclass(frozen=True)
class _WorkcellFile:
    """The keys of the file."""

    arms: Mapping[str, Arm]
    safe_work_range: str
    cameras: Mapping[str, Camera] = field(default_factory=dict)
    sensors: Mapping[str, Sensor] = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()
    regions: Mapping[str, Region] = field(default_factory=dict)
    resources: Mapping[str, _Resource] = field(default_factory=dict)
    paths: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    places: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    objects: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    command_objects: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)


def read_workcell(file: Path, skills: frozenset[str], verbs: tuple[Verb, ...] = ()) -> Workcell:
    """The workcell, with the names of the skills and the verbs of their files.

    Raises ParameterFileError naming file, line, column and key.
    """
    root = read_yaml(file, file.name)
    cell = build(_WorkcellFile, root, Spot(file.name), Rules())
    if cell.safe_work_range not in cell.regions:
        root.reject("safe_work_range", f"{cell.safe_work_range!r} is not allowed; allowed: {', '.join(cell.regions)}")
    _check_names(cell, root)
    _check_frames(cell, root)
    arms = {name: replace(arm, base=_poses(root["arms"][name], "base", arm.base)[0]) for name, arm in cell.arms.items()}
    paths = {name: _poses(root["paths"], name) for name in cell.paths}
    items = [item for key in ("objects", "places") for name, s in root.get(key, {}).items() for item in _items(name, s)]
    items += [Item(f"{arm.name}.home", arm.home) for arm in arms.values()]
    items += [Item(f"{name}.tool", next(iter(cell.tools), "")) for name in arms]
    items += [Item(f"{name}.owner", "program") for name in arms] + [Item(f"{name}.holds", "") for name in arms]
    table = _command_objects(root, skills, (*cell.objects, *cell.places, DEFAULT))
    vocabulary = Vocabulary(
        objects=frozenset(cell.objects),
        places=frozenset(cell.places),
        arms=frozenset(arms),
        cameras=frozenset(cell.cameras),
        regions=frozenset(cell.regions),
        paths=frozenset(paths),
        tools=frozenset(cell.tools),
        skills=skills,
        agents=frozenset(cell.agents),
        signals=frozenset(cell.signals),
        points=frozenset(point for row in table.values() for point in row.get("grasp_points", ())),  # type: ignore[attr-defined]
        verbs=verbs,
    )
    resources = _resources(cell, root)
    return Workcell(
        arms,
        cell.cameras,
        cell.sensors,
        resources,
        cell.regions,
        cell.safe_work_range,
        paths,
        tuple(items),
        table,
        vocabulary,
        root,
    )


def _check_names(cell: _WorkcellFile, root: FileMapping) -> None:
    """Every thing has a name of its own, that no frame has; every gripper one arm."""
    owners: dict[str, str] = dict.fromkeys(FRAMES, "frame")
    for kind in ("arms", "cameras", "sensors", "places", "objects", "paths"):
        for name in getattr(cell, kind):
            if name in owners:
                root[kind].reject(name, f"{name!r} names two things: {owners[name]} and {kind.removesuffix('s')}")
            owners[name] = kind.removesuffix("s")
    for arm in cell.arms.values():
        what = f"gripper of {arm.name}"
        if arm.gripper in owners:
            root["arms"][arm.name].reject(
                "gripper", f"{arm.gripper!r} names two things: {owners[arm.gripper]} and {what}"
            )
        if arm.gripper:
            owners[arm.gripper] = what
    for agent in AGENTS:
        if cell.agents and agent not in cell.agents:
            root.reject("agents", f"{agent!r} is missing; {did_you_mean(agent, cell.agents)}")
    twice = next((name for name in cell.signals if cell.signals.count(name) > 1), None)
    if twice is not None:
        root.reject("signals", f"{twice!r} is given twice")


def _check_frames(cell: _WorkcellFile, root: FileMapping) -> None:
    """The frame of a pose is WORLD, an arm, an object or a place, and through any chain never itself."""
    things = {**cell.places, **cell.objects}
    frames = {name: str(section.get("frame", WORLD)) for name, section in things.items()}
    allowed = (WORLD, *cell.arms, *things)
    for name, frame in frames.items():
        section = root["places" if name in cell.places else "objects"][name]
        if frame not in allowed:
            section.reject(
                "frame", f"no frame is called {frame!r}; {did_you_mean(frame, allowed) or ', '.join(allowed)}"
            )
        seen = [name]
        while seen[-1] in frames:
            seen.append(frames[seen[-1]])
            if seen[-1] in seen[:-1]:
                section.reject("frame", f"frames need each other: {' -> '.join(seen)}")


def _at(section: FileMapping, key: str, read: Callable[[], T]) -> T:
    """What `read` returns; its errors are raised at the line of `key`."""
    try:
        return read()
    except TelerobotError as error:
        section.reject(key, str(error))


def _poses(section: FileMapping, key: str, default: object = None) -> tuple[tuple[float, ...], ...]:
    if not finite(section.get(key)):
        section.reject(key, f"{section[key]} is not finite")
    rows = _at(section, key, lambda: poses(section.get(key, default), key))
    if len(rows) and abs(rows[:, :3]).max() > FARTHEST:
        section.reject(
            key, f"{abs(rows[:, :3]).max():g} m from the frame; allowed: {FARTHEST:g} m; is it in millimetres?"
        )
    return tuple(tuple(row) for row in rows.tolist())


def _items(entity: str, section: FileMapping) -> list[Item]:
    frame = str(section.get("frame", WORLD))
    items = []
    for key in section:
        if key == "pose":
            items.append(Item(f"{entity}.pose", _poses(section, key)[0], frame="" if frame == WORLD else frame))
        elif key != "frame":
            items.append(Item(f"{entity}.{key}", _value(section, key)))
    return items


def _value(section: FileMapping, key: str) -> Value:
    value = section[key]
    if not finite(value):
        section.reject(key, f"{value} is not finite")
    if key in BOUNDS and (isinstance(value, (bool, str)) or not isinstance(value, (int, float))):
        section.reject(key, f"{value!r} is no number")
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float)):
        low, high, unit = BOUNDS.get(key, (-math.inf, math.inf, ""))
        if not low <= value <= high:
            section.reject(key, f"{value:g} is not allowed; allowed: {low:g} .. {high:g} {unit}")
        return float(value)
    if not isinstance(value, list) or not all(isinstance(v, (int, float)) for v in value):
        section.reject(key, "a number, a text, true, false or a list of numbers is needed")
    return tuple(float(v) for v in value)


def _command_objects(
    root: FileMapping, skills: frozenset[str], names: tuple[str, ...]
) -> dict[tuple[str, str], dict[str, object]]:
    table: dict[tuple[str, str], dict[str, object]] = {}
    for skill, rows in root.get("command_objects", {}).items():
        if skill not in skills:
            root["command_objects"].reject(skill, f"no skill is called {skill!r}")
        for name, row in rows.items():
            if name not in names:
                rows.reject(name, f"no object is called {name!r}")
            table[skill, name] = {key: _table_value(row, key) for key in row}
    return table


def _table_value(row: FileMapping, key: str) -> object:
    points = row[key]
    if key != "grasp_points":
        return _value(row, key)
    if not isinstance(points, FileMapping):
        row.reject(key, "a mapping is needed")
    return {name: _poses(points, name)[0] for name in points}


def _resources(cell: _WorkcellFile, root: FileMapping) -> tuple[Resource, ...]:
    """Arms, grippers, objects and places are exclusive, cameras queued, unless the file has them otherwise."""
    own = [Resource(name) for arm in cell.arms.values() for name in (arm.name, arm.gripper) if name]
    own += [Resource(name) for name in (*cell.objects, *cell.places)]
    own += [Resource(name, Kind.QUEUED) for name in cell.cameras]
    for r in cell.resources.values():
        try:
            own.append(Resource(r.name, r.kind, r.capacity))
        except ResourceError as error:
            root["resources"][r.name].reject("capacity", str(error))
    return tuple({resource.name: resource for resource in own}.values())
