"""Bounds on the room that an arm has in a cell of its joint space: compiled.

A cell is a box in joint space. The room of a piece and what it may touch is their distance at the cell's centre less
what the piece can move in the cell (`placed_pieces`): if it is not negative, they do not touch anywhere in the cell.
Spheres around links and pieces sort out most pairs; the hulls of the others are measured.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.values import FloatArray, IntArray
from telerobot_nodes.cspace.proof.arm_pieces import PieceArrays
from telerobot_nodes.cspace.proof.convex_gap import gap_of_hulls, gap_to_solid
from telerobot_nodes.cspace.proof.placed_pieces import UNPLACED, Placed, corner_motion, place_corners, place_middles
from telerobot_nodes.cspace.proof.solid_arrays import (
    CLOUD,
    HALF_SPACE,
    SPHERE,
    SolidArrays,
    distance_to_node,
    distance_to_solid,
)

ROUNDING = 1e-9  # [m] taken off every distance that is measured, for what floating point may have added


class Room(NamedTuple):
    """The least of distance minus motion in a cell [m]; the distance there; the joint that moves that piece most."""

    room: float
    distance: float
    joint: int


@numba.njit(error_model="numpy", inline="always")
def _settled(found: Room, distance: float, motion: float, joint: int) -> Room:
    """Take a pair of the distance and motion [m], where that leaves less room, or where it touches."""
    left = distance - motion
    return Room(min(left, found.room), distance, joint) if left < found.room or distance < 0.0 else found


@numba.njit(error_model="numpy", inline="always")
def _enough(found: Room, keep: float, motion: float) -> float:
    """The distance [m] beyond which a pair need not be measured.

    A cell that is not free as a whole is halved anyway: there only what may be inside each other is measured.
    """
    return keep + ROUNDING + (motion + ROUNDING if found.room >= 0.0 else 0.0)


@numba.njit(cache=True, error_model="numpy")
def against_solids(
    arm: PieceArrays, solids: SolidArrays, alone: IntArray, at: Placed, margin: float, found: Room
) -> Room:
    """`found` with the room that a placed arm has from obstacles; `alone` (obstacles, m): 1 where nothing is checked.

    It ends where a piece touches something.
    """
    link_middle, link_moved, link_first, link_reach = at.link_middle, at.link_moved, arm.link_first, arm.link_reach
    kind, center, rotation, size = solids.kind, solids.center, solids.rotation, solids.size
    for k in range(1, len(link_reach)):
        x, y, z = link_middle[k, 0], link_middle[k, 1], link_middle[k, 2]
        needed = link_reach[k] + margin + link_moved[k, k]
        for o in range(alone.shape[0] if link_first[k] < link_first[k + 1] else 0):
            if kind[o] == CLOUD:
                found = _against_cloud(arm, solids, alone, at, margin, found, k, o)
            else:
                left = distance_to_solid(kind, center, rotation, size, o, x, y, z) - needed
                if not (left > 0.0 and left >= found.room):
                    found = _against_rows(arm, solids, alone, at, margin, found, k, o, o, o + 1)
            if found.distance < 0.0:
                return found
    return found


@numba.njit(cache=True, error_model="numpy")
def _against_cloud(
    arm: PieceArrays, solids: SolidArrays, alone: IntArray, at: Placed, margin: float, found: Room, k: int, o: int
) -> Room:
    """`against_solids` for link k and the voxels of obstacle o: the nearest first."""
    R, middle, stack, low, high, child = (
        solids.rotation,
        at.link_middle,
        at.stack,
        solids.low,
        solids.high,
        solids.child,
    )
    needed = arm.link_reach[k] + margin + at.link_moved[k, k]
    x = R[o, 0, 0] * middle[k, 0] + R[o, 1, 0] * middle[k, 1] + R[o, 2, 0] * middle[k, 2]
    y = R[o, 0, 1] * middle[k, 0] + R[o, 1, 1] * middle[k, 1] + R[o, 2, 1] * middle[k, 2]
    z = R[o, 0, 2] * middle[k, 0] + R[o, 1, 2] * middle[k, 1] + R[o, 2, 2] * middle[k, 2]
    stack[0], waiting = solids.root[o], 1
    while waiting > 0 and not found.distance < 0.0:
        waiting -= 1
        node = stack[waiting]
        left = distance_to_node(low, high, node, x, y, z) - needed
        if left > 0.0 and left >= found.room:
            continue
        a, b = child[node, 0], child[node, 1]
        if a < 0:
            found = _against_rows(arm, solids, alone, at, margin, found, k, o, -1 - a, b)
        else:
            nearer = distance_to_node(low, high, a, x, y, z) < distance_to_node(low, high, b, x, y, z)
            stack[waiting], stack[waiting + 1] = (b, a) if nearer else (a, b)
            waiting += 2
    return found


@numba.njit(cache=True, error_model="numpy")
def _against_rows(
    arm: PieceArrays,
    solids: SolidArrays,
    alone: IntArray,
    at: Placed,
    margin: float,
    found: Room,
    k: int,
    thing: int,
    row: int,
    end: int,
) -> Room:
    """`against_solids` for the pieces of link k and the rows `row` .. `end` of obstacle `thing`."""
    middle, moved, corner, corner_first, reach, radius = (
        at.middle, at.moved, at.corner, arm.corner_first, arm.reach, arm.radius,
    )  # fmt: skip
    kind, center, R, size = solids.kind, solids.center, solids.rotation, solids.size
    begin, stop, joints, state = arm.link_first[k], arm.link_first[k + 1], arm.joints, at.state
    if state[begin] == UNPLACED:
        place_middles(arm, at, k)
    for i in range(begin, stop):
        if joints[i] == 0 or alone[thing, i]:
            continue
        x, y, z, keep = middle[i, 0], middle[i, 1], middle[i, 2], radius[i] + margin
        first, last = corner_first[i], corner_first[i + 1]
        motion, joint = -1.0, 0
        for o in range(row, end):
            distance = distance_to_solid(kind, center, R, size, o, x, y, z) - reach[i] - keep
            if distance - moved[i, k] > 0.0:
                found = _settled(found, distance, moved[i, k], found.joint)
                continue
            place_corners(arm, at, i)
            if motion < 0.0:
                motion, joint = corner_motion(at.axis, at.moment, at.width, corner, first, last, 0, joints[i])
            enough = _enough(found, keep, motion)
            if kind[o] == HALF_SPACE:
                distance = _lowest_corner(corner, first, last, center[o], R[o])
            else:
                grown = size[o, 0] if kind[o] == SPHERE else 0.0
                distance = gap_to_solid(
                    corner, first, last, kind[o], center[o], R[o], size[o], enough + grown, at.simplex
                ) - grown  # fmt: skip
            distance -= ROUNDING + keep
            if found.room >= 0.0 or distance < 0.0:
                found = _settled(found, distance, motion, joint)
            if found.distance < 0.0:
                return found
    return found


@numba.njit(error_model="numpy", inline="always")
def _lowest_corner(corner: FloatArray, first: int, last: int, center: FloatArray, R: FloatArray) -> float:
    """Height [m] of the lowest corner above a half-space."""
    least = np.inf
    for c in range(first, last):
        x, y, z = corner[c, 0] - center[0], corner[c, 1] - center[1], corner[c, 2] - center[2]
        least = min(least, R[0, 2] * x + R[1, 2] * y + R[2, 2] * z)
    return least


@numba.njit(cache=True, error_model="numpy")
def against_itself(arm: PieceArrays, at: Placed, margin: float, found: Room) -> Room:
    """`found` with the room that the links of a placed arm have from each other; it ends where two touch."""
    link_middle, link_moved, link_reach, link = at.link_middle, at.link_moved, arm.link_reach, arm.link
    pair, pair_first = arm.pair, arm.pair_first
    for group in range(len(pair_first) - 1):
        a, b = link[pair[pair_first[group], 0]], link[pair[pair_first[group], 1]]
        needed = link_reach[a] + link_reach[b] + margin + link_moved[b, b] - link_moved[b, a]
        left = _apart(link_middle, a, link_middle, b) - needed
        if not (left > 0.0 and left >= found.room):
            found = _against_link(arm, at, margin, found, group, a, b)
            if found.distance < 0.0:
                return found
    return found


@numba.njit(error_model="numpy", inline="always")
def _apart(a: FloatArray, i: int, b: FloatArray, j: int) -> float:
    """Distance [m] of row i of `a` and row j of `b`."""
    return math.sqrt((a[i, 0] - b[j, 0]) ** 2 + (a[i, 1] - b[j, 1]) ** 2 + (a[i, 2] - b[j, 2]) ** 2)


@numba.njit(cache=True, error_model="numpy")
def _against_link(arm: PieceArrays, at: Placed, margin: float, found: Room, group: int, a: int, b: int) -> Room:
    """`against_itself` for the pairs of one group, of links a and b: b moves with the joints between them."""
    middle, moved, corner, corner_first, reach, radius = (
        at.middle, at.moved, at.corner, arm.corner_first, arm.reach, arm.radius,
    )  # fmt: skip
    pair = arm.pair
    for k in (a, b):
        if at.state[arm.link_first[k]] == UNPLACED:
            place_middles(arm, at, k)
    for row in range(arm.pair_first[group], arm.pair_first[group + 1]):
        i, j = pair[row, 0], pair[row, 1]
        keep, motion = radius[i] + radius[j] + margin, moved[j, b] - moved[j, a]
        distance = _apart(middle, i, middle, j) - reach[i] - reach[j] - keep
        if distance - motion > 0.0:
            found = _settled(found, distance, motion, found.joint)
            continue
        place_corners(arm, at, i)
        place_corners(arm, at, j)
        first, last, other, end = corner_first[i], corner_first[i + 1], corner_first[j], corner_first[j + 1]
        motion, joint = corner_motion(at.axis, at.moment, at.width, corner, other, end, a, arm.joints[j])
        enough = _enough(found, keep, motion)
        distance = gap_of_hulls(corner, first, last, other, end, enough, at.simplex) - ROUNDING - keep
        if found.room >= 0.0 or distance < 0.0:
            found = _settled(found, distance, motion, joint)
        if found.distance < 0.0:
            return found
    return found
