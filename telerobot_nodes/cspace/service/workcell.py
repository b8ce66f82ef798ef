"""The arms of a workcell, from a node's parameters, and the files of worlds."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from telerobot_nodes.core.config import share_path
from telerobot_nodes.core.values import finite
from telerobot_nodes.errors import InvalidValueError, ModelError

ROW = "NAME ROBOT X Y Z YAW [NAMESPACE]"


@dataclass(frozen=True)
class ArmPlace:
    """One arm: its robot, the pose (7,) of its base in WORLD, and the namespace of its joint states."""

    name: str
    robot: str
    base: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    namespace: str = ""  # empty: the node's own


def arm_rows(text: str) -> list[str]:
    """The rows of a parameter that names arms, separated by semicolons."""
    return [row for row in text.split(";") if row.strip()]


def arms_of(rows: Sequence[str], robot: str, parameter: str = "arms") -> tuple[ArmPlace, ...]:
    """The arms of the rows of a `parameter`, `NAME ROBOT X Y Z YAW [NAMESPACE]` [m, rad]; without rows one named `arm`.

    Raises InvalidValueError naming row and word.
    """
    if not rows:
        return (ArmPlace("arm", robot),)
    arms = tuple(_arm(f"{parameter}[{i}]", row) for i, row in enumerate(rows))
    names = [arm.name for arm in arms]
    if len(set(names)) < len(names):
        raise InvalidValueError(f"{parameter} (names)", names, "allowed: each name once")
    return arms


def _arm(where: str, row: str) -> ArmPlace:
    words = row.split()
    if len(words) not in (6, 7) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", words[0]):
        raise InvalidValueError(where, row, f"allowed: {ROW}")
    try:
        x, y, z, yaw = (finite(float(word), where) for word in words[2:6])
    except ValueError:
        raise InvalidValueError(where, row, f"allowed: {ROW}, numbers in [m] and [rad]") from None
    base = (x, y, z, 0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw))
    return ArmPlace(words[0], words[1], base, words[6].strip("/") if len(words) == 7 else "")


def world_file(name: str) -> Path:
    """The file of a world: a name in config/worlds, or a path. Raises InvalidValueError."""
    path = Path(name)
    if path.suffix or path.is_file():
        return path
    try:
        return share_path(f"config/worlds/{name}.yaml")
    except ModelError:
        folder = share_path("config/worlds")
        known = ", ".join(sorted(file.stem for file in folder.glob("*.yaml")))
        raise InvalidValueError("world", name, f"allowed: a YAML file, or one of {known}") from None
