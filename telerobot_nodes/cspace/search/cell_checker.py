"""Proves that an arm is free in whole cells of its joint space, by the true shapes; the certificates' second opinion.

No sphere, kinematics, distance or pair of the planner's is used: shapes are convex pieces in coal, frames are
Pinocchio's. In a cell (a box in joint space) a point moves at most the sum over the joints of the chord of its circle
about each axis; if a piece is farther from an obstacle than any of its corners can move, it is free in the whole cell.
A cell that is too large for this bound is halved a few times. Spheres around the pieces sort out most pairs, for many
cells at once; the others are measured one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import coal
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel, link_shapes
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import (
    ArmGeometry,
    Obstacle,
    Piece,
    Voxels,
    held_pieces,
    link_pairs,
    name_pair,
    object_name,
    pieces_of,
    stands_still,
)
from telerobot_nodes.cspace.search.voxel_distances import WIDER, VoxelDistances, gap

HALVINGS = 9  # times a cell is halved before it counts as not proved
TOGETHER = 256  # cells that are looked at together
KEPT = 8  # arms whose pieces are kept

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Pieces:
    """The pieces of an arm and of what it holds, and what is derived from them alone."""

    pieces: list[Piece]
    link: IntArray  # (m,)
    middle: FloatArray  # (m, 3) [m] of a sphere around each, in the frame of its link
    reach: FloatArray  # (m,) [m] its radius, without the piece's own
    radius: FloatArray  # (m,) [m]
    turns: BoolArray  # (n,) whether each joint turns
    still: BoolArray  # (m,) pieces that never move
    pairs: IntArray  # (k, 2) pieces, that of the lower link first, that must not touch


_KEPT: list[tuple[ArmGeometry, _Pieces]] = []  # of the same object: what follows from it alone


def _pieces_of_arm(geometry: ArmGeometry) -> _Pieces:
    """The pieces of an arm; those of the last few are kept."""
    known = next((pieces for kept, pieces in _KEPT if kept is geometry), None)
    if known is None:
        known = _derived(geometry)
        _KEPT.append((geometry, known))
        del _KEPT[:-KEPT]
    return known


def _derived(geometry: ArmGeometry) -> _Pieces:
    robot = geometry.robot
    shapes = link_shapes(robot, geometry.fingers)
    pieces = [piece for shape in shapes for piece in pieces_of(shape)] + held_pieces(robot, geometry.attachments)
    middle = np.array([0.5 * (p.corners.min(axis=0) + p.corners.max(axis=0)) for p in pieces])
    turns, axis = np.array([_turns(robot, j) for j in range(robot.dof)]), _first_axis(robot)
    return _Pieces(
        pieces,
        np.array([piece.link for piece in pieces]),
        middle,
        np.array([np.linalg.norm(p.corners - c, axis=1).max() for p, c in zip(pieces, middle, strict=True)]),
        np.array([piece.radius for piece in pieces]),
        turns,
        np.array([p.link == 0 or (bool(turns[0]) and stands_still(p, axis)) for p in pieces]),
        _against_each_other(geometry, pieces, link_pairs(robot, shapes).checked),
    )


def _against_each_other(geometry: ArmGeometry, pieces: list[Piece], checked: frozenset[tuple[str, str]]) -> IntArray:
    """(k, 2) pieces, that of the lower link first, that must not touch."""
    free = {(a.name, link) for a in geometry.attachments for link in a.touch_links}
    held = {a.name for a in geometry.attachments}
    found = []
    for i, j in combinations(range(len(pieces)), 2):
        a, b = sorted((i, j), key=lambda k: pieces[k].link)
        first, second = pieces[a].part, pieces[b].part
        wanted = second in held and (second, first) not in free
        names = name_pair(first, second)
        if pieces[a].link < pieces[b].link and (wanted or names in checked) and names not in geometry.allowed:
            found.append((a, b))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


@dataclass(frozen=True)
class _Placed:
    """An arm at the centres of c cells: its links, its joints' axes, and how far each joint may move a point at 1 m."""

    rotation: FloatArray  # (c, links, 3, 3)
    origin: FloatArray  # (c, links, 3) [m]
    axes: FloatArray  # (c, n, 3)
    moments: FloatArray  # (c, n, 3)
    width: FloatArray  # (c, n) [-], [m] of sliding joints


@dataclass
class _Bounds:
    """Of c cells: the least of distance minus motion [m]; the distance there; the joint that moves that piece most."""

    room: FloatArray
    distance: FloatArray
    joint: IntArray

    def lower(self, left: FloatArray) -> None:
        """Take what spheres leave (c, pairs) where it is above 0: these pairs are not measured."""
        least = np.where(left > 0.0, left, np.inf).min(axis=1, initial=np.inf)
        lower = least < self.room
        self.room[lower] = self.distance[lower] = least[lower]

    def take(self, cell: int, room: float, distance: float, joint: int) -> None:
        """Take a pair that was measured."""
        if room < self.room[cell]:
            self.room[cell], self.distance[cell], self.joint[cell] = room, distance, joint


class CellChecker:
    """Proves that an arm is free in cells of its joint space. One thread."""

    def __init__(self, geometry: ArmGeometry, obstacles: list[Obstacle], margin: float, self_margin: float) -> None:
        self._robot, self._data = geometry.robot, geometry.robot.new_data()
        self._margin, self._self_margin = margin, self_margin
        self._obstacles = [(obstacle, *_solid(obstacle)) for obstacle in obstacles]
        things = enumerate(obstacles)
        self._clouds = {o: VoxelDistances(thing) for o, thing in things if isinstance(thing, Voxels)}
        self._of = _pieces_of_arm(geometry)
        self._alone = self._not_against(geometry)

    def _not_against(self, geometry: ArmGeometry) -> BoolArray:
        """(pieces, obstacles): what needs no check: what never moves, and contacts that are allowed."""
        alone = np.repeat(self._of.still[:, None], len(self._obstacles), axis=1)
        if geometry.allowed:
            names = [object_name(obstacle.name) for obstacle, _, _ in self._obstacles]
            allowed = [[name_pair(p.part, name) in geometry.allowed for name in names] for p in self._of.pieces]
            alone |= np.array(allowed, dtype=bool).reshape(alone.shape)
        return np.asarray(alone)

    def room(self, q: FloatArray, half: FloatArray) -> float:
        """Least of distance minus motion in a cell [m]; not negative: every configuration in it is free."""
        return float(self.rooms(np.array([q], dtype=np.float64), np.array([half], dtype=np.float64))[0])

    def rooms(self, centers: FloatArray, halves: FloatArray) -> FloatArray:
        """Least of distance minus motion [m] in cells (c, n), (c, n) [rad]; not negative: each of them is free.

        Cells are looked at until one is not free: those after it may then have no answer, infinity.
        """
        least = np.where(np.isfinite(centers + halves).all(axis=1), np.inf, -np.inf)
        for first in range(0, len(centers) if (least > 0.0).all() else 0, TOGETHER):
            rows = slice(first, first + TOGETHER)
            least[rows] = self._halved_rooms(centers[rows], halves[rows])
            if not least[rows].min() >= 0.0:
                break
        return least

    def _halved_rooms(self, q: FloatArray, half: FloatArray) -> FloatArray:
        """`rooms` of some cells: all at once, then the halves of those that are not proved, and so on."""
        least, owner = np.full(len(q), np.inf), np.arange(len(q))
        for depth in range(HALVINGS + 1):
            found = self._bounds(q, half)
            ends = (found.room >= 0.0) | (found.distance < 0.0) | (depth == HALVINGS)
            np.minimum.at(least, owner[ends], found.room[ends])
            rest = np.flatnonzero(~ends)
            if not rest.size or not least.min() >= 0.0:
                break
            joint, q, half, owner = found.joint[rest], q[rest], half[rest].copy(), owner[rest]
            rows = np.arange(rest.size)
            half[rows, joint] *= 0.5
            shift = np.zeros_like(half)
            shift[rows, joint] = half[rows, joint]
            q, half, owner = np.vstack([q - shift, q + shift]), np.vstack([half, half]), np.tile(owner, 2)
        return least

    def _bounds(self, q: FloatArray, half: FloatArray) -> _Bounds:
        """Least of distance minus motion in each cell, from spheres around the pieces where they are apart."""
        of, at = self._of, self._place(q, half)
        centers = np.einsum("cmij,mj->cmi", at.rotation[:, of.link], of.middle) + at.origin[:, of.link]
        steps = at.width[:, None] * (_levers(at, centers) + np.where(of.turns, of.reach[:, None], 0.0))
        steps[:, np.arange(half.shape[1])[None, :] >= of.link[:, None]] = 0.0
        moved = np.concatenate([np.zeros((*steps.shape[:2], 1)), np.cumsum(steps, axis=2)], axis=2)
        found = _Bounds(np.full(len(q), np.inf), np.full(len(q), np.inf), at.width.argmax(axis=1))
        self._against_obstacles(found, at, centers, moved[:, :, -1])
        self._against_itself(found, at, centers, moved)
        return found

    def _place(self, q: FloatArray, half: FloatArray) -> _Placed:
        """The arm at `q` (c, n)."""
        n, rows = self._robot.dof, []
        for one in q:
            pin.computeJointJacobians(self._robot.model, self._data, one)
            frames = [frame.homogeneous for frame in list(self._data.oMi)[1:]]
            rows.append((np.array([np.eye(4), *frames]), np.array(self._data.J)))
        poses, J = (np.array(values) for values in zip(*rows, strict=True))
        width = np.where(self._of.turns, 2.0 * np.sin(0.5 * np.minimum(half, np.pi)), half)
        axes, moments = (np.ascontiguousarray(J[:, k : k + 3].transpose(0, 2, 1)) for k in (3, 0))
        return _Placed(poses[:, : n + 1, :3, :3], poses[:, : n + 1, :3, 3], axes, moments, width)

    def _against_obstacles(self, found: _Bounds, at: _Placed, centers: FloatArray, moved: FloatArray) -> None:
        of, (cells, m) = self._of, moved.shape
        needed = of.reach + of.radius + self._margin + moved
        for o, (obstacle, _, T) in enumerate(self._obstacles):
            if isinstance(obstacle, Voxels):
                self._against_voxels(found, at, centers, needed, o)
                continue
            left = _distances(obstacle, T, centers.reshape(-1, 3)).reshape(cells, m) - needed
            left[:, self._alone[:, o]] = np.inf
            found.lower(left)
            for c, i in np.argwhere(left <= 0.0).tolist():
                found.take(c, *self._exact(at, c, i, o))

    def _against_voxels(self, found: _Bounds, at: _Placed, centers: FloatArray, needed: FloatArray, o: int) -> None:
        """The nearest centre of a box sorts out most pieces; of the others, boxes are measured until none is nearer."""
        cloud, of = self._clouds[o], self._of
        left = cloud.bound(centers) - needed
        left[:, self._alone[:, o]] = np.inf
        found.lower(left)
        for c, i in np.argwhere(left <= 0.0).tolist():
            T = pin.SE3(at.rotation[c, of.link[i]], at.origin[c, of.link[i]])
            (motion, joint), keep = self._motion(at, c, i, 0), of.radius[i] + self._margin
            gaps = cloud.distance(of.pieces[i], T, centers[c, i], float(needed[c, i]), keep + motion)
            distance = gaps - keep
            found.take(c, min(distance - motion, WIDER), distance, joint)

    def _against_itself(self, found: _Bounds, at: _Placed, centers: FloatArray, moved: FloatArray) -> None:
        of = self._of
        if not len(of.pairs):
            return
        a, b = of.pairs.T
        needed = of.reach[a] + of.reach[b] + of.radius[a] + of.radius[b] + self._self_margin
        motion = moved[:, b, -1] - moved[:, b, of.link[a]]
        left = np.linalg.norm(centers[:, a] - centers[:, b], axis=2) - needed - motion
        found.lower(left)
        for c, k in np.argwhere(left <= 0.0).tolist():
            found.take(c, *self._exact_pair(at, c, int(a[k]), int(b[k])))

    def _motion(self, at: _Placed, c: int, piece: int, first: int) -> tuple[float, int]:
        """Most [m] that a corner of a piece moves with the joints after `first`; the joint that moves it most."""
        link = int(self._of.link[piece])
        corners = self._corners(at, c, piece)
        one = _Placed(at.rotation[c : c + 1], at.origin[c : c + 1], at.axes[c : c + 1], at.moments[c : c + 1], at.width)
        steps = (at.width[c] * _levers(one, corners[None])[0])[:, first:link]
        worst = int(steps.sum(axis=1).argmax())
        return float(steps[worst].sum()), first + int(steps[worst].argmax())

    def _corners(self, at: _Placed, c: int, piece: int) -> FloatArray:
        link = int(self._of.link[piece])
        return np.asarray(self._of.pieces[piece].corners @ at.rotation[c, link].T + at.origin[c, link])

    def _exact(self, at: _Placed, c: int, i: int, o: int) -> tuple[float, float, int]:
        """Distance minus motion of a piece and an obstacle; the distance; the joint that moves the piece most."""
        piece, (obstacle, solid, T) = self._of.pieces[i], self._obstacles[o]
        if solid is None:
            distance = float(_distances(obstacle, T, self._corners(at, c, i)).min())
        else:
            distance = gap(piece.solid, _frame(at, c, piece), solid, T)
        motion, joint = self._motion(at, c, i, 0)
        distance -= piece.radius + self._margin
        return distance - motion, distance, joint

    def _exact_pair(self, at: _Placed, c: int, a: int, b: int) -> tuple[float, float, int]:
        one, other = self._of.pieces[a], self._of.pieces[b]
        distance = gap(one.solid, _frame(at, c, one), other.solid, _frame(at, c, other))
        motion, joint = self._motion(at, c, b, one.link)
        distance -= one.radius + other.radius + self._self_margin
        return distance - motion, distance, joint


def _frame(at: _Placed, c: int, piece: Piece) -> pin.SE3:
    return pin.SE3(at.rotation[c, piece.link], at.origin[c, piece.link]) * piece.T


def _levers(at: _Placed, points: FloatArray) -> FloatArray:
    """Speed (c, m, n) [m/rad] of points (c, m, 3) at unit rate of each joint."""
    axes, moments = at.axes[:, None], at.moments[:, None]
    x, y, z = (points[:, :, None, k] for k in range(3))
    u = moments[..., 0] + axes[..., 1] * z - axes[..., 2] * y
    v = moments[..., 1] + axes[..., 2] * x - axes[..., 0] * z
    w = moments[..., 2] + axes[..., 0] * y - axes[..., 1] * x
    return np.asarray(np.sqrt(u * u + v * v + w * w))


def _turns(robot: RobotModel, joint: int) -> bool:
    return "P" not in robot.model.joints[joint + 1].shortname().removeprefix("JointModel")


def _first_axis(robot: RobotModel) -> FloatArray:
    """Axis (3,) of joint 1 in its own frame."""
    model, data = robot.model, robot.new_data()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    return np.array(pin.getJointJacobian(model, data, 1, pin.LOCAL)[3:, 0])


def _solid(obstacle: Obstacle) -> tuple[coal.CollisionGeometry | None, pin.SE3]:
    kinds = {"box": coal.Box, "sphere": coal.Sphere, "cylinder": coal.Cylinder}
    make = kinds.get(obstacle.kind)
    return make(*obstacle.size) if make else None, obstacle.T_world_obstacle


def _distances(obstacle: Obstacle, T: pin.SE3, points: FloatArray) -> FloatArray:
    """Signed distances (k,) [m] of points to an obstacle at `T`."""
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
