"""Parts of a parameter that a field sets: `tr_rel_dest.z`, `force_setpoints.rz`, or the whole, `time_vel_val`.

Parts of a pose are x y z [m] and roll_deg pitch_deg yaw_deg (rotations about fixed x, y, z, in that order); those of
six numbers or flags are the degrees of freedom x y z rx ry rz.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.values import finite_array, pose_from_se3, se3_from_pose
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.parameters import Declaration

POSE = ("x", "y", "z", "roll_deg", "pitch_deg", "yaw_deg")
DOFS = ("x", "y", "z", "rx", "ry", "rz")
HALF_TURN = 180.0  # [deg]


@dataclass(frozen=True)
class Part:
    """A parameter, or one number of it. `sign` -1: it is set to the opposite."""

    parameter: str
    index: int | None = None  # in DOFS or POSE; None: the whole
    sign: float = 1.0

    @property
    def turns(self) -> bool:
        """True for an angle of a pose, or a rotation of six numbers."""
        return self.index is not None and self.index >= 3


def part_named(text: str, declared: Mapping[str, Declaration]) -> Part:
    """The part that a file names. Raises InvalidValueError at `sets`."""
    name, _, part = text.removeprefix("-").partition(".")
    sign = -1.0 if text.startswith("-") else 1.0
    if name not in declared:
        raise InvalidValueError("sets", text, f"allowed: {', '.join(declared)}, or a part of them")
    words = parts_of(declared[name])
    if part and part not in words:
        raise InvalidValueError("sets", text, f"allowed: {', '.join((name, *(f'{name}.{word}' for word in words)))}")
    plain = declared[name].kind in (bool, str) or declared[name].selects or not (part or declared[name].kind is float)
    if sign < 0.0 and plain:
        raise InvalidValueError("sets", text, "allowed: `-` before a number")
    return Part(name, words.index(part) if part else None, sign)


def parts_of(declaration: Declaration) -> tuple[str, ...]:
    """The words for the parts of a parameter; none for what has no parts."""
    if declaration.shape.pose:
        return POSE
    return DOFS if declaration.shape.length == 6 else ()


def numbers_of(pose: object) -> list[float]:
    """The six numbers x y z [m], roll pitch yaw [deg] of a pose (7,)."""
    T = se3_from_pose(pose)
    return [*map(float, finite_array(pose, "pose", 7)[:3]), *map(float, np.degrees(pin.rpy.matrixToRpy(T.rotation)))]


def pose_of(xyz: object, rpy_deg: object, field: str = "pose") -> tuple[float, ...]:
    """The pose (7,) of a position [m] and roll, pitch, yaw [deg]. Raises InvalidValueError."""
    rotation = pin.rpy.rpyToMatrix(np.radians(finite_array(rpy_deg, f"{field}.rpy_deg", 3)))
    T = pin.SE3(rotation, finite_array(xyz, f"{field}.xyz", 3))
    return tuple(float(number) for number in pose_from_se3(T))


def value_of(part: Part, declaration: Declaration, value: Any) -> Any:
    """What a part is in a parameter's value."""
    if part.index is None:
        return value
    if declaration.shape.pose:
        return numbers_of(value)[part.index]
    return value[part.index]


def with_parts(declaration: Declaration, value: Any, set_to: Iterable[tuple[Part, Any]]) -> Any:
    """A parameter's value with parts of it changed; a pose that keeps its angles keeps its quaternion."""
    numbers = numbers_of(value) if declaration.shape.pose else value
    turned = False
    for part, new in set_to:
        signed = new if part.sign > 0.0 else -new
        if part.index is None:
            return signed
        numbers = [*numbers[: part.index], signed, *numbers[part.index + 1 :]]
        turned = turned or part.turns
    if not declaration.shape.pose:
        return tuple(numbers)
    return pose_of(numbers[:3], numbers[3:], declaration.name) if turned else (*numbers[:3], *value[3:])
