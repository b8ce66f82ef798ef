"""Answers about given paths and configurations: free by proof, or what is too near and where."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from telerobot_nodes.core.validation import FloatArray, finite_array
from telerobot_nodes.cspace.cells import named
from telerobot_nodes.cspace.edges import EdgeProver
from telerobot_nodes.cspace.planner import Planner
from telerobot_nodes.cspace.requests import PathAnswer, StateAnswer
from telerobot_nodes.errors import InvalidValueError

SAMPLE = 0.02  # [rad] between configurations looked at for the least clearance


Status = Callable[[FloatArray], tuple[float, str]]  # clearance [m] and pair of names at joints


def check_motion(planner: Planner, path: object, outside: bool = False) -> PathAnswer:
    """Whether straight motions between waypoints (k, n) [rad] are proved free; raises InvalidValueError.

    `outside`: of obstacles; the arm's distance to itself does not count.
    """
    rows, arm = _waypoints(planner, path), planner.geometry.arm
    status: Status = planner.outside if outside else planner.status
    least = min(status(q)[0] for q in _samples(rows))
    prover = EdgeProver(arm._replace(pairs=arm.pairs[:0]) if outside else arm, planner.world, planner.settings.finest)
    for k, (a, b) in enumerate(pairwise(rows)):
        if not prover.free(a, b):
            return PathAnswer(False, _trouble(status, k, a, b), least, k)
    if least <= 0.0:  # a path of one waypoint has no motion to prove
        return PathAnswer(False, f"waypoint 0: {_too_near(status, rows[0])}", least)
    return PathAnswer(True, "", least)


def state_of(planner: Planner, q: object) -> StateAnswer:
    """Clearance, nearest pair and status of the finest cell at `q` (n,) [rad]; raises InvalidValueError."""
    checked = planner.geometry.robot.limits.check_position(q, "joint_position")
    clearance, pair = planner.status(checked)
    first, _, second = pair.partition(" and ")
    cell = planner.cells.refine(checked, planner.settings.cell)
    status = named(planner.cells.status[cell])
    if clearance <= 0.0:
        return StateAnswer(
            False, f"{pair}: {-1e3 * clearance:.1f} mm inside the margin", clearance, first, second, status
        )
    return StateAnswer(True, f"nearest: {pair}, {1e3 * clearance:.1f} mm", clearance, first, second, status)


def _waypoints(planner: Planner, path: object) -> FloatArray:
    dof = planner.geometry.dof
    values = finite_array(path, "waypoints")
    if values.size == 0 or values.size % dof:
        raise InvalidValueError("waypoints (length)", values.size, f"allowed: {dof} for each of 1 or more")
    rows = values.reshape(-1, dof)
    limits = planner.geometry.robot.limits
    return np.array([limits.check_position(row, f"waypoints[{i}]") for i, row in enumerate(rows)])


def _samples(rows: FloatArray) -> list[FloatArray]:
    found = [rows[0]]
    for a, b in pairwise(rows):
        count = max(int(np.ceil(float(np.abs(b - a).max()) / SAMPLE)), 1)
        found += [a + i / count * (b - a) for i in range(1, count + 1)]
    return found


def _trouble(status: Status, k: int, a: FloatArray, b: FloatArray) -> str:
    """The worst place of a motion that is not proved free."""
    worst = min(_samples(np.array([a, b])), key=lambda q: status(q)[0])
    share = float(np.linalg.norm(worst - a)) / max(float(np.linalg.norm(b - a)), 1e-12)
    return f"segment {k} at {100.0 * share:.0f} %: {_too_near(status, worst)}"


def _too_near(status: Status, q: FloatArray) -> str:
    clearance, pair = status(q)
    if clearance <= 0.0:
        return f"{pair}, {-1e3 * clearance:.1f} mm inside the margin"
    return f"{pair}, {1e3 * clearance:.2f} mm beyond the margin, not proved free at this resolution"
