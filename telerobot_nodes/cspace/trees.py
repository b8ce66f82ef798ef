"""Two trees of proved straight motions, grown towards each other: compiled.

The systematic selection goes on behind the trial paths with a fixed sequence of places spread over the joint space:
the same problem gives the same path. Every edge is proved free as it is made.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.batch import SingleArray
from telerobot_nodes.cspace.edges import Edges, edge_free
from telerobot_nodes.cspace.lanes import LANES, apart, load, spread, store, where_below
from telerobot_nodes.cspace.obstacles import World
from telerobot_nodes.cspace.placing import Arm, IntArray

REACH = 1.2  # [rad] longest edge of a tree
SEED = 88172645463325252  # of the sequence
FAR = np.float32(1e6)  # [rad] where lanes without a node are

FOUND = 1
FULL = 0
SPENT = -1


class Trees(NamedTuple):
    """Nodes of both trees; row 0 is the root."""

    nodes: FloatArray  # (2, most, n) [rad]
    rows: SingleArray  # (2 most n,) the same by sixteens, joint by joint
    parent: IntArray  # (2, most)
    size: IntArray  # (2,)
    meeting: IntArray  # (2,) the nodes that meet
    sample: FloatArray  # (n,)
    step: FloatArray  # (n,)
    best: SingleArray  # (2 rows) least squared distance of each lane, and its block
    state: IntArray  # (1,) of the sequence


def trees_of(dof: int, most: int) -> Trees:
    """Scratch memory for two trees of `most` nodes each, rounded up to whole rows."""
    i, most = np.int64, -(-most // LANES) * LANES
    z = np.zeros
    return Trees(
        z((2, most, dof)),
        z(2 * most * dof, np.float32),
        z((2, most), i),
        z(2, i),
        z(2, i),
        z(dof),
        z(dof),
        z(2 * LANES, np.float32),
        z(1, i),
    )


@numba.njit(cache=True, error_model="numpy")
def next_number(state: IntArray) -> float:
    """The next number of a fixed sequence (Marsaglia's xorshift), 0 .. 1."""
    x = np.uint64(state[0])
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = np.int64(x)
    return float(x >> np.uint64(11)) / 9007199254740992.0


@numba.njit(cache=True, error_model="numpy")
def _add(trees: Trees, tree: int, q: FloatArray, parent: int) -> int:
    """A new node; its number."""
    node, n, most = trees.size[tree], q.size, trees.parent.shape[1]
    first, lane = (tree * most + node - node % LANES) * n, node % LANES
    for r in range(n):
        if lane == 0:
            for other in range(LANES):
                trees.rows[first + r * LANES + other] = FAR
        trees.nodes[tree, node, r] = q[r]
        trees.rows[first + r * LANES + lane] = q[r]
    trees.parent[tree, node] = parent
    trees.size[tree] = node + 1
    return int(node)


@numba.njit(cache=True, error_model="numpy")
def nearest_node(trees: Trees, tree: int, q: FloatArray) -> int:
    """The node of a tree nearest to `q`."""
    n, first = q.size, tree * (trees.parent.shape[1] // LANES) * q.size
    least, where = spread(1e12), spread(0.0)
    for block in range((trees.size[tree] + LANES - 1) // LANES):
        total = spread(0.0)
        for r in range(n):
            d = load(trees.rows, first + block * n + r) - q[r]
            total = total + d * d
        where = where_below(total, least, spread(float(block)), where)
        least = where_below(total, least, total, least)
    store(trees.best, 0, least)
    store(trees.best, 1, where)
    lane = 0
    for other in range(1, LANES):
        if trees.best[other] < trees.best[lane]:
            lane = other
    return int(trees.best[LANES + lane]) * LANES + lane


@numba.njit(error_model="numpy", inline="always")
def _extend(world: World, edges: Edges, trees: Trees, tree: int, near: int, target: FloatArray, finest: float) -> int:
    """One proved edge from node `near` towards `target`: 2 reached, 1 nearer, 0 none."""
    if trees.size[tree] == trees.parent.shape[1]:
        return 0
    start, new = trees.nodes[tree, near], trees.step
    length = 0.0
    for r in range(target.size):
        length += (target[r] - start[r]) ** 2
    scale = min(1.0, REACH / max(math.sqrt(length), 1e-12))
    for r in range(target.size):
        new[r] = target[r] if scale >= 1.0 else start[r] + scale * (target[r] - start[r])
    if not edge_free(world, edges, start, new, finest):
        return 0
    _add(trees, tree, new, near)
    return 2 if scale >= 1.0 else 1


@numba.njit(error_model="numpy", inline="always")
def _connect(world: World, edges: Edges, trees: Trees, tree: int, finest: float) -> bool:
    """Grow the other tree to the newest node of `tree` as far as the way is free; True when it gets there."""
    other, node = 1 - tree, trees.size[tree] - 1
    goal = trees.nodes[tree, node]
    near, got = nearest_node(trees, other, goal), 1
    while got == 1:
        got = _extend(world, edges, trees, other, near, goal, finest)
        near = trees.size[other] - 1
    trees.meeting[tree], trees.meeting[other] = node, trees.size[other] - 1
    return got == 2


@numba.njit(cache=True, error_model="numpy")
def grow(arm: Arm, world: World, edges: Edges, trees: Trees, a: FloatArray, b: FloatArray, finest: float) -> int:
    """Grow trees from `a` and `b` until they meet (FOUND), are FULL or the probes allowed are SPENT."""
    apart()
    trees.size[:] = 0
    trees.state[0] = SEED
    _add(trees, 0, a, -1)
    _add(trees, 1, b, -1)
    tree, sample = 0, trees.sample
    while edges.probes[0] < edges.probes[1]:
        for r in range(a.size):
            sample[r] = arm.lower[r] + next_number(trees.state) * (arm.upper[r] - arm.lower[r])
        if _extend(world, edges, trees, tree, nearest_node(trees, tree, sample), sample, finest) > 0 and _connect(
            world, edges, trees, tree, finest
        ):
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
