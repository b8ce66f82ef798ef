"""Distances of convex pieces to obstacles, for the checker of certificates: bounds for many at once, then coal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import coal
import numpy as np
import pinocchio as pin

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import IntArray, Obstacle, Piece, PlacedPieces, Voxels, box_gaps

EXACT = 1e-6  # [m] to which coal's distances are right
WIDER = 0.01  # [m] beyond what may touch: voxels farther away are not looked at


class Near(Protocol):
    """What may touch p pieces."""

    @property
    def least(self) -> FloatArray:
        """Lower bounds (p,) [m] of the distances of the pieces, without their radius."""

    def distance(self, i: int, piece: Piece, T_world_link: pin.SE3, enough: float) -> float:
        """Distance [m] of piece number `i` without its radius, not more than the true one; below 0: they overlap.

        Of `enough` [m] or more it need not be exact.
        """


class ObstacleDistances(Protocol):
    """Distances to one obstacle. One thread."""

    def bound(self, points: FloatArray, most: float) -> FloatArray:
        """Lower bounds (...) [m] of the distances of points (..., 3); those above `most` [m] need not be exact."""

    def near(self, placed: PlacedPieces, middles: FloatArray, within: FloatArray) -> Near:
        """What may be within `within` (p,) [m] of the points `middles` (p, 3) inside the pieces."""


@dataclass(frozen=True)
class _NearSolid:
    """`solid`: None where the bounds are exact."""

    least: FloatArray
    solid: coal.CollisionGeometry | None
    T: pin.SE3

    def distance(self, i: int, piece: Piece, T_world_link: pin.SE3, _enough: float) -> float:
        """Measured by coal."""
        if self.solid is None:
            return float(self.least[i])
        return gap(piece.solid, T_world_link * piece.T, self.solid, self.T)


class SolidDistances:
    """Distances to a box, sphere, cylinder or half-space."""

    def __init__(self, obstacle: Obstacle) -> None:
        kinds = {"box": coal.Box, "sphere": coal.Sphere, "cylinder": coal.Cylinder}
        self._kind, self._size, self._T = obstacle.kind, obstacle.size, obstacle.T_world_obstacle
        make = kinds.get(obstacle.kind)
        self._solid = make(*obstacle.size) if make else None
        self._half = _half_edges(obstacle)

    def bound(self, points: FloatArray, _most: float) -> FloatArray:
        """Signed distances (...) [m] of points (..., 3)."""
        local, size = (points - self._T.translation) @ self._T.rotation, self._size
        if self._kind == "half_space":
            return np.asarray(local[..., 2])
        if self._kind == "sphere":
            return np.asarray(np.linalg.norm(local, axis=-1) - size[0])
        if self._kind == "box":
            over = [np.abs(local[..., k]) - half for k, half in enumerate(self._half.tolist())]
        else:
            over = [np.hypot(local[..., 0], local[..., 1]) - size[0], np.abs(local[..., 2]) - 0.5 * size[1]]
        outside = sum(np.square(np.maximum(each, 0.0)) for each in over)
        return np.asarray(np.sqrt(outside) + np.minimum(np.maximum.reduce(over), 0.0))

    def near(self, placed: PlacedPieces, _middles: FloatArray, _within: FloatArray) -> _NearSolid:
        """Bounds from boxes around the pieces in the obstacle's frame; exact for a half-space."""
        low, high = placed.boxes_in(self._T.rotation, self._T.translation)
        if self._kind == "half_space":
            return _NearSolid(low[:, 2], None, self._T)
        return _NearSolid(box_gaps(low, high, -self._half, self._half), self._solid, self._T)


def _half_edges(obstacle: Obstacle) -> FloatArray:
    """Half edges (3,) [m] of a box around an obstacle in its frame."""
    size = obstacle.size
    if obstacle.kind == "cylinder":
        return np.array([size[0], size[0], 0.5 * size[1]])
    return 0.5 * np.array(size) if obstacle.kind == "box" else np.full(3, size[0] if size else np.inf)


@dataclass(frozen=True)
class _NearVoxels:
    """The voxels near to p pieces: those of piece i are the rows `first[i]` to `first[i + 1]`, nearest first."""

    first: IntArray  # (p + 1,)
    centers: FloatArray  # (k, 3) [m]
    bound: FloatArray  # (k,) [m] lower bound of the distance of piece and voxel
    beyond: FloatArray  # (p,) [m] lower bound of the distances of all other voxels
    box: coal.Box
    rotation: FloatArray  # (3, 3) of the voxels

    @property
    def least(self) -> FloatArray:
        """Of the nearest voxel of each piece."""
        begins, bound = self.first[:-1], np.append(self.bound, np.inf)
        return np.minimum(np.where(begins < self.first[1:], bound[begins], np.inf), self.beyond)

    def distance(self, i: int, piece: Piece, T_world_link: pin.SE3, enough: float) -> float:
        """Voxels that may be nearest are measured by coal first, until no other can be nearer, or than `enough`."""
        T, best = T_world_link * piece.T, float(self.beyond[i])
        for k in range(self.first[i], self.first[i + 1]):
            if self.bound[k] >= min(best, enough):
                return min(best, float(self.bound[k]))
            best = min(best, gap(piece.solid, T, self.box, pin.SE3(self.rotation, self.centers[k])))
        return best


class VoxelDistances:
    """Distances to the boxes of one thing: a tree of the centres finds the near ones."""

    def __init__(self, voxels: Voxels) -> None:
        from scipy.spatial import cKDTree  # half a second that processes without voxels need not wait

        self._centers = voxels.places
        self._tree = cKDTree(self._centers)
        self._out = 0.5 * float(np.linalg.norm(voxels.size))  # from a centre to a corner
        self._box, self._rotation = coal.Box(*voxels.size), voxels.T_world_obstacle.rotation
        self._half = 0.5 * np.array(voxels.size)

    def bound(self, points: FloatArray, most: float) -> FloatArray:
        """From the nearest centre, `most` where it is farther away."""
        away = self._tree.query(points, distance_upper_bound=most + self._out)[0]
        return np.asarray(np.minimum(away - self._out, most))

    def near(self, placed: PlacedPieces, middles: FloatArray, within: FloatArray) -> _NearVoxels:
        """The voxels within `within` + WIDER of the middles, with bounds from boxes around both."""
        rows = self._tree.query_ball_point(middles, within + WIDER + self._out)
        counts = np.array([len(row) for row in rows], dtype=np.int64)
        first = np.concatenate([[0], np.cumsum(counts)])
        voxel = np.concatenate([np.empty(0, np.int64), *rows]).astype(np.int64)
        piece = np.repeat(np.arange(len(rows)), counts)
        centers = self._centers[voxel]
        bound = self._bounds(placed, piece, centers)
        order = np.lexsort((bound, piece))
        reach = np.linalg.norm(placed.corners - middles[:, None], axis=2).max(axis=1)
        beyond = within + WIDER - reach
        return _NearVoxels(first, centers[order], bound[order], beyond, self._box, self._rotation)

    def _bounds(self, placed: PlacedPieces, piece: IntArray, centers: FloatArray) -> FloatArray:
        """Lower bounds (k,) [m] of the distances of pieces to voxels, from boxes around each in the other's frame."""
        local = np.einsum("kj,kji->ki", centers - placed.origin[piece], placed.rotation[piece])
        low, high = placed.low[piece], placed.high[piece]
        half = (np.abs(placed.rotation.transpose(0, 2, 1) @ self._rotation) @ self._half)[piece]
        bound = np.maximum(
            box_gaps(low, high, local, local) - self._out, box_gaps(low, high, local - half, local + half)
        )
        low, high = (side[piece] for side in placed.boxes_in(self._rotation, np.zeros(3)))
        turned = centers @ self._rotation
        return np.maximum(bound, box_gaps(low, high, turned - self._half, turned + self._half))


def gap(a: coal.CollisionGeometry, T: pin.SE3, b: coal.CollisionGeometry, U: pin.SE3) -> float:
    """Distance [m] of two convex solids, not more than the true one; below 0: they overlap. No guess is kept."""
    first, second = coal.Transform3s(T.rotation, T.translation), coal.Transform3s(U.rotation, U.translation)
    return float(coal.distance(a, first, b, second, coal.DistanceRequest(), coal.DistanceResult())) - EXACT
