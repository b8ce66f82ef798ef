"""The two trees of RRT-Connect: nodes, nearest neighbour, and a fixed pseudo-random sequence: compiled.

The metric is in metres: each joint's turn times its lever, the largest distance from its axis of anything it carries.
So a turn of the shoulder counts more than one of the wrist.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.values import FloatArray, IntArray
from telerobot_nodes.cspace.simd import LANES, SingleArray, broadcast, load, store, where_less

FAR = np.float32(1e6)  # [m] where lanes without a node are
SHORTEST = 0.05  # [-] of the longest lever: no joint counts for less
SEED = 88172645463325252  # of the sequence


class Trees(NamedTuple):
    """Nodes of both trees; node 0 is the root."""

    nodes: FloatArray  # (2, most, n) [rad]
    lever: FloatArray  # (n,) [m] of each joint; 1 where it slides
    rows: SingleArray  # (2 most n,) nodes times levers [m], by sixteens, joint by joint
    parent: IntArray  # (2, most) -1: root
    size: IntArray  # (2,) nodes
    meeting: IntArray  # (2,) the nodes that meet
    sample: FloatArray  # (n,) [rad]
    step: FloatArray  # (n,) [rad]
    best: SingleArray  # (2 rows) least squared distance of each lane, and its block
    random: Any  # record: `word`, state of the sequence
    contacts: FloatArray  # (LANES, n) [rad] samples around a motion that collides
    nearer: FloatArray  # (LANES,) [m] by how much each is nearer to the target; below 0: not to be tried


def trees_of(lever: FloatArray, most: int) -> Trees:
    """Scratch memory for two trees of `most` nodes each, rounded up to whole rows, of joints with `lever` (n,) [m]."""
    most, dof = -(-most // LANES) * LANES, lever.size
    zeros = np.zeros
    return Trees(
        nodes=zeros((2, most, dof)),
        lever=np.maximum(lever, SHORTEST * lever.max()),
        rows=zeros(2 * most * dof, np.float32),
        parent=zeros((2, most), np.int64),
        size=zeros(2, np.int64),
        meeting=zeros(2, np.int64),
        sample=zeros(dof),
        step=zeros(dof),
        best=zeros(2 * LANES, np.float32),
        random=random_sequence(),
        contacts=zeros((LANES, dof)),
        nearer=zeros(LANES),
    )


def random_sequence(seed: int = SEED) -> Any:
    """A sequence, as the record that `next_number` and `normal_number` advance."""
    return np.array([(seed,)], dtype=[("word", np.uint64)]).view(np.recarray)[0]


@numba.njit(error_model="numpy", inline="always")
def _next_word(random: Any) -> np.uint64:
    """The next 64 bits (xorshift [Marsaglia2003])."""
    word: np.uint64 = random.word
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    word ^= word << np.uint64(17)
    random.word = word
    return word


@numba.njit(cache=True, error_model="numpy")
def next_number(random: Any) -> float:
    """The next number of the sequence, uniform in 0 .. 1."""
    return float(_next_word(random) >> np.uint64(11)) / 9007199254740992.0


@numba.njit(cache=True, error_model="numpy")
def normal_number(random: Any) -> float:
    """The next number of the sequence, nearly standard normal: the scaled sum of four numbers of 16 bits."""
    word, low = _next_word(random), np.uint64(0xFFFF)
    total = (word & low) + (word >> np.uint64(16) & low) + (word >> np.uint64(32) & low) + (word >> np.uint64(48))
    return (float(total) / 65535.0 - 2.0) * math.sqrt(3.0)


@numba.njit(cache=True, error_model="numpy")
def add_node(trees: Trees, tree: int, q: FloatArray, parent: int) -> int:
    """Append a node at `q` (n,) [rad]; its number."""
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
    """Distance [m] of two configurations (n,) [rad]."""
    total = 0.0
    for r in range(a.size):
        total += ((a[r] - b[r]) * trees.lever[r]) ** 2
    return math.sqrt(total)


@numba.njit(cache=True, error_model="numpy")
def nearest_node(trees: Trees, tree: int, q: FloatArray) -> int:
    """The node of a tree nearest to `q` (n,) [rad], by exhaustive search, sixteen nodes at a time."""
    n, first = q.size, tree * (trees.parent.shape[1] // LANES) * q.size
    least, where = broadcast(1e12), broadcast(0.0)
    for block in range((trees.size[tree] + LANES - 1) // LANES):
        total = broadcast(0.0)
        for r in range(n):
            d = load(trees.rows, first + block * n + r) - q[r] * trees.lever[r]
            total = total + d * d
        where = where_less(total, least, broadcast(float(block)), where)
        least = where_less(total, least, total, least)
    store(trees.best, 0, least)
    store(trees.best, 1, where)
    lane = 0
    for other in range(1, LANES):
        if trees.best[other] < trees.best[lane]:
            lane = other
    return int(trees.best[LANES + lane]) * LANES + lane
