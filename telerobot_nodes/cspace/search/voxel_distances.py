"""Distances of convex pieces to voxels, for the checker of certificates: a tree of the centres, then coal."""

from __future__ import annotations

import coal
import numpy as np
import pinocchio as pin

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import Piece, Voxels

EXACT = 1e-6  # [m] to which coal's distances are right
WIDER = 0.01  # [m] beyond what may touch: boxes farther away are not looked at


class VoxelDistances:
    """Distances to the boxes of one thing. One thread."""

    def __init__(self, voxels: Voxels) -> None:
        from scipy.spatial import cKDTree  # half a second that processes without voxels need not wait

        self._centers = voxels.places
        self._tree = cKDTree(self._centers)
        self._out = 0.5 * float(np.linalg.norm(voxels.size))  # from a centre to a corner
        self._box, self._rotation = coal.Box(*voxels.size), voxels.T_world_obstacle.rotation

    def bound(self, points: FloatArray) -> FloatArray:
        """Lower bounds (...) [m] of the distances of points (..., 3) to the boxes."""
        return np.asarray(self._tree.query(points)[0]) - self._out

    def distance(
        self, piece: Piece, T_world_link: pin.SE3, middle: FloatArray, within: float, enough: float = np.inf
    ) -> float:
        """Distance [m] of a piece, without its radius, to the boxes; not more than the true one; below 0: inside one.

        Boxes farther than `within` + WIDER [m] from the point `middle` (3,) are not looked at. Boxes that may be
        nearest are measured first, until no other can be nearer; none where a bound of all is `enough` [m] or more.
        """
        near = self._centers[self._tree.query_ball_point(middle, within + WIDER + self._out)]
        local = (near - T_world_link.translation) @ T_world_link.rotation
        low, high = piece.corners.min(axis=0), piece.corners.max(axis=0)
        least = np.linalg.norm(np.maximum(np.maximum(low - local, local - high), 0.0), axis=1) - self._out
        bound = float(least.min(initial=np.inf))
        if bound >= enough:
            return bound
        T, best = T_world_link * piece.T, np.inf
        for k in np.argsort(least).tolist():
            if least[k] >= best:
                break
            best = min(best, gap(piece.solid, T, self._box, pin.SE3(self._rotation, near[k])))
        return float(best)


def gap(a: coal.CollisionGeometry, T: pin.SE3, b: coal.CollisionGeometry, U: pin.SE3) -> float:
    """Distance [m] of two convex solids, not more than the true one; below 0: they overlap. No guess is kept."""
    first, second = coal.Transform3s(T.rotation, T.translation), coal.Transform3s(U.rotation, U.translation)
    return float(coal.distance(a, first, b, second, coal.DistanceRequest(), coal.DistanceResult())) - EXACT
