"""Pose arithmetic for skill files; poses are arrays (7,) `x y z [m], qx qy qz qw` [JPL-RTC section 4, planning]."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.values import (
    FloatArray,
    finite_array,
    interpolate,
    pose_distance,
    pose_from_se3,
    se3_from_pose,
)
from telerobot_nodes.errors import InvalidValueError

Numbers: TypeAlias = "Sequence[float] | FloatArray"

AXES = {"x": 0, "y": 1, "z": 2}
ARC_PIECE = 0.1745  # [rad] the chord stays within 0.4 % of the radius
MAX_PIECES = 400


def _column(axis: str) -> int:
    """Number of an axis by its name. Raises InvalidValueError."""
    if axis not in AXES:
        raise InvalidValueError("axis", axis, f"allowed: {', '.join(AXES)}")
    return AXES[axis]


def unit(v: Numbers) -> FloatArray:
    """The vector (3,) at length 1; raises InvalidValueError for the zero vector."""
    vector = finite_array(v, "unit()", 3)
    length = float(np.linalg.norm(vector))
    if length < 1e-9:
        raise InvalidValueError("unit()", v, "allowed: a vector with a direction")
    scaled: FloatArray = vector / length
    return scaled


def offset(x: float, y: float, z: float) -> FloatArray:
    """A translation [m]."""
    return finite_array((x, y, z, 0.0, 0.0, 0.0, 1.0), "offset()", 7)


def rotate(axis: str | Numbers, angle_: float) -> FloatArray:
    """A rotation about an axis (name or vector) by an angle [rad]."""
    direction = np.asarray(np.eye(3)[_column(axis)] if isinstance(axis, str) else unit(axis))
    return pose_from_se3(pin.SE3(pin.exp3(direction * float(angle_)), np.zeros(3)))


def compose(*poses: Numbers) -> FloatArray:
    """The poses one after the other."""
    T = pin.SE3.Identity()
    for pose in poses:
        T = T * se3_from_pose(pose, "compose()")
    return pose_from_se3(T)


def inverse(pose: Numbers) -> FloatArray:
    """The inverse transform."""
    return pose_from_se3(se3_from_pose(pose, "inverse()").inverse())


def mean(a: Numbers, b: Numbers) -> FloatArray:
    """The pose half way between two: GP = 0.5 (GP1 + GP2) [JPL-RTC figure 4]."""
    T_a, T_b = se3_from_pose(a, "mean()"), se3_from_pose(b, "mean()")
    middle = interpolate(pin.SE3(T_a.rotation, np.zeros(3)), pin.SE3(T_b.rotation, np.zeros(3)), 0.5)
    return pose_from_se3(pin.SE3(middle.rotation, 0.5 * (T_a.translation + T_b.translation)))


def before(pose: Numbers, distance_: float) -> FloatArray:
    """The pose drawn back [m] along its own z axis, the approach axis of a tool."""
    return compose(pose, offset(0.0, 0.0, -float(distance_)))


def shift(pose: Numbers, direction: Numbers, distance_: float = 1.0) -> FloatArray:
    """The pose moved along a direction of WORLD by a distance [m]."""
    T = se3_from_pose(pose, "shift()")
    T.translation = T.translation + finite_array(direction, "shift() direction", 3) * float(distance_)
    return pose_from_se3(T)


def axis_of(pose: Numbers, axis: str) -> FloatArray:
    """An axis of a pose in WORLD, length 1."""
    column: FloatArray = se3_from_pose(pose, "axis_of()").rotation[:, _column(axis)].copy()
    return column


def facing(position_: Numbers, target: Numbers) -> FloatArray:
    """A pose at a position whose z axis points to a target position, x as level as it can be."""
    z = unit(finite_array(target, "facing()")[:3] - finite_array(position_, "facing()")[:3])
    side = np.cross(z, [0.0, 0.0, 1.0])
    x = unit(side) if np.linalg.norm(side) > 1e-6 else np.array([1.0, 0.0, 0.0])
    rotation = np.column_stack((x, np.cross(z, x), z))
    return pose_from_se3(pin.SE3(rotation, np.array(position_, dtype=np.float64)[:3]))


def turn_about(pose: Numbers, axis_pose: Numbers, angle_: float) -> FloatArray:
    """The pose carried round the z axis of another pose by an angle [rad]: a crank, a hinge, a bolt."""
    return compose(axis_pose, rotate("z", angle_), inverse(axis_pose), pose)


def carry_about(pose: Numbers, axis_pose: Numbers, angle_: float) -> FloatArray:
    """Like `turn_about` with the orientation kept: the handle of a crank spins freely."""
    carried = turn_about(pose, axis_pose, angle_)
    return np.concatenate((carried[:3], finite_array(pose, "carry_about()", 7)[3:]))


def arc(pose: Numbers, axis_pose: Numbers, angle_: float) -> tuple[FloatArray, ...]:
    """Poses round the z axis of another pose, at most `ARC_PIECE` apart, with the orientation kept."""
    return tuple(carry_about(pose, axis_pose, part) for part in _parts(angle_, ARC_PIECE))


def arc_turned(pose: Numbers, axis_pose: Numbers, angle_: float) -> tuple[FloatArray, ...]:
    """Poses round the z axis of another pose, at most `ARC_PIECE` apart, turned with it: the handle of a door."""
    return tuple(turn_about(pose, axis_pose, part) for part in _parts(angle_, ARC_PIECE))


def spin(pose: Numbers, axis_pose: Numbers, angle_: float) -> tuple[FloatArray, ...]:
    """Poses turned with the z axis of another pose, at most a quarter turn apart."""
    return tuple(turn_about(pose, axis_pose, part) for part in _parts(angle_, 0.5 * np.pi))


def _parts(angle_: float, piece: float) -> list[float]:
    count = max(int(np.ceil(abs(float(angle_)) / piece)), 1)
    if count > MAX_PIECES:
        raise InvalidValueError("angle", angle_, f"allowed: up to {MAX_PIECES * piece:.4g} rad in one motion")
    return [float(angle_) * k / count for k in range(1, count + 1)]


def swept(track: Numbers, axis_pose: Numbers) -> float:
    """Angle [rad] by which measured poses (n, 7) went round the z axis of another pose, over any number of turns."""
    points = _track(track, "swept()")
    T_axis = se3_from_pose(axis_pose, "swept()")
    flat = np.array([T_axis.actInv(point) for point in points[:, :3]])[:, :2]
    cross = flat[:-1, 0] * flat[1:, 1] - flat[:-1, 1] * flat[1:, 0]
    return float(np.arctan2(cross, np.sum(flat[:-1] * flat[1:], axis=1)).sum())


def spun(track: Numbers, axis_pose: Numbers) -> float:
    """Angle [rad] by which measured poses (n, 7) turned with the z axis of another pose, over any number of turns."""
    turns = [se3_from_pose(pose, "spun()").rotation for pose in _track(track, "spun()")]
    axis = axis_of(axis_pose, "z")
    return float(sum(axis @ pin.log3(after @ before.T) for before, after in itertools.pairwise(turns)))


def moved(track: Numbers, direction: Numbers) -> float:
    """Distance [m] from the first to the last of measured poses (n, 7), along a direction of WORLD."""
    points = _track(track, "moved()")
    return float((points[-1, :3] - points[0, :3]) @ unit(direction))


def _track(track: Numbers, name: str) -> FloatArray:
    points = np.asarray(track, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 7 or len(points) < 2:
        raise InvalidValueError(name, points.shape, "allowed: a motion that was measured, (n, 7) with n of 2 or more")
    return points


def distance(a: Numbers, b: Numbers) -> float:
    """Distance of two poses or positions [m]."""
    difference = np.asarray(a, dtype=np.float64)[:3] - np.asarray(b, dtype=np.float64)[:3]
    return float(np.linalg.norm(difference))


def angle(a: Numbers, b: Numbers) -> float:
    """Angle between two poses [rad]."""
    return pose_distance(finite_array(a, "angle()", 7), finite_array(b, "angle()", 7))[1]


def position(pose: Numbers) -> FloatArray:
    """The position (3,) of a pose [m]."""
    return np.array(pose, dtype=np.float64)[:3]
