"""Proves that an arm is free in whole cells of its joint space, by the true shapes; the certificates' second opinion.

No sphere, kinematics, distance or pair of the planner's is used: shapes are convex pieces, frames are those of
Pinocchio's model. A cell that is not free by the bounds of `cell_bounds` is halved, across the joint that moves the
piece with the least room most, a few times.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from telerobot_nodes.core.values import FloatArray, IntArray
from telerobot_nodes.cspace.covering import name_pair
from telerobot_nodes.cspace.geometry import ArmGeometry, Obstacle, object_name
from telerobot_nodes.cspace.proof.arm_pieces import ArmPieces, PieceArrays, arm_pieces
from telerobot_nodes.cspace.proof.cell_bounds import Room, against_itself, against_solids
from telerobot_nodes.cspace.proof.placed_pieces import Placed, place, placed_of
from telerobot_nodes.cspace.proof.solid_arrays import SolidArrays, solid_arrays

HALVINGS = 9  # times a cell is halved before it counts as not proved


class CellChecker:
    """Proves that an arm is free in cells of its joint space. One thread."""

    def __init__(self, geometry: ArmGeometry, obstacles: list[Obstacle], margin: float, self_margin: float) -> None:
        of = arm_pieces(geometry)
        self._arm, self._solids = of.arrays, solid_arrays(obstacles)
        self._alone = _not_against(geometry, of, obstacles)
        self._margin, self._self_margin = margin, self_margin

    def room(self, q: FloatArray, half: FloatArray) -> float:
        """Least of distance minus motion in a cell [m]; not negative: every configuration in it is free."""
        return float(self.rooms(np.array([q], dtype=np.float64), np.array([half], dtype=np.float64))[0])

    def rooms(self, centers: FloatArray, halves: FloatArray) -> FloatArray:
        """Least of distance minus motion [m] in cells (c, n), (c, n) [rad]; not negative: each of them is free.

        Bounds: the true room may be more. Cells after one that is not free have no answer, infinity.
        """
        margins = float(self._margin), float(self._self_margin)
        cells = np.ascontiguousarray(centers, np.float64), np.ascontiguousarray(halves, np.float64)
        return np.asarray(_rooms(self._arm, self._solids, self._alone, *margins, *cells))


def _not_against(geometry: ArmGeometry, of: ArmPieces, obstacles: list[Obstacle]) -> IntArray:
    """(obstacles, pieces): 1 where contact is allowed."""
    if not geometry.allowed:
        return np.zeros((len(obstacles), len(of.parts)), np.int64)
    names = [object_name(obstacle.name) for obstacle in obstacles]
    allowed = [[name_pair(part, name) in geometry.allowed for part in of.parts] for name in names]
    return np.array(allowed, dtype=np.int64).reshape(len(obstacles), len(of.parts))


@numba.njit(cache=True, error_model="numpy")
def _rooms(
    arm: PieceArrays,
    solids: SolidArrays,
    alone: IntArray,
    margin: float,
    self_margin: float,
    centers: FloatArray,
    halves: FloatArray,
) -> FloatArray:
    """`CellChecker.rooms`."""
    count, n = centers.shape
    rooms = np.full(count, np.inf)
    at, q, half = placed_of(arm), np.empty((HALVINGS + 2, n)), np.empty((HALVINGS + 2, n))
    for cell in range(count):
        for j in range(n):
            q[0, j], half[0, j] = centers[cell, j], halves[cell, j]
            if not (math.isfinite(q[0, j]) and math.isfinite(half[0, j])):
                rooms[cell] = -np.inf
        if rooms[cell] > 0.0:
            rooms[cell] = _halved_room(arm, solids, alone, margin, self_margin, at, q, half)
        if not rooms[cell] >= 0.0:
            break
    return rooms


@numba.njit(cache=True, error_model="numpy")
def _halved_room(
    arm: PieceArrays,
    solids: SolidArrays,
    alone: IntArray,
    margin: float,
    self_margin: float,
    at: Placed,
    q: FloatArray,
    half: FloatArray,
) -> float:
    """The room of the cell in the first rows of `q` and `half` (HALVINGS + 2, n), where its halves wait."""
    depth, waiting, least = np.zeros(HALVINGS + 2, np.int64), 1, np.inf
    while waiting > 0:
        cell = waiting - 1
        found = cell_room(arm, solids, alone, margin, self_margin, at, q[cell], half[cell])
        if found.room >= 0.0 or found.distance < 0.0 or depth[cell] == HALVINGS:
            least, waiting = min(least, found.room), waiting - 1
            if not least >= 0.0:
                return least
            continue
        depth[cell] += 1
        depth[waiting] = depth[cell]
        half[cell, found.joint] *= 0.5
        q[waiting], half[waiting] = q[cell], half[cell]
        q[cell, found.joint] -= half[cell, found.joint]
        q[waiting, found.joint] += half[cell, found.joint]
        waiting += 1
    return least


@numba.njit(cache=True, error_model="numpy")
def cell_room(
    arm: PieceArrays,
    solids: SolidArrays,
    alone: IntArray,
    margin: float,
    self_margin: float,
    at: Placed,
    q: FloatArray,
    half: FloatArray,
) -> Room:
    """The room of a cell that is not halved."""
    place(arm, at, q, half)
    found = Room(np.inf, np.inf, int(np.argmax(at.width)))
    found = against_solids(arm, solids, alone, at, margin, found)
    return found if found.distance < 0.0 else against_itself(arm, at, self_margin, found)
