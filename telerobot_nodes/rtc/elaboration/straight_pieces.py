"""Where a path bends: the rows between which it is straight, in joint space and in task space.

A piece grows by doubling and ends by bisection, so that n rows cost n log n however long the pieces are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.values import FloatArray, pose_distance, pose_from_se3, se3_from_pose

STRAIGHT = (1e-3, 0.01, 1e-3)  # [m], [rad] of the tool, [rad] of the joints: a point nearer to the line is left out


def pose_length(a: FloatArray, b: FloatArray) -> float:
    """Length of the straight motion between two poses (7,): metres, and 0.1 m for each radian."""
    metres, angle = pose_distance(a, b)
    return metres + 0.1 * angle + 1e-9


def on_straight(T_a: pin.SE3, T_b: pin.SE3, u: float) -> pin.SE3:
    """The pose at `u` from 0 to 1, as the executive goes: the origin on a line, the rotation about one axis.

    No screw motion: that goes on an arc where the tool turns.
    """
    turned = T_a.rotation @ pin.exp3(u * pin.log3(T_a.rotation.T @ T_b.rotation))
    return pin.SE3(turned, (1.0 - u) * T_a.translation + u * T_b.translation)


def task_corners(poses: FloatArray) -> tuple[int, ...]:
    """Rows of a path (n, 7) between which it is straight, first and last among them."""
    return _corners(poses, _is_straight)


def joint_corners(points: FloatArray) -> tuple[int, ...]:
    """Rows of a joint path (n, dof) between which it is straight, first and last among them."""
    return _corners(points, _is_line)


def _corners(points: FloatArray, is_straight: Callable[[FloatArray], bool]) -> tuple[int, ...]:
    corners, last = [0], len(points) - 1
    while corners[-1] < last:
        corners.append(corners[-1] + _straight_rows(points[corners[-1] :], is_straight))
    return tuple(corners) if len(corners) > 1 else (0, 0)


def _straight_rows(points: FloatArray, is_straight: Callable[[FloatArray], bool]) -> int:
    """The row at the end of the straight piece that begins at row 0."""
    last = len(points) - 1
    good, bad = 1, len(points)  # it may end at row `good`, and not at row `bad`
    while good < last:
        row = min(2 * good, last)
        if not is_straight(points[: row + 1]):
            bad = row
            break
        good = row
    while bad - good > 1:
        row = (good + bad) // 2
        good, bad = (row, bad) if is_straight(points[: row + 1]) else (good, row)
    return good


def _is_straight(poses: FloatArray) -> bool:
    T_a, T_b = se3_from_pose(poses[0]), se3_from_pose(poses[-1])
    whole = pose_length(poses[0], poses[-1])
    for pose in poses[1:-1]:
        on_line = pose_from_se3(on_straight(T_a, T_b, min(pose_length(poses[0], pose) / whole, 1.0)))
        metres, angle = pose_distance(on_line, pose)
        if metres > STRAIGHT[0] or angle > STRAIGHT[1]:
            return False
    return True


def _is_line(points: FloatArray) -> bool:
    whole = points[-1] - points[0]
    square = float(whole @ whole)
    if square < 1e-12:
        return False
    share = np.clip((points[1:-1] - points[0]) @ whole / square, 0.0, 1.0)
    off = points[1:-1] - points[0] - share[:, None] * whole
    return bool(np.abs(off).max() <= STRAIGHT[2]) if len(off) else True
