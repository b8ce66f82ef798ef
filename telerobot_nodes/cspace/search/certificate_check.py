"""The checker of certificates: proves again that a path is free, from the robot's description alone.

It shares no sphere, kinematics, distance or pair of the planner's. Shapes are the true ones (convex pieces in coal),
frames are Pinocchio's; coverage, moving links and pairs of links are derived here. In a cell (a box in joint space) a
point moves at most the sum over the joints of the chord of its circle about each axis; if a piece is farther from an
obstacle than any of its corners can move, it is free in the whole cell. A cell that is too large for this bound is
halved a few times.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise

import coal
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import (
    ArmGeometry,
    Obstacle,
    Piece,
    held_pieces,
    link_pairs,
    link_shapes,
    name_pair,
    object_name,
    pieces_of,
    stands_still,
)
from telerobot_nodes.cspace.search.certificate import Certificate

SLACK = 1e-9  # [rad] of cells against the path they cover
HALVINGS = 9  # times a cell is halved before it counts as not proved
EXACT = 1e-6  # [m] to which coal's distances are right


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
    room = np.inf
    for i, (center, half) in enumerate(zip(certificate.centers, certificate.halves, strict=True)):
        left = checker.room(center, half)
        if not left >= 0.0:
            return CheckedCertificate(False, f"cell {i} is not free: {-1e3 * left:.2f} mm short", left)
        room = min(room, left)
    return CheckedCertificate(True, "", float(room))


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
        done = 0.0
        while done < 1.0:
            if cell == len(certificate):
                return f"motion {k} is not covered beyond {done:.6f}"
            enters, leaves = _inside(certificate.centers[cell], certificate.halves[cell] + SLACK, a, b)
            if not (enters <= done + 1e-12 and leaves >= done):
                return f"motion {k} is not covered between {done:.6f} and cell {cell}"
            done = max(done, leaves)
            cell += 1
    return "" if cell == len(certificate) else f"cell {cell} and those after it cover nothing of the path"


def _inside(center: FloatArray, half: FloatArray, a: FloatArray, b: FloatArray) -> tuple[float, float]:
    """The part of the line from `a` to `b` inside a cell, 0 .. 1; the end before the start when there is none."""
    delta, low, high = b - a, center - half - a, center + half - a
    enters, leaves = 0.0, 1.0
    for d, u, v in zip(delta, low, high, strict=True):
        if abs(d) < 1e-15:
            if u > 0.0 or v < 0.0:
                return 1.0, 0.0
            continue
        first, second = (u / d, v / d) if d > 0.0 else (v / d, u / d)
        enters, leaves = max(enters, first), min(leaves, second)
    return enters, leaves


class CellChecker:
    """Proves that an arm is free in cells of its joint space. One thread."""

    def __init__(self, geometry: ArmGeometry, obstacles: list[Obstacle], margin: float, self_margin: float) -> None:
        robot = self._robot = geometry.robot
        self._data = robot.new_data()
        self._margin, self._self_margin = margin, self_margin
        self._obstacles = [(obstacle, *_solid(obstacle)) for obstacle in obstacles]
        shapes = link_shapes(robot, geometry.fingers)
        self._pieces = [piece for shape in shapes for piece in pieces_of(shape)]
        self._pieces += held_pieces(robot, geometry.attachments)
        self._link = np.array([piece.link for piece in self._pieces])
        self._middle = np.array([0.5 * (p.corners.min(axis=0) + p.corners.max(axis=0)) for p in self._pieces])
        self._reach = np.array(
            [
                float(np.linalg.norm(piece.corners - middle, axis=1).max())
                for piece, middle in zip(self._pieces, self._middle, strict=True)
            ]
        )
        self._radius = np.array([piece.radius for piece in self._pieces])
        self._turns = np.array([_turns(robot, j) for j in range(robot.dof)])
        self._alone = self._not_against(geometry)
        self._pairs = self._against_each_other(geometry, link_pairs(robot, shapes).checked)

    def _not_against(self, geometry: ArmGeometry) -> npt.NDArray[np.bool_]:
        """(pieces, obstacles): what needs no check: what never moves, and contacts that are allowed."""
        axis = _first_axis(self._robot)
        still = [p.link == 0 or (bool(self._turns[0]) and stands_still(p, axis)) for p in self._pieces]
        names = [object_name(obstacle.name) for obstacle, _, _ in self._obstacles]
        allowed = [[name_pair(piece.part, name) in geometry.allowed for name in names] for piece in self._pieces]
        return np.asarray(np.array(allowed, dtype=bool).reshape(len(still), len(names)) | np.array(still)[:, None])

    def _against_each_other(self, geometry: ArmGeometry, checked: frozenset[tuple[str, str]]) -> npt.NDArray[np.int64]:
        """(k, 2) pieces, that of the lower link first, that must not touch."""
        free = {(a.name, link) for a in geometry.attachments for link in a.touch_links}
        held = {a.name for a in geometry.attachments}
        found = []
        for i, j in combinations(range(len(self._pieces)), 2):
            a, b = sorted((i, j), key=lambda k: int(self._link[k]))
            first, second = self._pieces[a].part, self._pieces[b].part
            wanted = second in held and (second, first) not in free
            names = name_pair(first, second)
            if self._link[a] < self._link[b] and (wanted or names in checked) and names not in geometry.allowed:
                found.append((a, b))
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    def room(self, q: FloatArray, half: FloatArray) -> float:
        """Least of distance minus motion in a cell [m]; not negative: every configuration in it is free."""
        return self._room(np.asarray(q, dtype=np.float64), np.asarray(half, dtype=np.float64), 0)

    def _room(self, q: FloatArray, half: FloatArray, depth: int) -> float:
        least, distance, joint = self._bound(q, half)
        if least >= 0.0 or depth == HALVINGS or distance < 0.0:
            return least
        shift = np.zeros(q.size)
        shift[joint] = 0.5 * half[joint]
        smaller = half - shift
        first = self._room(q - shift, smaller, depth + 1)
        return first if first < 0.0 else min(first, self._room(q + shift, smaller, depth + 1))

    def _bound(self, q: FloatArray, half: FloatArray) -> tuple[float, float, int]:
        """Least of distance minus motion; the distance there; the joint that moves that piece most."""
        axes, moments = self._place(q)
        width = np.where(self._turns, 2.0 * np.sin(0.5 * np.minimum(half, np.pi)), half)
        centers = np.einsum("mij,mj->mi", self._R[self._link], self._middle) + self._o[self._link]
        steps = width * (self._levers(axes, moments, centers) + np.where(self._turns, self._reach[:, None], 0.0))
        steps[np.arange(half.size)[None, :] >= self._link[:, None]] = 0.0
        moved = np.hstack([np.zeros((len(steps), 1)), np.cumsum(steps, axis=1)])
        best = (np.inf, np.inf, int(width.argmax()))
        for i, o in self._near_obstacles(centers, moved[:, -1]):
            best = min(best, self._exact(i, o, axes, moments, width))
        for a, b in self._near_pairs(centers, moved):
            best = min(best, self._exact_pair(a, b, axes, moments, width))
        return min(best, (self._apart, self._apart, best[2]))

    def _place(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Frames of the links at `q`; axes and moments (n, 3) of the joints."""
        pin.computeJointJacobians(self._robot.model, self._data, q)
        frames = [pin.SE3.Identity(), *list(self._data.oMi)[1:]]
        self._R = np.array([T.rotation for T in frames])
        self._o = np.array([T.translation for T in frames])
        self._apart = np.inf
        J = np.array(self._data.J)
        return J[3:].T, J[:3].T

    def _levers(self, axes: FloatArray, moments: FloatArray, points: FloatArray) -> FloatArray:
        """Speed (m, n) [m/rad] of points at unit rate of each joint."""
        return np.asarray(np.linalg.norm(moments[None] + np.cross(axes[None], points[:, None]), axis=2))

    def _near_obstacles(self, centers: FloatArray, moved: FloatArray) -> list[tuple[int, int]]:
        """Pieces and obstacles that spheres around the pieces do not keep apart."""
        if not self._obstacles:
            return []
        gap = np.column_stack([_distances(obstacle, centers) for obstacle, _, _ in self._obstacles])
        left = gap - (self._reach + self._radius + self._margin + moved)[:, None]
        left[self._alone] = np.inf
        self._apart = min(self._apart, float(np.where(left > 0.0, left, np.inf).min()))
        return [(int(i), int(o)) for i, o in np.argwhere(left <= 0.0)]

    def _near_pairs(self, centers: FloatArray, moved: FloatArray) -> list[tuple[int, int]]:
        if not len(self._pairs):
            return []
        a, b = self._pairs.T
        reach = self._reach[a] + self._reach[b] + self._radius[a] + self._radius[b] + self._self_margin
        left = np.linalg.norm(centers[a] - centers[b], axis=1) - reach - (moved[b, -1] - moved[b, self._link[a]])
        self._apart = min(self._apart, float(np.where(left > 0.0, left, np.inf).min()))
        return [(int(i), int(j)) for i, j in self._pairs[left <= 0.0]]

    def _motion(
        self, piece: int, first: int, axes: FloatArray, moments: FloatArray, width: FloatArray
    ) -> tuple[float, int]:
        """Most [m] that a corner of a piece moves with the joints after `first`; the joint that moves it most."""
        link = int(self._link[piece])
        corners = self._pieces[piece].corners @ self._R[link].T + self._o[link]
        steps = (width * self._levers(axes, moments, corners))[:, first:link]
        worst = int(steps.sum(axis=1).argmax())
        return float(steps[worst].sum()), first + int(steps[worst].argmax())

    def _exact(
        self, i: int, o: int, axes: FloatArray, moments: FloatArray, width: FloatArray
    ) -> tuple[float, float, int]:
        piece, (obstacle, solid, T) = self._pieces[i], self._obstacles[o]
        if solid is None:
            corners = piece.corners @ self._R[piece.link].T + self._o[piece.link]
            distance = float(_distances(obstacle, corners).min())
        else:
            distance = _gap(piece.solid, self._frame(piece), solid, T)
        motion, joint = self._motion(i, 0, axes, moments, width)
        distance -= piece.radius + self._margin
        return distance - motion, distance, joint

    def _exact_pair(
        self, a: int, b: int, axes: FloatArray, moments: FloatArray, width: FloatArray
    ) -> tuple[float, float, int]:
        one, other = self._pieces[a], self._pieces[b]
        distance = _gap(one.solid, self._frame(one), other.solid, self._frame(other))
        motion, joint = self._motion(b, one.link, axes, moments, width)
        distance -= one.radius + other.radius + self._self_margin
        return distance - motion, distance, joint

    def _frame(self, piece: Piece) -> pin.SE3:
        return pin.SE3(self._R[piece.link], self._o[piece.link]) * piece.T


def _turns(robot: RobotModel, joint: int) -> bool:
    return "P" not in robot.model.joints[joint + 1].shortname().removeprefix("JointModel")


def _first_axis(robot: RobotModel) -> FloatArray:
    """Axis (3,) of joint 1 in its own frame."""
    model, data = robot.model, robot.new_data()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    return np.array(pin.getJointJacobian(model, data, 1, pin.LOCAL)[3:, 0])


def _gap(a: coal.CollisionGeometry, T: pin.SE3, b: coal.CollisionGeometry, U: pin.SE3) -> float:
    """Distance [m] of two convex solids, not more than the true one; below 0: they overlap. No guess is kept."""
    first, second = coal.Transform3s(T.rotation, T.translation), coal.Transform3s(U.rotation, U.translation)
    return float(coal.distance(a, first, b, second, coal.DistanceRequest(), coal.DistanceResult())) - EXACT


def _solid(obstacle: Obstacle) -> tuple[coal.CollisionGeometry | None, pin.SE3]:
    kinds = {"box": coal.Box, "sphere": coal.Sphere, "cylinder": coal.Cylinder}
    make = kinds.get(obstacle.kind)
    return make(*obstacle.size) if make else None, obstacle.T_world_obstacle


def _distances(obstacle: Obstacle, points: FloatArray) -> FloatArray:
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
