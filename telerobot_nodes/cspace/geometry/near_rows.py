"""The rows of a world near to a link or to a group of its spheres, found by blocks: compiled.

Inlined in their callers: a call with all these arrays takes longer than what is to be done.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry.distances import block_farther, distance, farther, square_distance
from telerobot_nodes.cspace.geometry.forward_kinematics import Arm, IntArray, LinkPoses
from telerobot_nodes.cspace.geometry.obstacles import BLOCK, World


class NearRows(NamedTuple):
    """Rows of a world that are near to a link, and those of them near to one of its groups; scratch memory."""

    block: IntArray  # (blocks, 2) blocks that have rows near the link; the end of their rows in `of_link`
    of_link: IntArray  # (rows,)
    of_group: IntArray  # (rows,)


@numba.njit(error_model="numpy", inline="always")
def near_rows_of(world: World) -> NearRows:
    """Scratch memory for the rows of `world`."""
    rows = world.reach.size
    return NearRows(np.empty((world.blocks.shape[0], 2), np.int64), np.empty(rows, np.int64), np.empty(rows, np.int64))


@numba.njit(cache=True, error_model="numpy")
def may_touch(arm: Arm, world: World, g: int, o: int) -> bool:
    """True when the body of group `g` is allowed to touch obstacle `o`."""
    return bool(world.allowed[o] >> arm.group_body[g] & 1)


@numba.njit(error_model="numpy", inline="always")
def rows_near_link(arm: Arm, world: World, poses: LinkPoses, k: int, gap: float, near: NearRows) -> int:
    """The rows that may be nearer than `gap` [m] to the centre of link `k` into `near`; the number of their blocks.

    Rows of blocks smaller than the link are not looked at one by one: most of them would be near.
    """
    point, blocks, count = poses.link[k], 0, 0
    for block in range(world.blocks.shape[0]):
        if block_farther(world, block, point, max(gap, 0.0)):
            continue
        small, before = world.blocks[block, 3] < arm.link_radius[k], count
        for o in range(BLOCK * block, min(BLOCK * (block + 1), world.reach.size)):
            if small or not (farther(world, o, point, max(gap, 0.0)) or distance(world, o, point) >= gap):
                near.of_link[count] = o
                count += 1
        if count > before:
            near.block[blocks, 0], near.block[blocks, 1] = block, count
            blocks += 1
    return blocks


@numba.njit(error_model="numpy", inline="always")
def rows_near_group(arm: Arm, world: World, poses: LinkPoses, g: int, gap: float, near: NearRows, blocks: int) -> int:
    """Those rows of its link that are nearer than `gap` [m] to the centre of group `g` into `near`; their number."""
    point, i, count = poses.group[g], 0, 0
    for j in range(blocks):
        if block_farther(world, near.block[j, 0], point, max(gap, 0.0)):
            i = near.block[j, 1]
            continue
        while i < near.block[j, 1]:
            o = near.of_link[i]
            i += 1
            if not (
                may_touch(arm, world, g, o)
                or farther(world, o, point, max(gap, 0.0))
                or distance(world, o, point) >= gap
            ):
                near.of_group[count] = o
                count += 1
    return count


@numba.njit(error_model="numpy", inline="always")
def nearest_block(world: World, point: FloatArray) -> int:
    """The block whose sphere's surface is nearest to `point` (3,)."""
    least, found = np.inf, 0
    for block in range(world.blocks.shape[0]):
        away = math.sqrt(square_distance(world.blocks[block, :3], point)) - world.blocks[block, 3]
        if away < least:
            least, found = away, block
    return found


@numba.njit(error_model="numpy", inline="always")
def rows_of_block(world: World, block: int, near: NearRows) -> int:
    """The rows of a block into `near`; the number of blocks, 1."""
    count = 0
    for o in range(BLOCK * block, min(BLOCK * (block + 1), world.reach.size)):
        near.of_link[count] = o
        count += 1
    near.block[0, 0], near.block[0, 1] = block, count
    return 1
