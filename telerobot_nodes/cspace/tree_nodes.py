"""The nodes of two trees in joint space, and the fixed sequence they are grown by: compiled."""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.batch import SingleArray
from telerobot_nodes.cspace.lanes import LANES, load, spread, store, where_below
from telerobot_nodes.cspace.placing import IntArray

FAR = np.float32(1e6)  # [rad] where lanes without a node are


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
    beside: FloatArray  # (LANES, n) [rad] places beside a motion that was refused
    nearer: FloatArray  # (LANES,) [rad] how much nearer each is to the target; below 0: not to be tried


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
        z((LANES, dof)),
        z(LANES),
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
def add_node(trees: Trees, tree: int, q: FloatArray, parent: int) -> int:
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
def normal_number(state: IntArray) -> float:
    """The next number of the sequence, spread as the normal distribution (Box and Muller)."""
    radius = math.sqrt(-2.0 * math.log(max(next_number(state), 1e-12)))
    return radius * math.cos(2.0 * math.pi * next_number(state))
