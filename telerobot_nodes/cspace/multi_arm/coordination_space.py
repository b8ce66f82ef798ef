"""Coordination space of two arms on their own paths [ODonnellLozanoPerez1989], [US5347459]: compiled.

The places of two arms along their timed paths span a plane. Its cells are proved free like cells of joint space: by
the distance at the centre and a bound on the motion of both arms within the cell. Cell 2 k of an axis is rest at tick
k, 2 k + 1 motion from tick k to k + 1.
"""

from __future__ import annotations

from itertools import pairwise

import numba
import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.timing import TimedPath
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import (
    Arm,
    ArmGeometry,
    LinkPoses,
    bound_links,
    chords,
    forward_kinematics,
    link_poses_of,
    place_spheres,
    square_distance,
)

BoolArray = npt.NDArray[np.bool_]
PARTS = 3  # a cell that is not free as a whole is checked in this many parts of each motion


def tick_times(timed: TimedPath, period: float) -> FloatArray:
    """Times [s] of the ticks of a path, every waypoint's among them, at most `period` [s] apart."""
    times = [0.0]
    for begin, end in pairwise(timed.times.tolist()):
        count = int(np.ceil((end - begin) / period - 1e-9))
        times += [begin + (end - begin) * k / count for k in range(1, count + 1)]
    return np.array(times)


def sampled(timed: TimedPath, period: float) -> FloatArray:
    """Configurations (ticks, n) [rad] along a timed path, every waypoint among them, at most `period` [s] apart."""
    return np.array([timed.at(t)[0] for t in tick_times(timed, period)])


def blocked_cells(
    first: ArmGeometry, path_first: FloatArray, second: ArmGeometry, path_second: FloatArray, margin: float
) -> BoolArray:
    """Cells of the coordination space of two sampled paths (ticks, n) that are not proved free."""
    a, b = first.arm, second.arm
    return np.asarray(_blocked(a, link_poses_of(a), path_first, b, link_poses_of(b), path_second, margin))


def first_meeting(first: ArmGeometry, path_first: FloatArray, second: ArmGeometry, path_second: FloatArray) -> int:
    """First row in which the spheres of two arms overlap, both at the same row of their paths; -1: none."""
    a, b = first.arm, second.arm
    return int(_first_meeting(a, link_poses_of(a), path_first, b, link_poses_of(b), path_second))


@numba.njit(cache=True, error_model="numpy")
def _blocked(
    a: Arm, poses_a: LinkPoses, path_a: FloatArray, b: Arm, poses_b: LinkPoses, path_b: FloatArray, margin: float
) -> BoolArray:
    """Which cells (i, j) between rows i, i + 1 of one path and j, j + 1 of the other are not proved free."""
    out = np.zeros((path_a.shape[0] - 1, path_b.shape[0] - 1), dtype=np.bool_)
    center, reach = _reaches(b, poses_b, path_b)
    for i in range(out.shape[0]):
        _bound_motion(a, poses_a, path_a[i], path_a[i + 1], 0.0, 1.0)
        for j in range(out.shape[1]):
            if _far(a, poses_a, center[j], reach[j], margin):
                continue
            _bound_motion(b, poses_b, path_b[j], path_b[j + 1], 0.0, 1.0)
            if _arms_meet(a, poses_a, b, poses_b, margin):
                out[i, j] = not _free_in_parts(a, poses_a, path_a[i : i + 2], b, poses_b, path_b[j : j + 2], margin)
                _bound_motion(a, poses_a, path_a[i], path_a[i + 1], 0.0, 1.0)
    return out


@numba.njit(cache=True, error_model="numpy")
def _arms_meet(a: Arm, poses_a: LinkPoses, b: Arm, poses_b: LinkPoses, margin: float) -> bool:
    """True when two arms, placed and bounded, may come nearer than `margin` within their cells."""
    for k in range(a.link_radius.size):
        for m in range(b.link_radius.size):
            gap = a.link_radius[k] + b.link_radius[m] + poses_a.motion[k, k] + poses_b.motion[m, m] + margin
            if square_distance(poses_a.link[k], poses_b.link[m]) > gap * gap:
                continue
            place_spheres(a, poses_a, k)
            place_spheres(b, poses_b, m)
            for i in range(a.sphere_first[a.link_first[k]], a.sphere_first[a.link_first[k + 1]]):
                for j in range(b.sphere_first[b.link_first[m]], b.sphere_first[b.link_first[m + 1]]):
                    gap = a.sphere_radius[i] + b.sphere_radius[j] + poses_a.motion[k, k] + poses_b.motion[m, m] + margin
                    if square_distance(poses_a.sphere[i], poses_b.sphere[j]) <= gap * gap:
                        return True
    return False


@numba.njit(cache=True, error_model="numpy")
def _reaches(arm: Arm, poses: LinkPoses, path: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Spheres that hold each link on each motion of a path: centres (rows, links, 3), radii (rows, links) [m]."""
    rows, links = path.shape[0] - 1, arm.link_radius.size
    center, reach = np.empty((rows, links, 3)), np.empty((rows, links))
    for i in range(rows):
        _bound_motion(arm, poses, path[i], path[i + 1], 0.0, 1.0)
        for k in range(links):
            center[i, k] = poses.link[k]
            reach[i, k] = arm.link_radius[k] + poses.motion[k, k]
    return center, reach


@numba.njit(cache=True, error_model="numpy")
def _far(arm: Arm, poses: LinkPoses, center: FloatArray, reach: FloatArray, margin: float) -> bool:
    """True when no link of a placed and bounded arm comes near any of the spheres."""
    for k in range(arm.link_radius.size):
        own = arm.link_radius[k] + poses.motion[k, k] + margin
        for m in range(reach.size):
            gap = own + reach[m]
            if square_distance(poses.link[k], center[m]) <= gap * gap:
                return False
    return True


@numba.njit(cache=True, error_model="numpy")
def _first_meeting(
    a: Arm, poses_a: LinkPoses, rows_a: FloatArray, b: Arm, poses_b: LinkPoses, rows_b: FloatArray
) -> int:
    for i in range(max(rows_a.shape[0], rows_b.shape[0])):
        q, p = rows_a[min(i, rows_a.shape[0] - 1)], rows_b[min(i, rows_b.shape[0] - 1)]
        _bound_motion(a, poses_a, q, q, 0.0, 1.0)
        _bound_motion(b, poses_b, p, p, 0.0, 1.0)
        if _arms_meet(a, poses_a, b, poses_b, 0.0):
            return i
    return -1


@numba.njit(cache=True, error_model="numpy")
def _bound_motion(arm: Arm, poses: LinkPoses, begin: FloatArray, end: FloatArray, low: float, high: float) -> None:
    """Place and bound an arm within the part `low` .. `high` of a straight motion."""
    for k in range(begin.size):
        poses.half[k] = 0.5 * (high - low) * abs(end[k] - begin[k])
        poses.middle[k] = begin[k] + 0.5 * (low + high) * (end[k] - begin[k])
    chords(arm, poses.half, poses.width)
    forward_kinematics(arm, poses.middle, poses)
    bound_links(arm, poses)


@numba.njit(cache=True, error_model="numpy")
def _free_in_parts(
    a: Arm, poses_a: LinkPoses, path_a: FloatArray, b: Arm, poses_b: LinkPoses, path_b: FloatArray, margin: float
) -> bool:
    """True when a cell is proved free in `PARTS` x `PARTS` pieces; given up when its middle already collides."""
    _bound_motion(a, poses_a, path_a[0], path_a[1], 0.5, 0.5)
    _bound_motion(b, poses_b, path_b[0], path_b[1], 0.5, 0.5)
    if _arms_meet(a, poses_a, b, poses_b, margin):
        return False
    still_a, still_b = (path_a[0] == path_a[1]).all(), (path_b[0] == path_b[1]).all()
    for i in range(1 if still_a else PARTS):
        _bound_motion(
            a, poses_a, path_a[0], path_a[1], 0.0 if still_a else i / PARTS, 1.0 if still_a else (i + 1) / PARTS
        )
        for j in range(1 if still_b else PARTS):
            _bound_motion(
                b, poses_b, path_b[0], path_b[1], 0.0 if still_b else j / PARTS, 1.0 if still_b else (j + 1) / PARTS
            )
            if _arms_meet(a, poses_a, b, poses_b, margin):
                return False
    return True
