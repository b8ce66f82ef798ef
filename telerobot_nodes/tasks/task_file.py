"""Task files: YAML read strictly into a `Task`; errors name file, line and key.

A pose is x y z [m], qx qy qz qw, or `{xyz: [m], rpy_deg: [roll, pitch, yaw]}`; a value ending in `_deg` is in degrees.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.config import Rules, Spot, build, read_yaml, share_path
from telerobot_nodes.core.values import finite_array
from telerobot_nodes.errors import ModelError
from telerobot_nodes.tasks.task import Task

FOLDER = "config/tasks"


def task_names() -> tuple[str, ...]:
    """The tasks that come with the package."""
    return tuple(sorted(path.stem for path in share_path(FOLDER).glob("*.yaml")))


def load_task(name_or_path: str) -> Task:
    """A task by its name or file. Raises ParameterFileError, or ModelError when there is none."""
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        if name_or_path not in task_names():
            raise ModelError(f"task {name_or_path!r}: neither a file nor one of {', '.join(task_names())}")
        path = share_path(f"{FOLDER}/{name_or_path}.yaml")
    return task_from(read_yaml(path), str(path))


def task_from(raw: object, file: str) -> Task:
    """A task from the values of its file. Raises ParameterFileError."""
    return build(Task, raw, Spot(file), RULES)


def _in_radians(key: str, value: object, known: frozenset[str]) -> tuple[str, object]:
    """A value in degrees in radians, under its plain name; a pose as seven numbers."""
    if key.endswith("_deg") and key not in known:
        degrees = finite_array(value if isinstance(value, list) else [value], key)
        radians = [math.radians(x) for x in degrees]
        return key.removesuffix("_deg"), radians if isinstance(value, list) else radians[0]
    if isinstance(value, Mapping) and set(value) == {"xyz", "rpy_deg"}:
        return key, pose_of(value["xyz"], value["rpy_deg"], key)
    return key, value


RULES = Rules(prepare=_in_radians)


def pose_of(xyz: object, rpy_deg: object, field: str) -> list[float]:
    """The pose (7,) of an offset [m] and roll, pitch, yaw [degrees]."""
    roll, pitch, yaw = np.radians(finite_array(rpy_deg, f"{field}.rpy_deg", 3))
    T = pin.SE3(pin.rpy.rpyToMatrix(roll, pitch, yaw), finite_array(xyz, f"{field}.xyz", 3))
    return [float(x) for x in pin.SE3ToXYZQUAT(T)]
