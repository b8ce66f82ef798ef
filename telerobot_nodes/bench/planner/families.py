"""Robots by the kinds of joint and shape that a proof can be wrong about: made here, or known by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from telerobot_nodes.core.robot import RobotModel, load_robot

KNOWN = ("panda", "arm", "ur5")
MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def _joint(name: str, kind: str, at: str, ends: str, axis: str, limits: str, mimic: str = "") -> str:
    parent, child = ends.split()
    lower, upper = limits.split()
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="{at}"/><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="{axis}"/><limit lower="{lower}" upper="{upper}" velocity="1" effort="10"/>{mimic}</joint>'
    )


def _link(name: str, at: str, shape: str) -> str:
    return f'<link name="{name}">{MASS}<collision><origin xyz="{at}"/><geometry>{shape}</geometry></collision></link>'


BASE = _link("base", "0 0 -0.5", '<box size="0.1 0.1 0.1"/>')
COLUMN = _link("column", "0 0 0.2", '<cylinder radius="0.1" length="0.3"/>')
UPPER = _link("upper", "0.2 0 0", '<box size="0.4 0.08 0.06"/>')
FORE = _link("fore", "0.15 0 0", '<box size="0.3 0.06 0.05"/>')
TOOL = '<joint name="fix" type="fixed"><origin xyz="0.3 0 0"/><parent link="fore"/><child link="tool"/></joint>'
TOOL += '<link name="tool"/>'
LIFT = _joint("lift", "prismatic", "0 0 0", "base column", "0 0 1", "0 1")
SWING = _joint("swing", "revolute", "0 0 0", "base column", "0 0 1", "-2.5 2.5")
TURN = _joint("turn", "revolute", "0 0 0.4", "column upper", "0 1 0", "-1.5 1.5")
ENDLESS = _joint("turn", "continuous", "0 0 0.4", "column upper", "0 0 1", "-1 1")
BEND = _joint("bend", "revolute", "0.4 0 0", "upper fore", "0 1 0", "-2.2 2.2")
SPIN = _joint("spin", "continuous", "0.4 0 0", "upper fore", "1 0 0", "-1 1")
LEFT = _joint("left", "revolute", "0.3 0.03 0", "fore left_finger", "0 0 1", "0 0.9")
FOLLOWER = '<mimic joint="left" multiplier="-1"/>'
RIGHT = _joint("right", "revolute", "0.3 -0.03 0", "fore right_finger", "0 0 1", "-0.9 0", FOLLOWER)
SLIDER = _joint("slide", "prismatic", "0.3 0.01 0", "fore left_finger", "0 1 0", "0 0.08")
SECOND = _joint("second", "prismatic", "0.3 -0.01 0", "fore right_finger", "0 -1 0", "0 0.08", FOLLOWER.replace(
    'left" multiplier="-1"', 'slide" multiplier="0.9" offset="0.005"'
))  # fmt: skip
FINGERS = [_link(f"{side}_finger", "0.05 0 0", '<box size="0.1 0.01 0.02"/>') for side in ("left", "right")]

PARTS = {
    "sliding first joint": [BASE, LIFT, COLUMN, TURN, UPPER, BEND, FORE, TOOL],
    "turning finger": [BASE, SWING, COLUMN, TURN, UPPER, BEND, FORE, TOOL, LEFT, FINGERS[0]],
    "mimic": [BASE, SWING, COLUMN, TURN, UPPER, BEND, FORE, TOOL, LEFT, RIGHT, *FINGERS],
    "sliding mimic": [BASE, LIFT, COLUMN, TURN, UPPER, BEND, FORE, TOOL, SLIDER, SECOND, *FINGERS],
    "continuous joint": [BASE, SWING, COLUMN, TURN, UPPER, SPIN, FORE, TOOL],
    "mesh": [BASE, LIFT, COLUMN, ENDLESS, UPPER, BEND, FORE.replace('<box size="0.3 0.06 0.05"/>', "MESH"), TOOL],
}
FAMILIES: tuple[str, ...] = (*PARTS, *KNOWN)
ANGLE = np.array([(0, 0), (0.3, 0), (0.3, 0.2), (0.24, 0.2), (0.24, 0.05), (0, 0.05)])  # [m] outline of the mesh


def family_robot(family: str, folder: Path) -> RobotModel:
    """The robot of a family; its files, if they are made here, are in `folder`."""
    if family in KNOWN:
        return load_robot(family)
    parts = "".join(PARTS[family])
    if "MESH" in parts:
        (folder / "angle.obj").write_text(_angle())
        parts = parts.replace("MESH", f'<mesh filename="file://{folder / "angle.obj"}"/>')
    file = folder / f"{family.replace(' ', '_')}.urdf"
    file.write_text(f'<robot name="made">{parts}</robot>')
    return load_robot(str(file), tool_frame="tool")


def _angle() -> str:
    """An angle iron 0.05 m thick, hollow to who takes its hull, as the text of a mesh."""
    corners = [(x - 0.15, y - 0.025, z) for z in (-0.025, 0.025) for x, y in ANGLE.tolist()]
    flat = [(0, 1, 4), (0, 4, 5), (1, 2, 3), (1, 3, 4)]
    faces = [(a, c, b) for a, b, c in flat] + [(a + 6, b + 6, c + 6) for a, b, c in flat]
    for i in range(6):
        j = (i + 1) % 6
        faces += [(i, j, j + 6), (i, j + 6, i + 6)]
    rows = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    return "\n".join(rows) + "\n"
