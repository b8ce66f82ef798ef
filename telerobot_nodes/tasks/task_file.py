"""Task files: YAML read strictly into a `Task`. Unknown and doubled keys, wrong types and values are refused by name.

A pose is x y z [m], qx qy qz qw, or `{xyz: [m], rpy_deg: [roll, pitch, yaw]}`; a value ending in `_deg` is in degrees.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import yaml

from telerobot_nodes.core.share import share_path
from telerobot_nodes.core.validation import finite_array
from telerobot_nodes.errors import InvalidValueError, ModelError, ParameterFileError, TelerobotError
from telerobot_nodes.tasks.task import Task

FOLDER = "config/tasks"
_LARGEST = 100_000  # bytes


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Refuses a key given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} is given twice", key.start_mark)
            seen.add(key.value)
        return dict(super().construct_mapping(node, deep))


def task_names() -> tuple[str, ...]:
    """The tasks that come with the package."""
    return tuple(sorted(path.stem for path in share_path(FOLDER).glob("*.yaml")))


def load_task(name_or_path: str) -> Task:
    """A task by its name or file. Raises ParameterFileError naming file and key, ModelError when there is none."""
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        if name_or_path not in task_names():
            raise ModelError(f"task {name_or_path!r}: neither a file nor one of {', '.join(task_names())}")
        path = share_path(f"{FOLDER}/{name_or_path}.yaml")
    return task_from(_read(path), str(path))


def task_from(raw: object, file: str) -> Task:
    """A task from the values of its file. Raises ParameterFileError."""
    try:
        return typing.cast("Task", _build(Task, raw, ""))
    except InvalidValueError as error:
        raise ParameterFileError(file, 0, error.field, f"{error.value!r}: {error.allowed}") from None
    except TelerobotError as error:
        raise ParameterFileError(file, 0, "task", str(error)) from None


def _read(path: Path) -> object:
    try:
        text = path.read_text(encoding="utf-8")
        if len(text) > _LARGEST:
            raise ParameterFileError(str(path), 0, "file", f"allowed: up to {_LARGEST} characters")
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise ParameterFileError(str(path), line, "YAML", str(error.problem)) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ParameterFileError(str(path), 0, "file", f"not readable: {error}") from None


def _build(cls: type, raw: object, where: str) -> Any:
    """An object of a dataclass from a mapping; fields that are dataclasses are built the same way."""
    if not isinstance(raw, Mapping):
        raise InvalidValueError(where or "file", raw, "allowed: a mapping")
    hints = typing.get_type_hints(cls)
    names = {entry.name for entry in dataclasses.fields(cls)}
    values: dict[str, Any] = {}
    for key, item in raw.items():
        name, value = _plain_value(str(key), item, names)
        here = f"{where}.{name}" if where else name
        if name not in names:
            raise InvalidValueError(here, item, f"allowed names: {', '.join(sorted(names))}")
        values[name] = _convert(hints[name], value, here)
    for entry in dataclasses.fields(cls):
        missing = entry.default is dataclasses.MISSING and entry.default_factory is dataclasses.MISSING
        if missing and entry.name not in values:
            raise InvalidValueError(f"{where}.{entry.name}" if where else entry.name, None, "required")
    return cls(**values)


def _plain_value(key: str, value: object, names: set[str]) -> tuple[str, object]:
    """A value in degrees in radians, under its plain name; a pose as seven numbers."""
    if key.endswith("_deg") and key not in names:
        degrees = finite_array(value if isinstance(value, list) else [value], key)
        radians = [math.radians(x) for x in degrees]
        return key.removesuffix("_deg"), radians if isinstance(value, list) else radians[0]
    if isinstance(value, Mapping) and set(value) == {"xyz", "rpy_deg"}:
        return key, pose_of(value["xyz"], value["rpy_deg"], key)
    return key, value


def pose_of(xyz: object, rpy_deg: object, field: str) -> list[float]:
    """The pose (7,) of an offset [m] and roll, pitch, yaw [degrees]."""
    roll, pitch, yaw = np.radians(finite_array(rpy_deg, f"{field}.rpy_deg", 3))
    T = pin.SE3(pin.rpy.rpyToMatrix(roll, pitch, yaw), finite_array(xyz, f"{field}.xyz", 3))
    return [float(x) for x in pin.SE3ToXYZQUAT(T)]


def _convert(kind: Any, value: object, where: str) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return None if value is None else _convert(arguments[0], value, where)
    if origin is tuple:
        items = value if isinstance(value, (list, tuple)) else [value]
        return tuple(_convert(arguments[0], item, f"{where}[{i}]") for i, item in enumerate(items))
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _build(kind, value, where)
    return _parameters(value, where) if origin is collections.abc.Mapping else _scalar(kind, value, where)


def _scalar(kind: type, value: object, where: str) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind:
        raise InvalidValueError(where, value, f"allowed: {kind.__name__}")
    return value


def _parameters(value: object, where: str) -> dict[str, Any]:
    """Parameters of a primitive, by name."""
    if not isinstance(value, Mapping):
        raise InvalidValueError(where, value, "allowed: a mapping")
    return dict(_plain_value(str(key), item, set()) for key, item in value.items())
