"""Certificates: the chain of free cells that covers a path, and the checker that proves them again.

The checker has its own distances and motion bounds, in numpy, and Pinocchio's kinematics. It takes from the planner
the collision spheres (with their places at zero joints), the pairs of links and `first_moving`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import ArmGeometry, Obstacle, World, link_poses_of
from telerobot_nodes.cspace.search.edge_validation import cover_edge
from telerobot_nodes.errors import InvalidValueError

MOST_CELLS = 20_000  # of one motion
SLACK = 1e-9  # [rad] of cells against the path they cover


@dataclass(frozen=True)
class Certificate:
    """Free cells in the order of the path: centres (k, n) and half widths (k, n) [rad], read-only."""

    centers: FloatArray
    halves: FloatArray

    def __post_init__(self) -> None:
        if self.centers.shape != self.halves.shape or self.centers.ndim != 2:
            raise InvalidValueError("certificate.halves", self.halves.shape, f"allowed: {self.centers.shape}")
        self.centers.setflags(write=False)
        self.halves.setflags(write=False)

    def __len__(self) -> int:
        return len(self.centers)


def certify(geometry: ArmGeometry, world: World, path: FloatArray, finest: float) -> Certificate | None:
    """The cells that cover straight motions between waypoints (k, n); None when a piece cannot be proved free."""
    poses = link_poses_of(geometry.arm)
    low, high = np.zeros(MOST_CELLS), np.zeros(MOST_CELLS)
    centers, halves = [], []
    for a, b in pairwise(path):
        count = cover_edge(geometry.arm, world, poses, np.array(a), np.array(b), finest, low, high)
        if count < 0:
            return None
        middle, half = 0.5 * (low[:count] + high[:count]), 0.5 * (high[:count] - low[:count])
        centers.append(a + middle[:, None] * (b - a))
        halves.append(np.abs(half[:, None] * (b - a)))
    return Certificate(np.vstack(centers), np.vstack(halves))


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
    """Prove again that every cell is free, that the cells cover the path, and that the path keeps the limits."""
    limits = geometry.robot.limits
    outside = np.flatnonzero(((path < limits.lower) | (path > limits.upper)).any(axis=1))
    if outside.size:
        return CheckedCertificate(False, f"waypoint {outside[0]} is outside the joint limits", -np.inf)
    problem = _uncovered(certificate, path)
    if problem:
        return CheckedCertificate(False, problem, -np.inf)
    checker = _Checker(geometry, obstacles, margin, self_margin)
    room = np.inf
    for i, (center, half) in enumerate(zip(certificate.centers, certificate.halves, strict=True)):
        left = checker.room(center, half)
        if left < 0.0:
            return CheckedCertificate(False, f"cell {i} is not free: {1e3 * left:.2f} mm short", left)
        room = min(room, left)
    return CheckedCertificate(True, "", float(room))


def _uncovered(certificate: Certificate, path: FloatArray) -> str:
    """The place where the path leaves the chain of cells; empty if none."""
    cell = 0
    for k, (a, b) in enumerate(pairwise(path)):
        done = 0.0
        while done < 1.0:
            if cell == len(certificate):
                return f"motion {k} is not covered beyond {done:.6f}"
            enters, leaves = _inside(certificate.centers[cell], certificate.halves[cell] + SLACK, a, b)
            if enters > done + 1e-12 or leaves < done:
                return f"motion {k} is not covered between {done:.6f} and cell {cell}"
            done = max(done, leaves)
            cell += 1
    return ""


def _inside(center: FloatArray, half: FloatArray, a: FloatArray, b: FloatArray) -> tuple[float, float]:
    """The part of the line from `a` to `b` inside a cell, 0 .. 1; the end before the start when there is none."""
    delta, low, high = b - a, center - half - a, center + half - a
    enters, leaves = 0.0, 1.0
    for d, u, v in zip(delta, low, high, strict=True):
        if abs(d) < 1e-15:
            if u > 0.0 or v < 0.0:
                return 1.0, 0.0
            continue
        first, second = sorted((u / d, v / d))
        enters, leaves = max(enters, first), min(leaves, second)
    return enters, leaves


class _Checker:
    def __init__(self, geometry: ArmGeometry, obstacles: list[Obstacle], margin: float, self_margin: float) -> None:
        self._robot, self._obstacles = geometry.robot, obstacles
        self._margin, self._self_margin = margin, self_margin
        self._data = self._robot.new_data()
        arm = geometry.arm
        self._link = np.repeat(arm.group_link, np.diff(arm.sphere_first))
        self._radius = arm.sphere_radius
        self._first = arm.first_moving
        self._pairs = arm.pairs
        self._local = self._to_pinocchio(geometry)

    def _to_pinocchio(self, geometry: ArmGeometry) -> FloatArray:
        """Sphere centres in Pinocchio's joint frames: at zero both place them at one point of WORLD."""
        from telerobot_nodes.cspace.geometry import sphere_centers

        model, zero = self._robot.model, np.zeros(self._robot.dof)
        pin.forwardKinematics(model, self._data, zero)
        places = sphere_centers(geometry.arm, zero)
        frames = [pin.SE3.Identity(), *list(self._data.oMi)[1:]]
        return np.array([frames[k].actInv(p) for k, p in zip(self._link, places, strict=True)]).reshape(-1, 3)

    def room(self, q: FloatArray, half: FloatArray) -> float:
        """Least of distance minus motion of all pairs in a cell [m]; not negative: every configuration is free."""
        model, data = self._robot.model, self._data
        pin.computeJointJacobians(model, data, q)
        frames = [pin.SE3.Identity(), *list(data.oMi)[1:]]
        spheres = np.array([frames[k].act(p) for k, p in zip(self._link, self._local, strict=True)])
        moved = self._motions(spheres, half)
        total = moved[np.arange(len(spheres)), self._link]
        least = np.inf
        moving = self._link >= self._first
        for obstacle in self._obstacles:
            d = _distances(obstacle, spheres[moving]) - self._radius[moving] - self._margin - total[moving]
            least = min(least, float(d.min()))
        for a, b in self._pairs:
            first, second = np.flatnonzero(self._link == a), np.flatnonzero(self._link == b)
            noinline = np.linalg.norm(spheres[first, None] - spheres[None, second], axis=2)
            d = noinline - self._radius[first][:, None] - (self._radius + moved[:, b] - moved[:, a])[second]
            least = min(least, float(d.min()) - self._self_margin)
        return least

    def _motions(self, spheres: FloatArray, half: FloatArray) -> FloatArray:
        """(m, n + 1) [m] how far the joints 1 .. column can move each sphere within the cell."""
        moved = np.zeros((len(spheres), half.size + 1))
        J = self._data.J
        for j in range(half.size):
            axis, moment = J[3:, j], J[:3, j]
            turning = np.linalg.norm(moment + np.cross(axis, spheres), axis=1)  # speed at unit rate: the lever arm
            width = 2.0 * np.sin(0.5 * min(half[j], np.pi)) if np.linalg.norm(axis) > 0.5 else half[j]
            moved[:, j + 1] = moved[:, j] + width * turning
        return moved


def _distances(obstacle: Obstacle, points: FloatArray) -> npt.NDArray[np.float64]:
    """Signed distances (k,) [m] of points to an obstacle."""
    T = obstacle.T_world_obstacle
    local = (points - T.translation) @ T.rotation
    if obstacle.kind == "half_space":
        return np.asarray(local[:, 2])
    if obstacle.kind == "sphere":
        return np.asarray(np.linalg.norm(local, axis=1) - obstacle.size[0])
    if obstacle.kind == "box":
        over = np.abs(local) - 0.5 * np.array(obstacle.size)
    else:
        radial = np.hypot(local[:, 0], local[:, 1]) - obstacle.size[0]
        over = np.column_stack([radial, np.abs(local[:, 2]) - 0.5 * obstacle.size[1]])
    return np.asarray(np.linalg.norm(np.maximum(over, 0.0), axis=1) + np.minimum(over.max(axis=1), 0.0))
