"""Checks of given paths and configurations: proved free, or what is too near and where."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from telerobot_nodes.core.values import FloatArray, finite_array
from telerobot_nodes.cspace.search import EdgeValidator, Planner, named, path_samples
from telerobot_nodes.cspace.service.requests import PathAnswer, StateAnswer
from telerobot_nodes.errors import InvalidValueError

SAMPLE = 0.02  # [rad] between configurations sampled for the least clearance

Status = Callable[[FloatArray], tuple[float, str]]  # clearance [m] and nearest pair at joints (n,) [rad]


def check_motion(planner: Planner, path: object, outside: bool = False) -> PathAnswer:
    """Check that straight motions between waypoints (k, n) [rad] are proved free; raises InvalidValueError.

    `outside`: of obstacles only, without self-collision.
    """
    rows, arm = _waypoints(planner, path), planner.geometry.arm
    status: Status = planner.outside if outside else planner.status
    least = min(status(q)[0] for q in path_samples(rows, SAMPLE))
    validator = EdgeValidator(arm.without_pairs() if outside else arm, planner.world, planner.settings.finest)
    for k, (a, b) in enumerate(pairwise(rows)):
        if not validator.free(a, b):
            return PathAnswer(False, _worst(status, k, a, b), least, k)
    if least <= 0.0:  # a path of one waypoint has no motion to prove
        return PathAnswer(False, f"waypoint 0: {_too_near(status, rows[0])}", least)
    return PathAnswer(True, "", least)


def state_of(planner: Planner, q: object) -> StateAnswer:
    """Clearance, nearest pair and status of the finest cell at `q` (n,) [rad]; raises InvalidValueError."""
    checked = planner.geometry.robot.limits.check_position(q, "joint_position")
    clearance, pair = planner.status(checked)
    first, _, second = pair.partition(" and ")
    status = named(planner.cells.status[planner.cells.refine(checked, planner.settings.cell)])
    free = clearance > 0.0
    message = f"nearest: {pair}, {1e3 * clearance:.1f} mm" if free else f"{pair}: {_depth(clearance)}"
    return StateAnswer(free, message, clearance, first, second, status)


def _waypoints(planner: Planner, path: object) -> FloatArray:
    dof, limits = planner.geometry.dof, planner.geometry.robot.limits
    values = finite_array(path, "waypoints")
    if values.size == 0 or values.size % dof:
        raise InvalidValueError("waypoints (length)", values.size, f"allowed: {dof} for each of 1 or more")
    rows = values.reshape(-1, dof)
    return np.array([limits.check_position(row, f"waypoints[{i}]") for i, row in enumerate(rows)])


def _worst(status: Status, k: int, a: FloatArray, b: FloatArray) -> str:
    """Place and nearest pair of the least clearance on motion `k`."""
    worst = min(path_samples(np.array([a, b]), SAMPLE), key=lambda q: status(q)[0])
    share = float(np.linalg.norm(worst - a)) / max(float(np.linalg.norm(b - a)), 1e-12)
    return f"segment {k} at {100.0 * share:.0f} %: {_too_near(status, worst)}"


def _too_near(status: Status, q: FloatArray) -> str:
    clearance, pair = status(q)
    if clearance <= 0.0:
        return f"{pair}, {_depth(clearance)}"
    return f"{pair}, {1e3 * clearance:.2f} mm beyond the margin, not proved free at this resolution"


def _depth(clearance: float) -> str:
    return f"{-1e3 * clearance:.1f} mm inside the margin"
