"""What a certificate is checked against, as arrays for compiled code: solids, and trees of voxels.

`SolidArrays` has a row for each obstacle, then one for each voxel. Voxels of one obstacle hang in a tree of boxes
along their edges: most of them need not be looked at.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.transforms import rotation_of_quaternion
from telerobot_nodes.core.values import FloatArray, IntArray
from telerobot_nodes.cspace.geometry import Obstacle, Voxels

BOX, SPHERE, CYLINDER, HALF_SPACE, CLOUD = 0, 1, 2, 3, 4
KINDS = {"box": BOX, "sphere": SPHERE, "cylinder": CYLINDER, "half_space": HALF_SPACE}
LEAF = 4  # voxels that are not told apart by a box around them
DEEPEST = 64  # of a tree


class SolidArrays(NamedTuple):
    """Solids in WORLD, a row each: obstacles first, then voxels, which are boxes."""

    kind: IntArray  # (k,)
    center: FloatArray  # (k, 3) [m]
    rotation: FloatArray  # (k, 3, 3) WORLD from the solid
    size: FloatArray  # (k, 3) [m] half edges | radius | radius, half length | -
    root: IntArray  # (k,) the node of a cloud
    low: FloatArray  # (nodes, 3) [m] of a box around a node's voxels, in the frame of their rotation
    high: FloatArray  # (nodes, 3) [m]
    child: IntArray  # (nodes, 2) nodes; of a leaf -1 - its first row, and its last row + 1


def solid_arrays(obstacles: list[Obstacle]) -> SolidArrays:
    """The arrays of `obstacles`; row i is obstacle i."""
    count = len(obstacles) + sum(len(o) for o in obstacles if isinstance(o, Voxels))
    kind, root = np.zeros(count, np.int64), np.zeros(count, np.int64)
    center, size, rotation = np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 3, 3))
    trees: list[tuple[FloatArray, FloatArray, IntArray]] = []
    row, nodes = len(obstacles), 0
    for i, obstacle in enumerate(obstacles):
        rotation_of_quaternion(np.array(obstacle.pose[3:]), rotation[i])
        center[i], kind[i], size[i] = obstacle.pose[:3], KINDS.get(obstacle.kind, CLOUD), _size(obstacle)
        if isinstance(obstacle, Voxels):
            places = obstacle.centers @ rotation[i].T + center[i]
            turned = places @ rotation[i]
            order, low, high, child = _tree(turned, size[i])
            rows, root[i] = slice(row, row + len(order)), nodes
            center[rows], size[rows], rotation[rows], kind[rows] = places[order], size[i], rotation[i], BOX
            trees.append((low, high, np.where(child[:, :1] < 0, child + np.array([-row, row]), child + nodes)))
            row, nodes = row + len(order), nodes + len(low)
    low = np.vstack([np.empty((0, 3)), *(tree[0] for tree in trees)])
    high = np.vstack([np.empty((0, 3)), *(tree[1] for tree in trees)])
    child = np.vstack([np.empty((0, 2), np.int64), *(tree[2] for tree in trees)])
    return SolidArrays(kind, center, rotation, size, root, low, high, child)


def _size(obstacle: Obstacle) -> tuple[float, float, float]:
    """Half edges; radius; radius and half length; nothing."""
    size = obstacle.size
    if obstacle.kind == "cylinder":
        return size[0], 0.5 * size[1], 0.0
    if obstacle.kind == "sphere":
        return size[0], 0.0, 0.0
    return (0.5 * size[0], 0.5 * size[1], 0.5 * size[2]) if size else (0.0, 0.0, 0.0)


@numba.njit(cache=True, error_model="numpy")
def _tree(centers: FloatArray, half: FloatArray) -> tuple[IntArray, FloatArray, FloatArray, IntArray]:
    """A tree of boxes around voxels of half edges `half` (3,): order of its rows; low, high, child of its nodes.

    Every node is cut at the median along the longest edge of its box.
    """
    count = len(centers)
    order, most = np.arange(count), 2 * count
    low, high, child = np.empty((most, 3)), np.empty((most, 3)), np.empty((most, 2), np.int64)
    child[0, 0], child[0, 1] = -1, count
    node, nodes = 0, 1
    while node < nodes:
        first, last = -1 - child[node, 0], child[node, 1]
        axis, widest = 0, -1.0
        for r in range(3):
            low[node, r] = high[node, r] = centers[order[first], r]
            for i in range(first, last):
                low[node, r] = min(low[node, r], centers[order[i], r])
                high[node, r] = max(high[node, r], centers[order[i], r])
            if high[node, r] - low[node, r] > widest:
                axis, widest = r, high[node, r] - low[node, r]
            low[node, r] -= half[r]
            high[node, r] += half[r]
        if last - first > LEAF:
            rows = order[first:last].copy()
            order[first:last] = rows[np.argsort(centers[rows, axis])]
            middle = (first + last) // 2
            child[nodes, 0], child[nodes, 1] = -1 - first, middle
            child[nodes + 1, 0], child[nodes + 1, 1] = -1 - middle, last
            child[node, 0], child[node, 1] = nodes, nodes + 1
            nodes += 2
        node += 1
    return order, low[:nodes], high[:nodes], child[:nodes]


@numba.njit(error_model="numpy", inline="always")
def distance_to_solid(
    kind: IntArray, center: FloatArray, R: FloatArray, size: FloatArray, o: int, x: float, y: float, z: float
) -> float:
    """Distance [m] of a point to row o of solids, not a cloud; below 0 inside: minus its depth."""
    x, y, z = x - center[o, 0], y - center[o, 1], z - center[o, 2]
    w = R[o, 0, 2] * x + R[o, 1, 2] * y + R[o, 2, 2] * z
    if kind[o] == SPHERE:
        found = math.sqrt(x * x + y * y + z * z) - size[o, 0]
    elif kind[o] == HALF_SPACE:
        found = w
    else:
        a = R[o, 0, 0] * x + R[o, 1, 0] * y + R[o, 2, 0] * z
        b = R[o, 0, 1] * x + R[o, 1, 1] * y + R[o, 2, 1] * z
        if kind[o] == CYLINDER:
            a, b, c = math.sqrt(a * a + b * b) - size[o, 0], -np.inf, abs(w) - size[o, 1]
        else:
            a, b, c = abs(a) - size[o, 0], abs(b) - size[o, 1], abs(w) - size[o, 2]
        found = max(a, b, c)
        if found > 0.0:
            a, b, c = max(a, 0.0), max(b, 0.0), max(c, 0.0)
            found = math.sqrt(a * a + b * b + c * c)
    return float(found)


@numba.njit(error_model="numpy", inline="always")
def distance_to_node(low: FloatArray, high: FloatArray, node: int, x: float, y: float, z: float) -> float:
    """Distance [m] of a point, in the frame of the node's rotation, to the box of a node; 0 inside."""
    a = max(low[node, 0] - x, x - high[node, 0], 0.0)
    b = max(low[node, 1] - y, y - high[node, 1], 0.0)
    c = max(low[node, 2] - z, z - high[node, 2], 0.0)
    return math.sqrt(a * a + b * b + c * c)
