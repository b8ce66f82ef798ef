"""The checker of certificates: proves again that a path is free, from the robot's description alone.

It shares no sphere, kinematics, distance or pair of the planner's. Shapes are the true ones (convex pieces),
frames are those of Pinocchio's model; coverage is derived here, moving links and pairs of links in `cspace.proof`,
which proves the cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import ArmGeometry, Obstacle
from telerobot_nodes.cspace.proof import CellChecker
from telerobot_nodes.cspace.search.certificate import Certificate

SLACK = 1e-9  # [rad] of cells against the path they cover


@dataclass(frozen=True)
class CheckedCertificate:
    """`valid`, else `reason` names the cell or waypoint; `room` [m]: the least distance left in any cell."""

    valid: bool
    reason: str
    room: float


def check_certificate(
    certificate: Certificate,
    path: FloatArray,
    geometry: ArmGeometry,
    obstacles: list[Obstacle],
    margin: float = 0.0,
    self_margin: float = 0.0,
) -> CheckedCertificate:
    """Prove again that every cell is free, that the cells cover the path, and that the path keeps the limits.

    Of `geometry` only the robot, what it holds, its known fingers and its allowed contacts are used.
    """
    path = np.asarray(path, dtype=np.float64)
    problem = _malformed(certificate, path, geometry.robot, margin, self_margin) or _uncovered(certificate, path)
    if problem:
        return CheckedCertificate(False, problem, -np.inf)
    checker = CellChecker(geometry, obstacles, margin, self_margin)
    rooms = checker.rooms(certificate.centers, certificate.halves)
    short = np.flatnonzero(~(rooms >= 0.0))
    if short.size:
        left = float(rooms[short[0]])
        return CheckedCertificate(False, f"cell {short[0]} is not free: {-1e3 * left:.2f} mm short", left)
    return CheckedCertificate(True, "", float(rooms.min()))


def _malformed(certificate: Certificate, path: FloatArray, robot: RobotModel, margin: float, self_margin: float) -> str:
    """What is wrong with the values before any geometry; empty if nothing."""
    dof, limits = robot.dof, robot.limits
    if path.ndim != 2 or len(path) < 2 or path.shape[1] != dof:
        return f"the path is of shape {path.shape}; allowed: 2 or more waypoints of {dof} joints"
    if certificate.centers.shape[1] != dof:
        return f"the cells have {certificate.centers.shape[1]} joints, the robot {dof}"
    for name, value in (("margin", margin), ("self_margin", self_margin)):
        if not 0.0 <= value < np.inf:
            return f"{name} is {value}; allowed: 0 or more, finite"
    cells = certificate.centers + certificate.halves
    outside = (path < limits.lower) | (path > limits.upper)
    wrongs = (
        ("waypoint {} is not finite", ~np.isfinite(path)),
        ("cell {} is not finite", ~np.isfinite(cells)),
        ("cell {} has a negative width", certificate.halves < 0.0),
        ("waypoint {} is outside the joint limits", outside),
    )
    return next((text.format(_first_row(wrong)) for text, wrong in wrongs if wrong.any()), "")


def _first_row(wrong: npt.NDArray[np.bool_]) -> int:
    return int(np.flatnonzero(wrong.any(axis=1))[0])


def _uncovered(certificate: Certificate, path: FloatArray) -> str:
    """The place where the path leaves the chain of cells; empty if none."""
    cell = 0
    for k, (a, b) in enumerate(pairwise(path)):
        done, first = 0.0, cell
        enters, leaves = _inside(certificate.centers[first:], certificate.halves[first:] + SLACK, a, b)
        while done < 1.0:
            if cell == len(certificate):
                return f"motion {k} is not covered beyond {done:.6f}"
            if not (enters[cell - first] <= done + 1e-12 and leaves[cell - first] >= done):
                return f"motion {k} is not covered between {done:.6f} and cell {cell}"
            done = max(done, float(leaves[cell - first]))
            cell += 1
    return "" if cell == len(certificate) else f"cell {cell} and those after it cover nothing of the path"


def _inside(centers: FloatArray, halves: FloatArray, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The part of the line from `a` to `b` inside each cell, 0 .. 1; the end before the start when there is none."""
    delta, low, high = b - a, centers - halves - a, centers + halves - a
    moves = np.abs(delta) >= 1e-15
    beside = ((low > 0.0) | (high < 0.0))[:, ~moves].any(axis=1)
    ends = low[:, moves] / delta[moves], high[:, moves] / delta[moves]
    enters = np.minimum(*ends).max(axis=1, initial=0.0)
    leaves = np.maximum(*ends).min(axis=1, initial=1.0)
    return np.where(beside, 1.0, enters), np.where(beside, 0.0, leaves)
