"""Reading an SRDF: pairs of links whose contact is not checked, groups of joints, named states, end effectors.

An SRDF belongs to one URDF: it must name the same robot and only its links and joints.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from telerobot_nodes.core.robot.description import read_urdf
from telerobot_nodes.errors import ModelError

FOLDERS = (".", "../srdf", "../config")  # from the URDF's


@dataclass(frozen=True)
class EndEffector:
    """A gripper or tool: the link that carries it, and the group of its own joints or links."""

    name: str
    parent_link: str
    group: str


@dataclass(frozen=True)
class Srdf:
    """The contents of an SRDF. Joint values are in rad, of sliding joints in m."""

    path: Path
    disabled: Mapping[tuple[str, str], str]  # links, in alphabetical order -> reason; their contact is not checked
    groups: Mapping[str, tuple[str, ...]]  # joints of each group, those of groups inside it too
    states: Mapping[str, Mapping[str, float]]  # joints of each named state
    end_effectors: tuple[EndEffector, ...]

    def reason(self, first: str, second: str) -> str | None:
        """Why contact of two links is not checked; None when it is."""
        return self.disabled.get((min(first, second), max(first, second)))


def read_srdf(path: Path, urdf: ET.Element) -> Srdf:
    """The SRDF at `path` of the robot in `urdf`; raises ModelError naming file, part and reason."""
    try:
        root = ET.fromstring(path.read_bytes())
    except (OSError, ET.ParseError) as error:
        raise ModelError(f"{path}: not readable as XML: {error}") from None
    if root.tag != "robot":
        raise ModelError(f"{path}: the root element is <{root.tag}>, not <robot>")
    if root.get("name") != urdf.get("name"):
        raise ModelError(f"{path}: SRDF of robot {root.get('name')!r}; the URDF's is {urdf.get('name')!r}")
    links = {link.get("name", "") for link in urdf.findall("link")}
    joints = {joint.get("name", "") for joint in urdf.findall("joint")}
    disabled = dict(_disabled_pair(path, entry, links) for entry in root.findall("disable_collisions"))
    groups = {_named(path, entry): _joints_of(path, entry, root, urdf) for entry in root.findall("group")}
    states: dict[str, dict[str, float]] = {}  # one name may have a part in several groups
    for entry in root.findall("group_state"):
        states.setdefault(_named(path, entry), {}).update(_state(path, entry, joints))
    return Srdf(path, disabled, groups, states, tuple(_end_effector(path, e) for e in root.findall("end_effector")))


def find_srdf(urdf_path: Path) -> Srdf | None:
    """The SRDF beside a URDF: of the same file name, else the only one of the same robot; None without one.

    Looked for in the URDF's folder, and in `srdf` and `config` next to that folder.
    """
    urdf = read_urdf(urdf_path)
    folder = urdf_path.resolve().parent
    files = [file for place in FOLDERS for file in sorted((folder / place).glob("*.srdf"))]
    named = [file for file in files if file.stem == urdf_path.stem]
    fitting = [srdf for file in named or files if (srdf := _if_fitting(file, urdf)) is not None]
    return fitting[0] if len(fitting) == 1 or (named and fitting) else None


def _if_fitting(path: Path, urdf: ET.Element) -> Srdf | None:
    try:
        return read_srdf(path, urdf)
    except ModelError:
        return None


def _named(path: Path, entry: ET.Element) -> str:
    name = entry.get("name", "")
    if not name:
        raise ModelError(f"{path}: {entry.tag} without a name")
    return name


def _disabled_pair(path: Path, entry: ET.Element, links: set[str]) -> tuple[tuple[str, str], str]:
    pair = entry.get("link1", ""), entry.get("link2", "")
    for link in pair:
        if link not in links:
            raise ModelError(f"{path}: disable_collisions: link {link!r} does not exist in the URDF")
    return (min(pair), max(pair)), entry.get("reason", "no reason given")


def _joints_of(path: Path, group: ET.Element, root: ET.Element, urdf: ET.Element, depth: int = 0) -> tuple[str, ...]:
    """Joints named by a group, by its chains, and by the groups inside it."""
    if depth > 20:
        raise ModelError(f"{path}: group {group.get('name')!r} contains itself")
    known = {joint.get("name", "") for joint in urdf.findall("joint")}
    found: list[str] = []
    for entry in group:
        if entry.tag == "joint":
            found.append(_known(path, entry.get("name", ""), known))
        elif entry.tag == "chain":
            found += _chain(path, urdf, entry.get("base_link", ""), entry.get("tip_link", ""))
        elif entry.tag == "group":
            inner = [g for g in root.findall("group") if g.get("name") == entry.get("name")]
            if not inner:
                raise ModelError(f"{path}: group {entry.get('name')!r} does not exist")
            found += _joints_of(path, inner[0], root, urdf, depth + 1)
    return tuple(dict.fromkeys(found))


def _known(path: Path, joint: str, known: set[str]) -> str:
    if joint not in known:
        raise ModelError(f"{path}: joint {joint!r} does not exist in the URDF")
    return joint


def _chain(path: Path, urdf: ET.Element, base: str, tip: str) -> list[str]:
    """Joints from link `base` to link `tip`, in order."""
    above = {_end(joint, "child"): joint for joint in urdf.findall("joint")}
    found: list[str] = []
    link = tip
    while link != base:
        if link not in above or len(found) > len(above):
            raise ModelError(f"{path}: no chain of joints leads from link {base!r} to link {tip!r}")
        found.append(above[link].get("name", ""))
        link = _end(above[link], "parent")
    return found[::-1]


def _end(joint: ET.Element, which: str) -> str:
    element = joint.find(which)
    return "" if element is None else element.get("link", "")


def _state(path: Path, entry: ET.Element, joints: set[str]) -> dict[str, float]:
    values: dict[str, float] = {}
    for joint in entry.findall("joint"):
        name, text = _known(path, joint.get("name", ""), joints), joint.get("value", "")
        try:
            values[name] = float(text)
        except ValueError:
            raise ModelError(f"{path}: state {entry.get('name')!r}: joint {name}: {text!r} is not a number") from None
    return values


def _end_effector(path: Path, entry: ET.Element) -> EndEffector:
    return EndEffector(_named(path, entry), entry.get("parent_link", ""), entry.get("group", ""))
