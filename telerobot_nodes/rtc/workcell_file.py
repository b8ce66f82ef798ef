"""Reads `workcell.yaml`: arms, devices, resources, regions, objects, command-object table [JPL-RTC section 4]."""

from __future__ import annotations

from pathlib import Path

from telerobot_nodes.core.validation import poses
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.rtc.database import WORLD, Item, Value
from telerobot_nodes.rtc.located_yaml import Section, read_yaml
from telerobot_nodes.rtc.resources import Kind, Resource, ResourceError
from telerobot_nodes.rtc.skills import Arm, Region, Workcell
from telerobot_nodes.rtc.vocabulary import Vocabulary

DEFAULT = "default"


def read_workcell(file: Path, skills: frozenset[str]) -> Workcell:
    """The workcell; raises ParameterFileError naming file, line and key."""
    root = read_yaml(file)
    homes = {name: _value(s, "home") for name, s in _named(root, "arms")}
    arms = {name: _arm(name, s) for name, s in _named(root, "arms")}
    cameras = root.texts("cameras")
    regions = {name: _region(s) for name, s in _named(root, "regions")}
    safe = root.word("safe_work_range", tuple(regions))
    paths = {key: tuple(map(tuple, _pose_list(root.section("paths"), key))) for key in _keys(root, "paths")}
    items = [item for name, s in _named(root, "objects") for item in _items(name, s)]
    objects = _keys(root, "objects")
    items += [item for name, s in _named(root, "places") for item in _items(name, s)]
    places = _keys(root, "places")
    items += [Item(f"{name}.home", homes[name]) for name in arms]
    tools = root.texts("tools")
    items += [Item(f"{arm}.tool", tools[0] if tools else "") for arm in arms]
    items += [Item(f"{arm}.owner", "program") for arm in arms] + [Item(f"{arm}.holds", "") for arm in arms]
    table = _command_objects(root, skills, (*objects, *places, DEFAULT))
    extra = [_resource(name, s) for name, s in _named(root, "resources")]
    vocabulary = Vocabulary(
        objects=frozenset(objects),
        places=frozenset(places),
        arms=frozenset(arms),
        cameras=frozenset(cameras),
        regions=frozenset(regions),
        paths=frozenset(paths),
        tools=frozenset(tools),
        skills=skills,
        agents=frozenset(root.texts("agents")),
        signals=frozenset(root.texts("signals")),
        points=frozenset(point for row in table.values() for point in _points(row)),
    )
    root.end()
    return Workcell(
        arms,
        cameras,
        _resources(arms, cameras, objects, places, extra),
        regions,
        safe,
        paths,
        tuple(items),
        table,
        vocabulary,
    )


def _keys(root: Section, key: str) -> tuple[str, ...]:
    section = root.maybe_section(key)
    return () if section is None else section.names()


def _named(root: Section, key: str) -> list[tuple[str, Section]]:
    section = root.maybe_section(key)
    return [] if section is None else [(name, section.section(name)) for name in section.names()]


def _arm(name: str, s: Section) -> Arm:
    arm = Arm(
        name,
        s.text("gripper"),
        s.number("speed", 0.001, 5.0),
        s.number("joint_speed", 0.001, 20.0),
        s.number("load", 0.0, 1000.0),
        s.text("namespace", "") if s.has("namespace") else "",
        tuple(_pose_list(s, "base")[0]) if s.has("base") else Arm.base,
    )
    s.has("home")
    s.end()
    return arm


def _region(s: Section) -> Region:
    low, high = (_three(s, key) for key in ("low", "high"))
    if not all(a < b for a, b in zip(low, high, strict=True)):
        s.refuse("high", f"{high} is not above {low} in every axis")
    s.end()
    return Region(low, high)


def _three(s: Section, key: str) -> tuple[float, float, float]:
    value = s.value(key)
    if not isinstance(value, list) or len(value) != 3 or not all(isinstance(v, (int, float)) for v in value):
        s.refuse(key, "three numbers [m] are needed")
    x, y, z = (float(v) for v in value)
    return (x, y, z)


def _pose_list(s: Section, key: str) -> list[list[float]]:
    try:
        rows: list[list[float]] = poses(s.value(key), key).tolist()
    except InvalidValueError as error:
        s.refuse(key, str(error))
    return rows


def _items(entity: str, s: Section) -> list[Item]:
    frame = s.text("frame", WORLD)
    items = []
    for key in s.names():
        if key == "pose":
            items.append(Item(f"{entity}.pose", tuple(_pose_list(s, key)[0]), frame="" if frame == WORLD else frame))
        elif key != "frame":
            items.append(Item(f"{entity}.{key}", _value(s, key)))
    s.end()
    return items


def _value(s: Section, key: str) -> Value:
    value = s.value(key)
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float)):
        return float(value)
    if not isinstance(value, list) or not all(isinstance(v, (int, float)) for v in value):
        s.refuse(key, "a number, a text, true, false or a list of numbers is needed")
    return tuple(float(v) for v in value)


def _command_objects(
    root: Section, skills: frozenset[str], names: tuple[str, ...]
) -> dict[tuple[str, str], dict[str, object]]:
    table: dict[tuple[str, str], dict[str, object]] = {}
    for skill, rows in _named(root, "command_objects"):
        if skill not in skills:
            root.section("command_objects").refuse(skill, f"no skill is called {skill!r}")
        for name in rows.names():
            if name not in names:
                rows.refuse(name, f"no object is called {name!r}")
            row = rows.section(name)
            table[skill, name] = {key: _table_value(row, key) for key in row.names()}
    return table


def _table_value(row: Section, key: str) -> object:
    if key == "grasp_points":
        points = row.section(key)
        return {name: tuple(_pose_list(points, name)[0]) for name in points.names()}
    return _value(row, key)


def _points(row: dict[str, object]) -> tuple[str, ...]:
    points = row.get("grasp_points", {})
    return tuple(points) if isinstance(points, dict) else ()


def _resource(name: str, s: Section) -> Resource:
    kind = Kind(s.word("kind", tuple(kind.value for kind in Kind)))
    try:
        resource = Resource(name, kind, int(s.number("capacity", 1, 1000, 1)))
    except ResourceError as error:
        s.refuse("capacity", str(error))
    s.end()
    return resource


def _resources(
    arms: dict[str, Arm],
    cameras: tuple[str, ...],
    objects: tuple[str, ...],
    places: tuple[str, ...],
    extra: list[Resource],
) -> tuple[Resource, ...]:
    """Arms, grippers, objects and places are exclusive, cameras queued, unless the file says otherwise."""
    default = [Resource(name) for arm in arms.values() for name in (arm.name, arm.gripper)]
    default += [Resource(name) for name in (*objects, *places)]
    default += [Resource(name, Kind.QUEUED) for name in cameras]
    return tuple({resource.name: resource for resource in (*default, *extra)}.values())
