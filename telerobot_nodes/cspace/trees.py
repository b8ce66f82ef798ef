"""Two trees of proved straight motions, grown towards each other: compiled.

The systematic selection goes on behind the trial paths with a fixed low-discrepancy sequence (Halton) instead of
chance: it fills the space, and the same problem gives the same path. Every edge is proved free as it is made.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.edges import Edges, edge_free
from telerobot_nodes.cspace.obstacles import World
from telerobot_nodes.cspace.placing import Arm, IntArray, Places

REACH = 1.2  # [rad] longest edge of a tree
PRIMES = np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37], dtype=np.int64)

FOUND = 1
FULL = 0
SPENT = -1


class Trees(NamedTuple):
    """Nodes of both trees; row 0 is the root."""

    nodes: FloatArray  # (2, most, n) [rad]
    parent: IntArray  # (2, most)
    size: IntArray  # (2,)
    meeting: IntArray  # (2,) the nodes that meet
    sample: FloatArray  # (n,)
    step: FloatArray  # (n,)


def trees_of(dof: int, most: int) -> Trees:
    """Scratch memory for two trees of `most` nodes each."""
    i = np.int64
    return Trees(
        np.zeros((2, most, dof)), np.zeros((2, most), i), np.zeros(2, i), np.zeros(2, i), np.zeros(dof), np.zeros(dof)
    )


@numba.njit(cache=True, error_model="numpy")
def halton(index: int, base: int) -> float:
    """Element `index` of the Halton sequence to `base`, 0 .. 1."""
    value, part = 0.0, 1.0
    while index > 0:
        part /= base
        value += part * (index % base)
        index //= base
    return value


@numba.njit(cache=True, error_model="numpy")
def _nearest_node(nodes: FloatArray, size: int, q: FloatArray) -> int:
    best, least = 0, math.inf
    for i in range(size):
        total = 0.0
        for r in range(q.size):
            d = nodes[i, r] - q[r]
            total += d * d
        if total < least:
            best, least = i, total
    return best


@numba.njit(cache=True, error_model="numpy")
def _extend(
    arm: Arm, world: World, at: Places, edges: Edges, trees: Trees, tree: int, target: FloatArray, finest: float
) -> int:
    """One proved edge from the nearest node towards `target`: 2 reached, 1 nearer, 0 none."""
    size = trees.size[tree]
    if size == trees.parent.shape[1]:
        return 0
    near = _nearest_node(trees.nodes[tree], size, target)
    start, new = trees.nodes[tree, near], trees.nodes[tree, size]
    length = 0.0
    for r in range(target.size):
        length += (target[r] - start[r]) ** 2
    scale = min(1.0, REACH / max(math.sqrt(length), 1e-12))
    for r in range(target.size):
        new[r] = target[r] if scale >= 1.0 else start[r] + scale * (target[r] - start[r])
    if not edge_free(arm, world, at, edges, start, new, finest):
        return 0
    trees.parent[tree, size] = near
    trees.size[tree] = size + 1
    return 2 if scale >= 1.0 else 1


@numba.njit(cache=True, error_model="numpy")
def grow(
    arm: Arm, world: World, at: Places, edges: Edges, trees: Trees, a: FloatArray, b: FloatArray, finest: float
) -> int:
    """Grow trees from `a` and `b` until they meet (FOUND), are FULL or the probes allowed are SPENT."""
    trees.nodes[0, 0], trees.nodes[1, 0] = a, b
    trees.parent[:, 0] = -1
    trees.size[:] = 1
    tree, index = 0, 20
    sample = trees.sample
    while edges.probes[0] < edges.probes[1]:
        index += 1
        for r in range(a.size):
            sample[r] = arm.lower[r] + halton(index, PRIMES[r]) * (arm.upper[r] - arm.lower[r])
        if _extend(arm, world, at, edges, trees, tree, sample, finest) > 0:
            other = 1 - tree
            goal = trees.nodes[tree, trees.size[tree] - 1]
            got = 1
            while got == 1:
                got = _extend(arm, world, at, edges, trees, other, goal, finest)
            if got == 2:
                trees.meeting[tree] = trees.size[tree] - 1
                trees.meeting[other] = trees.size[other] - 1
                return FOUND
        if trees.size.max() == trees.parent.shape[1]:
            return FULL
        tree = 0 if trees.size[0] <= trees.size[1] else 1
    return SPENT


def tree_path(trees: Trees) -> FloatArray:
    """Waypoints (k, n) through the meeting of both trees, from the first root to the second."""
    sides = []
    for tree in range(2):
        rows, node = [], int(trees.meeting[tree])
        while node >= 0:
            rows.append(trees.nodes[tree, node].copy())
            node = int(trees.parent[tree, node])
        sides.append(rows)
    return np.array(sides[0][::-1] + sides[1][1:])
