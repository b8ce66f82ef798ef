"""The nodes of two trees in joint space, and the fixed sequence they are grown by: compiled.

How far two configurations are apart is told in metres: each joint's turn times its lever, the furthest that anything
it carries can be from its axis. A turn of the shoulder is a long way, one of the wrist a short one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.batch import SingleArray
from telerobot_nodes.cspace.lanes import LANES, load, spread, store, where_below
from telerobot_nodes.cspace.placing import IntArray

FAR = np.float32(1e6)  # [m] where lanes without a node are
SHORTEST = 0.05  # [-] of the longest lever: no joint counts for less


class Trees(NamedTuple):
    """Nodes of both trees; row 0 is the root."""

    nodes: FloatArray  # (2, most, n) [rad]
    lever: FloatArray  # (n,) [m] of each joint; 1 where it slides
    rows: SingleArray  # (2 most n,) nodes times levers [m], by sixteens, joint by joint
    parent: IntArray  # (2, most)
    size: IntArray  # (2,)
    meeting: IntArray  # (2,) the nodes that meet
    sample: FloatArray  # (n,)
    step: FloatArray  # (n,)
    best: SingleArray  # (2 rows) least squared distance of each lane, and its block
    state: IntArray  # (1,) of the sequence
    beside: FloatArray  # (LANES, n) [rad] places beside a motion that was refused
    nearer: FloatArray  # (LANES,) [m] how much nearer each is to the target; below 0: not to be tried


def trees_of(lever: FloatArray, most: int) -> Trees:
    """Scratch memory for two trees of `most` nodes each, rounded up to whole rows, of joints with `lever` (n,) [m]."""
    i, most, dof = np.int64, -(-most // LANES) * LANES, lever.size
    z = np.zeros
    return Trees(
        z((2, most, dof)),
        np.maximum(lever, SHORTEST * lever.max()),
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


@numba.njit(error_model="numpy", inline="always")
def _next_word(state: IntArray) -> np.uint64:
    """The next 64 bits of a fixed sequence (Marsaglia's xorshift)."""
    x = np.uint64(state[0])
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = np.int64(x)
    return x


@numba.njit(cache=True, error_model="numpy")
def next_number(state: IntArray) -> float:
    """The next number of the sequence, 0 .. 1."""
    return float(_next_word(state) >> np.uint64(11)) / 9007199254740992.0


@numba.njit(cache=True, error_model="numpy")
def normal_number(state: IntArray) -> float:
    """The next number of the sequence, spread nearly as the normal distribution: the sum of four of 16 bits."""
    x, part = _next_word(state), np.uint64(0xFFFF)
    total = (x & part) + (x >> np.uint64(16) & part) + (x >> np.uint64(32) & part) + (x >> np.uint64(48))
    return (float(total) / 65535.0 - 2.0) * math.sqrt(3.0)


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
        trees.rows[first + r * LANES + lane] = q[r] * trees.lever[r]
    trees.parent[tree, node] = parent
    trees.size[tree] = node + 1
    return int(node)


@numba.njit(cache=True, error_model="numpy")
def distance(trees: Trees, a: FloatArray, b: FloatArray) -> float:
    """How far two configurations are apart [m]."""
    total = 0.0
    for r in range(a.size):
        total += ((a[r] - b[r]) * trees.lever[r]) ** 2
    return math.sqrt(total)


@numba.njit(cache=True, error_model="numpy")
def nearest_node(trees: Trees, tree: int, q: FloatArray) -> int:
    """The node of a tree nearest to `q`."""
    n, first = q.size, tree * (trees.parent.shape[1] // LANES) * q.size
    least, where = spread(1e12), spread(0.0)
    for block in range((trees.size[tree] + LANES - 1) // LANES):
        total = spread(0.0)
        for r in range(n):
            d = load(trees.rows, first + block * n + r) - q[r] * trees.lever[r]
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
