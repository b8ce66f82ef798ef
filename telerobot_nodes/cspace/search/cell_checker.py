"""Proves that an arm is free in whole cells of its joint space, by the true shapes; the certificates' second opinion.

No sphere, kinematics, distance or pair of the planner's is used: shapes are convex pieces in coal, frames are those of
Pinocchio's model. In a cell (a box in joint space) a point moves at most the sum over the joints of the chord of its
circle about each axis; if a piece is farther from an obstacle than any of its corners can move, it is free in the whole
cell. A cell that is too large for this bound is halved a few times. Spheres around the pieces sort out most pairs, then
boxes around them, for many cells at once; the others are measured one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel, link_shapes
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import (
    ArmGeometry,
    Obstacle,
    Piece,
    PlacedPieces,
    Voxels,
    box_gaps,
    held_pieces,
    link_pairs,
    name_pair,
    object_name,
    pieces_of,
    stands_still,
)
from telerobot_nodes.cspace.search.obstacle_distances import (
    WIDER,
    Near,
    ObstacleDistances,
    SolidDistances,
    VoxelDistances,
    gap,
)

HALVINGS = 9  # times a cell is halved before it counts as not proved
TOGETHER = 256  # cells that are looked at together
KEPT = 8  # arms whose pieces are kept
ROUNDING = 1e-9  # [m] beyond what is enough, so that its sums count as enough too

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Placed:
    """An arm at the centres of c cells: its links, its joints' axes, and how far each joint may move a point at 1 m."""

    rotation: FloatArray  # (c, links, 3, 3)
    origin: FloatArray  # (c, links, 3) [m]
    axes: FloatArray  # (c, n, 3)
    moments: FloatArray  # (c, n, 3)
    width: FloatArray  # (c, n) [-], [m] of sliding joints

    def pieces(self, of: _Pieces, cells: IntArray, pieces: IntArray) -> PlacedPieces:
        """Pieces (p,) in cells (p,)."""
        rotation, origin = self.rotation[cells, of.link[pieces]], self.origin[cells, of.link[pieces]]
        local = of.corners[pieces]
        corners = local @ rotation.transpose(0, 2, 1) + origin[:, None]
        return PlacedPieces(rotation, origin, corners, local.min(axis=1), local.max(axis=1))

    def frame(self, cell: int, link: int) -> pin.SE3:
        """A link in a cell."""
        return pin.SE3(self.rotation[cell, link], self.origin[cell, link])


class _Frames:
    """Places of the links of an arm for many configurations at once, from the joints of Pinocchio's model."""

    def __init__(self, robot: RobotModel) -> None:
        model, data = robot.model, robot.new_data()
        pin.computeJointJacobians(model, data, pin.neutral(model))
        n = robot.dof
        subspace = [pin.getJointJacobian(model, data, j + 1, pin.LOCAL)[:, j] for j in range(n)]
        self._slide, self._turn = np.array(subspace).reshape(n, 2, 3).transpose(1, 0, 2)
        self._parents = [int(model.parents[j + 1]) for j in range(n)]
        self._placements = [model.jointPlacements[j + 1] for j in range(n)]
        self.turns = np.abs(self._turn).max(axis=1) > 0.5
        self.first_axis = self._turn[0]

    def at(self, q: FloatArray, half: FloatArray) -> _Placed:
        """The arm at the centres `q` of cells of half widths `half` (c, n)."""
        c, n = q.shape
        R, p = np.zeros((c, n + 1, 3, 3)), np.zeros((c, n + 1, 3))
        R[:, 0] = np.eye(3)
        for j, (parent, T) in enumerate(zip(self._parents, self._placements, strict=True)):
            fixed = R[:, parent] @ T.rotation
            p[:, j + 1] = p[:, parent] + R[:, parent] @ T.translation + (fixed @ self._slide[j]) * q[:, j : j + 1]
            x = pin.skew(self._turn[j])
            sine, rest = np.sin(q[:, j])[:, None, None], 1.0 - np.cos(q[:, j])[:, None, None]
            R[:, j + 1] = fixed @ (np.eye(3) + sine * x + rest * (x @ x))
        axes = (R[:, 1:] @ self._turn[:, :, None])[..., 0]
        moments = np.cross(p[:, 1:], axes) + (R[:, 1:] @ self._slide[:, :, None])[..., 0]
        width = np.where(self.turns, 2.0 * np.sin(0.5 * np.minimum(half, np.pi)), half)
        return _Placed(R, p, axes, moments, width)


@dataclass(frozen=True)
class _Pieces:
    """The pieces of an arm and of what it holds, and what is derived from them alone."""

    pieces: list[Piece]
    link: IntArray  # (m,)
    middle: FloatArray  # (m, 3) [m] of a sphere around each, in the frame of its link
    reach: FloatArray  # (m,) [m] its radius, without the piece's own
    radius: FloatArray  # (m,) [m]
    corners: FloatArray  # (m, k, 3) [m] in the frame of its link; the first one fills up
    frames: _Frames
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
    frames = _Frames(robot)
    return _Pieces(
        pieces,
        np.array([piece.link for piece in pieces]),
        middle,
        np.array([np.linalg.norm(p.corners - c, axis=1).max() for p, c in zip(pieces, middle, strict=True)]),
        np.array([piece.radius for piece in pieces]),
        _filled([piece.corners for piece in pieces]),
        frames,
        np.array([p.link == 0 or (bool(frames.turns[0]) and stands_still(p, frames.first_axis)) for p in pieces]),
        _against_each_other(geometry, pieces, link_pairs(robot, shapes).checked),
    )


def _filled(rows: list[FloatArray]) -> FloatArray:
    """Corners (k, 3) of every piece in one array (m, most, 3)."""
    most = max(len(corners) for corners in rows)
    return np.array([np.vstack([corners, np.tile(corners[:1], (most - len(corners), 1))]) for corners in rows])


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
class _Pairs:
    """p pairs of a piece and what it may touch, each in a cell."""

    cells: IntArray  # (p,)
    distance: FloatArray  # (p,) [m] lower bounds, with radii and margin taken off
    motion: FloatArray  # (p,) [m]
    joint: IntArray  # (p,) that moves the piece most


@dataclass
class _Bounds:
    """Of c cells: the least of distance minus motion [m]; the distance there; the joint that moves that piece most."""

    room: FloatArray
    distance: FloatArray
    joint: IntArray

    def lower(self, left: FloatArray) -> None:
        """Take what spheres leave (c, pairs) where it is above 0: these pairs are not measured."""
        least = left.min(axis=1, initial=np.inf, where=left > 0.0)
        lower = least < self.room
        self.room[lower] = self.distance[lower] = least[lower]

    def settle(self, pairs: _Pairs, measure: Callable[[int], float]) -> None:
        """Take pairs, those with the least room first; `measure` those that may touch by their bounds.

        In a cell that is not free as a whole only what may be inside each other is measured: it is halved anyway.
        """
        room = pairs.distance - pairs.motion
        for k in np.argsort(room).tolist():
            cell, distance = int(pairs.cells[k]), float(pairs.distance[k])
            if not room[k] >= 0.0 and (self.room[cell] >= 0.0 or not distance >= 0.0):
                distance = measure(k)
            left = distance - float(pairs.motion[k])
            if not left >= self.room[cell]:
                self.room[cell], self.distance[cell], self.joint[cell] = left, distance, pairs.joint[k]


class CellChecker:
    """Proves that an arm is free in cells of its joint space. One thread."""

    def __init__(self, geometry: ArmGeometry, obstacles: list[Obstacle], margin: float, self_margin: float) -> None:
        self._margin, self._self_margin = margin, self_margin
        self._of = _pieces_of_arm(geometry)
        self._obstacles: list[ObstacleDistances] = [
            VoxelDistances(o) if isinstance(o, Voxels) else SolidDistances(o) for o in obstacles
        ]
        self._alone = self._not_against(geometry, obstacles)

    def _not_against(self, geometry: ArmGeometry, obstacles: list[Obstacle]) -> BoolArray:
        """(obstacles, pieces): what needs no check: what never moves, and contacts that are allowed."""
        alone = np.repeat(self._of.still[None, :], len(obstacles), axis=0)
        if geometry.allowed:
            names = [object_name(obstacle.name) for obstacle in obstacles]
            allowed = [[name_pair(p.part, name) in geometry.allowed for p in self._of.pieces] for name in names]
            alone |= np.array(allowed, dtype=bool).reshape(alone.shape)
        return np.asarray(alone)

    def room(self, q: FloatArray, half: FloatArray) -> float:
        """Least of distance minus motion in a cell [m]; not negative: every configuration in it is free."""
        return float(self.rooms(np.array([q], dtype=np.float64), np.array([half], dtype=np.float64))[0])

    def rooms(self, centers: FloatArray, halves: FloatArray) -> FloatArray:
        """Least of distance minus motion [m] in cells (c, n), (c, n) [rad]; not negative: each of them is free.

        Cells are looked at until one is not free: those after it may then have no answer, infinity. Among voxels a room
        of WIDER or more may be larger in truth.
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
        of, at = self._of, self._of.frames.at(q, half)
        centers = np.einsum("cmij,mj->cmi", at.rotation[:, of.link], of.middle) + at.origin[:, of.link]
        levers = _levers(at.axes, at.moments, centers)
        steps = at.width[:, None] * (levers + np.where(of.frames.turns, of.reach[:, None], 0.0))
        steps[:, np.arange(half.shape[1])[None, :] >= of.link[:, None]] = 0.0
        moved = np.concatenate([np.zeros((*steps.shape[:2], 1)), np.cumsum(steps, axis=2)], axis=2)
        found = _Bounds(np.full(len(q), np.inf), np.full(len(q), np.inf), at.width.argmax(axis=1))
        self._against_obstacles(found, at, centers, moved[:, :, -1])
        self._against_itself(found, at, centers, moved)
        return found

    def _against_obstacles(self, found: _Bounds, at: _Placed, centers: FloatArray, moved: FloatArray) -> None:
        of, needed = self._of, self._of.reach + self._of.radius + self._margin + moved
        most = float(needed.max()) + WIDER
        left = np.array([thing.bound(centers, most) for thing in self._obstacles]).reshape(-1, *moved.shape) - needed
        left = np.where(self._alone[:, None], np.inf, left)
        for each in left:
            found.lower(each)
        things, cells, pieces = np.nonzero(~(left > 0.0))
        placed, keep = at.pieces(of, cells, pieces), of.radius[pieces] + self._margin
        motion, joint = _motions(at, placed, cells, np.zeros_like(cells), of.link[pieces])
        middles, within, bound = centers[cells, pieces], needed[cells, pieces], np.empty(len(cells))
        near: dict[int, tuple[Near, int]] = {}
        for thing in np.unique(things).tolist():
            rows = slice(*np.searchsorted(things, [thing, thing + 1]).tolist())
            near[thing] = self._obstacles[thing].near(placed[rows], middles[rows], within[rows]), rows.start
            bound[rows] = near[thing][0].least

        def measure(k: int) -> float:
            (thing, first), piece = near[int(things[k])], of.pieces[pieces[k]]
            enough = float(keep[k] + motion[k]) + ROUNDING
            return thing.distance(k - first, piece, at.frame(int(cells[k]), piece.link), enough) - float(keep[k])

        found.settle(_Pairs(cells, bound - keep, motion, joint), measure)

    def _against_itself(self, found: _Bounds, at: _Placed, centers: FloatArray, moved: FloatArray) -> None:
        of = self._of
        a, b = of.pairs.T
        needed = of.reach[a] + of.reach[b] + of.radius[a] + of.radius[b] + self._self_margin
        x, y, z = (each[a] - each[b] for each in np.ascontiguousarray(centers.T))  # (pairs, cells)
        moved = np.ascontiguousarray(moved.transpose(1, 2, 0))
        left = np.sqrt(x * x + y * y + z * z) - needed[:, None] - (moved[b, -1] - moved[b, of.link[a]])
        found.lower(left.T)
        rows, cells = np.nonzero(~(left > 0.0))
        a, b = a[rows], b[rows]
        one, other = at.pieces(of, cells, a), at.pieces(of, cells, b)
        motion, joint = _motions(at, other, cells, of.link[a], of.link[b])
        in_one, in_other = other.boxes_in(one.rotation, one.origin), one.boxes_in(other.rotation, other.origin)
        bound = np.maximum(box_gaps(one.low, one.high, *in_one), box_gaps(other.low, other.high, *in_other))
        keep = of.radius[a] + of.radius[b] + self._self_margin

        def measure(k: int) -> float:
            pieces = of.pieces[a[k]], of.pieces[b[k]]
            first, second = (at.frame(int(cells[k]), piece.link) * piece.T for piece in pieces)
            return gap(pieces[0].solid, first, pieces[1].solid, second) - float(keep[k])

        found.settle(_Pairs(cells, bound - keep, motion, joint), measure)


def _motions(
    at: _Placed, placed: PlacedPieces, cells: IntArray, first: IntArray, last: IntArray
) -> tuple[FloatArray, IntArray]:
    """Most (p,) [m] that a corner of a piece moves with its joints after `first` to `last` (p,) in cells (p,).

    With the joint, each, that moves it most.
    """
    most, joint, numbers = np.zeros(len(cells)), np.zeros(len(cells), np.int64), np.arange(at.width.shape[1])
    for begin in range(0, len(cells), TOGETHER):
        rows = slice(begin, begin + TOGETHER)
        cell = cells[rows]
        moving = (numbers >= first[rows, None]) & (numbers < last[rows, None])
        steps = _levers(at.axes[cell], at.moments[cell], placed.corners[rows]) * (moving * at.width[cell])[:, None]
        total = steps.sum(axis=2)
        each, worst = np.arange(len(cell)), total.argmax(axis=1)
        most[rows], joint[rows] = total[each, worst], steps[each, worst].argmax(axis=1)
    return most, joint


def _levers(axes: FloatArray, moments: FloatArray, points: FloatArray) -> FloatArray:
    """Speed (c, m, n) [m/rad] of points (c, m, 3) at unit rate of joints with axes and moments (c, n, 3)."""
    (c, n, _), (ax, ay, az) = axes.shape, np.moveaxis(axes, 2, 0)
    cross = np.zeros((c, 3, 3, n))  # of coordinate, component, joint
    cross[:, 2, 0], cross[:, 1, 0] = ay, -az
    cross[:, 0, 1], cross[:, 2, 1] = az, -ax
    cross[:, 1, 2], cross[:, 0, 2] = ax, -ay
    speed = points @ cross.reshape(c, 3, 3 * n)
    speed += moments.transpose(0, 2, 1).reshape(c, 1, 3 * n)
    speed *= speed
    return np.asarray(np.sqrt(speed[..., :n] + speed[..., n : 2 * n] + speed[..., 2 * n :]))
