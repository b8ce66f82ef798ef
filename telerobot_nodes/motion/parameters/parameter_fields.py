"""Fields of the parameter set: name in the source, unit, length, bounds and default of each."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.config import ParameterInfo, check_parameter, types_of
from telerobot_nodes.core.values import se3_from_pose
from telerobot_nodes.errors import InvalidValueError

Vector = tuple[float, ...]
Selection = tuple[bool, ...]

IDENTITY: Vector = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
NO_DOF: Selection = (False,) * 6


@dataclasses.dataclass(frozen=True)
class Shape:
    """Name and shape of a field's value."""

    source: str  # its name in [GCMSF]; empty: ours
    length: int = 0  # 0: any length, or a scalar
    empty: bool = False  # () is allowed and means the default given in the text
    pose: bool = False


def _field(default: Any, info: ParameterInfo, shape: Shape) -> Any:
    return dataclasses.field(default=default, metadata={"parameter": info, "shape": shape})


def number(source: str, default: float, unit: str, low: float, high: float, doc: str) -> Any:
    """A number."""
    return _field(default, ParameterInfo(unit, low, high, doc), Shape(source))


def vector(
    source: str, default: Sequence[float], unit: str, low: float, high: float, doc: str, *, empty: bool = False
) -> Any:
    """Several numbers; with `empty`, none or any number of them."""
    length = 0 if empty else len(default)
    return _field(tuple(default), ParameterInfo(unit, low, high, doc), Shape(source, length, empty))


def pose(source: str, doc: str, *, empty: bool = False) -> Any:
    """A transform as x y z [m], qx qy qz qw."""
    default = () if empty else IDENTITY
    return _field(default, ParameterInfo("m, -", -math.inf, math.inf, doc), Shape(source, 7, empty, pose=True))


def selection(source: str, doc: str, *, empty: bool = False) -> Any:
    """One flag for each degree of freedom, x y z rx ry rz; with `empty` one for each joint."""
    default = () if empty else NO_DOF
    return _field(default, ParameterInfo("", -math.inf, math.inf, doc), Shape(source, 0 if empty else 6, empty))


def choice(source: str, default: str, choices: Sequence[str], doc: str) -> Any:
    """One of a few texts."""
    return _field(default, ParameterInfo("", -math.inf, math.inf, doc, tuple(choices)), Shape(source))


def flag(source: str, doc: str) -> Any:
    """A switch, off by default."""
    return _field(False, ParameterInfo("", -math.inf, math.inf, doc), Shape(source))


def mask(source: str, high: int, doc: str) -> Any:
    """A bit mask; 0 by default."""
    return _field(0, ParameterInfo("", 0, high, doc), Shape(source))


class Group:
    """Base of the groups of parameters; checks its values. Raises InvalidValueError naming the field."""

    def __post_init__(self) -> None:
        defaults = _checked_defaults(type(self))
        for entry in dataclasses.fields(self):  # type: ignore[arg-type]
            value, default = getattr(self, entry.name), defaults[entry.name]
            known = value is entry.default or value is default  # most of a set are: checked once
            object.__setattr__(self, entry.name, default if known else _checked(type(self), entry, value))

    def se3(self, name: str) -> pin.SE3:
        """A pose field as a transform."""
        return se3_from_pose(getattr(self, name), name)


_DEFAULTS: dict[str, dict[str, Any]] = {}  # by group and field, as checked values; a group's name is its own


def _checked_defaults(group: type) -> dict[str, Any]:
    """The default of each field, as a checked value of it."""
    name = f"{group.__module__}.{group.__qualname__}"
    if name not in _DEFAULTS:
        entries = dataclasses.fields(group)
        _DEFAULTS[name] = {entry.name: _checked(group, entry, entry.default) for entry in entries}
    return _DEFAULTS[name]


def _checked(group: type, entry: dataclasses.Field[Any], value: Any) -> Any:
    """The value of a field in the form in which it is kept. Raises InvalidValueError."""
    value = check_parameter(group, entry.name, _plain(value, types_of(group)[entry.name]))
    shape: Shape = entry.metadata["shape"]
    _check_length(entry.name, value, shape)
    return _normal_pose(value, entry.name) if shape.pose and value else value


def _plain(value: Any, kind: Any) -> Any:
    """Arrays, and selections given as 0 and 1, as tuples."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        value = tuple(item.item() if isinstance(item, np.generic) else item for item in value)
    if kind == Selection and isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(bool(item) if item in (0, 1) else item for item in value)
    return value


def _check_length(name: str, value: Any, shape: Shape) -> None:
    if not isinstance(value, tuple) or not shape.length or (shape.empty and not value):
        return
    if len(value) != shape.length:
        raise InvalidValueError(f"{name} (length)", len(value), f"allowed: {shape.length} values")


def _normal_pose(value: Vector, name: str) -> Vector:
    T = se3_from_pose(value, name)
    return tuple(float(x) for x in pin.SE3ToXYZQUAT(T))
