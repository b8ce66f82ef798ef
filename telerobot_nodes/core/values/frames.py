"""Poses and rigid transforms: arrays `x y z [m], qx qy qz qw [-]` at the borders, `pinocchio.SE3` inside."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.values.validation import UNIT_TOLERANCE, FloatArray, finite_array
from telerobot_nodes.errors import InvalidValueError


def pose_from_se3(T: pin.SE3) -> FloatArray:
    """The pose (7,) `x y z [m], qx qy qz qw` of a transform, with qw >= 0."""
    pose: FloatArray = pin.SE3ToXYZQUAT(T)
    if pose[6] < 0.0:
        pose[3:] = -pose[3:]
    return pose


def se3_from_pose(pose: object, field: str = "pose") -> pin.SE3:
    """The transform of a pose (7,); raises InvalidValueError naming `field` unless finite, 7 long and unit."""
    values = finite_array(pose, field, 7)
    norm = float(np.linalg.norm(values[3:]))
    if abs(norm - 1.0) > UNIT_TOLERANCE:
        raise InvalidValueError(f"{field}.orientation", values[3:].tolist(), "allowed: unit quaternions")
    values[3:] /= norm
    return pin.XYZQUATToSE3(values)


def interpolate(T_a: pin.SE3, T_b: pin.SE3, u: float) -> pin.SE3:
    """The transform at `u` on the screw motion from `T_a` (u = 0) to `T_b` (u = 1); exact at both ends."""
    if u <= 0.0:
        return T_a.copy()
    if u >= 1.0:
        return T_b.copy()
    return T_a * pin.exp6(u * pin.log6(T_a.actInv(T_b)))


def distance(T_a: pin.SE3, T_b: pin.SE3) -> tuple[float, float]:
    """Distance of the origins [m] and angle of the rotation between the frames [rad], 0 .. pi."""
    return (
        float(np.linalg.norm(T_b.translation - T_a.translation)),
        float(np.linalg.norm(pin.log3(T_a.rotation.T @ T_b.rotation))),
    )


def pose_distance(pose_a: FloatArray, pose_b: FloatArray) -> tuple[float, float]:
    """Distance [m] and angle [rad] between two poses (7,), which may be a quaternion's sign apart."""
    cosine = min(1.0, abs(float(np.dot(pose_a[3:], pose_b[3:]))))
    # the chord is exact for small angles, where the arc cosine loses half the digits
    sign = 1.0 if float(np.dot(pose_a[3:], pose_b[3:])) >= 0.0 else -1.0
    chord = float(np.linalg.norm(pose_b[3:] - sign * pose_a[3:]))
    angle = 4.0 * np.arcsin(min(1.0, 0.5 * chord)) if cosine > 0.9 else 2.0 * np.arccos(cosine)
    return float(np.linalg.norm(pose_b[:3] - pose_a[:3])), float(angle)
