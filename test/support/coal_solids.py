"""Hulls of corners as solids of coal, and their distances: a second opinion on the checker's own."""

import coal
import numpy as np
import pinocchio as pin

from telerobot_nodes.cspace.covering.solids import hull_points

EXACT = 1e-6  # [m] to which coal's distances are right


def solid_of(corners):
    """A solid that is the hull of corners (k, 3), or a thin box around a flat one; and its place."""
    if len(corners) == 1:
        return coal.Sphere(1e-9), pin.SE3(np.eye(3), corners[0])
    if len(corners) == 2:
        return _rod(*corners)
    points = coal.StdVec_Vec3s()
    for corner in hull_points(corners):
        points.append(corner)
    try:
        return coal.Convex.convexHull(points, False, ""), pin.SE3.Identity()
    except (RuntimeError, ValueError):
        low, high = corners.min(axis=0), corners.max(axis=0)
        return coal.Box(*np.maximum(high - low, 1e-9)), pin.SE3(np.eye(3), 0.5 * (low + high))


def _rod(a, b):
    length = float(np.linalg.norm(b - a))
    R = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), b - a).matrix() if length > 0.0 else np.eye(3)
    return coal.Capsule(1e-9, length), pin.SE3(R, 0.5 * (a + b))


def gap(a, T, b, U):
    """Distance [m] of two convex solids, not more than the true one; below 0: they overlap. No guess is kept."""
    first, second = coal.Transform3s(T.rotation, T.translation), coal.Transform3s(U.rotation, U.translation)
    return float(coal.distance(a, first, b, second, coal.DistanceRequest(), coal.DistanceResult())) - EXACT
