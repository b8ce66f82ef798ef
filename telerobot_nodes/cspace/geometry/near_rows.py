"""The rows of a world near to a link or to a group of its spheres, found by blocks: compiled.

Functions take the few arrays they need: passing all those of an arm takes longer than what they do.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.values import FloatArray, IntArray
from telerobot_nodes.cspace.geometry.distances import block_farther, distance, farther, square_distance
from telerobot_nodes.cspace.geometry.obstacles import BLOCK, World


class NearRows(NamedTuple):
    """Rows of a world that are near to a link, and those of them near to one of its groups; scratch memory."""

    block: IntArray  # (blocks, 2) blocks that have rows near the link; the end of their rows in `of_link`
    of_link: IntArray  # (rows,)
    of_group: IntArray  # (rows,)


@numba.njit(cache=True, error_model="numpy")
def near_rows_of(world: World) -> NearRows:
    """Scratch memory for the rows of `world`."""
    rows = world.reach.size
    return NearRows(np.empty((world.blocks.shape[0], 2), np.int64), np.empty(rows, np.int64), np.empty(rows, np.int64))


@numba.njit(cache=True, error_model="numpy")
def rows_near_link(world: World, point: FloatArray, radius: float, gap: float, near: NearRows) -> int:
    """The rows that may be nearer than `gap` [m] to the centre `point` (3,) of a link; the number of their blocks.

    Rows of blocks smaller than the link, of `radius` [m], are not looked at one by one: most of them would be near.
    """
    blocks, count, gap_outside = 0, 0, max(gap, 0.0)
    for block in range(world.blocks.shape[0]):
        if block_farther(world, block, point, gap_outside):
            continue
        small, before = world.blocks[block, 3] < radius, count
        for o in range(BLOCK * block, min(BLOCK * (block + 1), world.reach.size)):
            if small or not (farther(world, o, point, gap_outside) or distance(world, o, point) >= gap):
                near.of_link[count] = o
                count += 1
        if count > before:
            near.block[blocks, 0], near.block[blocks, 1] = block, count
            blocks += 1
    return blocks


@numba.njit(cache=True, error_model="numpy")
def rows_near_group(world: World, point: FloatArray, body: int, gap: float, near: NearRows, blocks: int) -> int:
    """Those rows of its link that are nearer than `gap` [m] to the centre `point` (3,) of a group; their number.

    Without those that the group's `body` may touch.
    """
    i, count, gap_outside = 0, 0, max(gap, 0.0)
    for j in range(blocks):
        if block_farther(world, near.block[j, 0], point, gap_outside):
            i = near.block[j, 1]
        while i < near.block[j, 1]:
            o = near.of_link[i]
            i += 1
            if world.allowed[o] >> body & 1 or farther(world, o, point, gap_outside):
                continue
            if distance(world, o, point) < gap:
                near.of_group[count] = o
                count += 1
    return count


@numba.njit(cache=True, error_model="numpy")
def rows_of_nearest_block(world: World, point: FloatArray, near: NearRows) -> int:
    """The rows of the block whose sphere is nearest to `point` (3,) [m]; the number of blocks, 1."""
    least, nearest, count = np.inf, 0, 0
    for block in range(world.blocks.shape[0]):
        away = math.sqrt(square_distance(world.blocks[block, :3], point)) - world.blocks[block, 3]
        if away < least:
            least, nearest = away, block
    for o in range(BLOCK * nearest, min(BLOCK * (nearest + 1), world.reach.size)):
        near.of_link[count] = o
        count += 1
    near.block[0, 0], near.block[0, 1] = nearest, count
    return 1
