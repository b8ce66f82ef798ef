"""Which points of a cloud are of the robot: those nearer than a padding to a true shape of it or of what it holds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel, link_shapes
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import Attachment
from telerobot_nodes.cspace.proof import Piece, held_pieces, pieces_of

BoolArray = npt.NDArray[np.bool_]
FLAT = 1e-9  # [m] of an edge that is none


@dataclass(frozen=True)
class _Part:
    """A piece of the robot with a sphere around it and, where it has a volume, the planes of its faces."""

    piece: Piece
    middle: FloatArray  # (3,) [m] in the frame of its link
    reach: FloatArray  # [m] of the sphere, its radius included
    planes: FloatArray  # (k, 4) outward, n . x + d <= 0 inside; none of points, lines and flat pieces


class RobotPoints:
    """The shapes of one arm and of what it holds, to tell its own points in a cloud. One thread."""

    def __init__(self, robot: RobotModel, held: Collection[Attachment] = ()) -> None:
        """Raises ModelError on shapes that cannot be cut."""
        self.robot, self._data = robot, robot.new_data()
        pieces = [piece for shape in link_shapes(robot) for piece in pieces_of(shape)]
        self._parts = [_part(piece) for piece in pieces + held_pieces(robot, held)]

    def near(self, centers: FloatArray, q: FloatArray, within: float) -> BoolArray:
        """Which points (n, 3) [m] may be within `within` [m] of the arm at `q` (dof,) [rad]; the others are not."""
        found = np.zeros(len(centers), dtype=bool)
        for part, T in self._placed(q):
            found |= _square(centers, T.act(part.middle)) <= (part.reach + within) ** 2
        return found

    def own(self, points: FloatArray, q: FloatArray, padding: float) -> BoolArray:
        """Which points (n, 3) [m] are within `padding` [m] of a shape with the arm at `q` (dof,) [rad].

        Off the corners of a shape a little more: there its faces are moved outwards by the padding.
        """
        found = np.zeros(len(points), dtype=bool)
        for part, T in self._placed(q):
            close = np.flatnonzero(_square(points, T.act(part.middle)) <= (part.reach + padding) ** 2)
            close = close[~found[close]]
            local = (points[close] - T.translation) @ T.rotation
            found[close] = _distance(part, local) <= part.piece.radius + padding
        return found

    def _placed(self, q: FloatArray) -> list[tuple[_Part, pin.SE3]]:
        pin.forwardKinematics(self.robot.model, self._data, q)
        frames = [pin.SE3.Identity(), *list(self._data.oMi)[1:]]
        return [(part, frames[part.piece.link]) for part in self._parts]


def _square(points: FloatArray, center: FloatArray) -> FloatArray:
    away = points - center
    return np.asarray(np.einsum("ij,ij->i", away, away))


def _part(piece: Piece) -> _Part:
    corners = piece.corners
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    reach = float(np.linalg.norm(corners - middle, axis=1).max()) + piece.radius
    return _Part(piece, middle, np.asarray(reach), _planes(corners))


def _planes(corners: FloatArray) -> FloatArray:
    from scipy.spatial import ConvexHull, QhullError  # half a second that processes without clouds need not wait

    if len(corners) < 4:
        return np.empty((0, 4))
    try:
        return np.unique(np.round(ConvexHull(corners).equations, 9), axis=0)
    except QhullError:
        return np.empty((0, 4))


def _distance(part: _Part, local: FloatArray) -> FloatArray:
    """Distances (n,) [m] of points (n, 3) to the corners' hull, not more than the true ones; below 0: inside."""
    if len(part.planes):
        return np.asarray((local @ part.planes[:, :3].T + part.planes[:, 3]).max(axis=1, initial=-np.inf))
    corners = part.piece.corners
    if len(corners) <= 2:
        return _to_line(local, corners[0], corners[-1])
    low, high = corners.min(axis=0), corners.max(axis=0)
    return np.asarray(np.linalg.norm(np.maximum(np.maximum(low - local, local - high), 0.0), axis=1))


def _to_line(points: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    along = b - a
    share = (points - a) @ along / max(float(along @ along), FLAT**2)
    return np.asarray(np.linalg.norm(points - a - np.clip(share, 0.0, 1.0)[:, None] * along, axis=1))
