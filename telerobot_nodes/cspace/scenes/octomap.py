"""Octomaps: the occupied voxels of an octomap_msgs/Octomap message.

An octomap halves a cube of 2^16 voxels an edge, centred at the origin of its frame, until a cube is occupied or free as
a whole. In the binary form each node has two bits for each of its eight children: 0 unknown, 1 free, 2 occupied, 3 has
children itself; in the full form a node has the logarithm of its odds and a bit for each child. Nodes follow depth
first. Unknown space counts as free, as in MoveIt.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.values import in_range, pose_from_se3
from telerobot_nodes.cspace.geometry import PART, Voxels
from telerobot_nodes.errors import InvalidValueError

NAME = "<octomap>"  # MoveIt's name of it, as in allowed collision matrices
DEPTH = 16  # halvings from the whole cube to a voxel
MOST_VOXELS = 6000  # of one map; finer ones are merged
FREE, OCCUPIED, INNER = 1, 2, 3
FULL_NODE = struct.Struct("<fB")  # logarithm of the odds, children as bits

Cube = tuple[int, int, int, int]  # place of its lowest corner [voxels], and its depth


def octomap_voxels(message: Any, T_world_map: pin.SE3) -> list[Voxels]:
    """Boxes that hold every occupied voxel of an Octomap message, by size; merged until MOST_VOXELS are left.

    Raises InvalidValueError on other trees, a resolution that is none, and data that end too early or too late.
    """
    if message.id not in ("OcTree", ""):
        raise InvalidValueError("octomap.id", message.id, "allowed: OcTree")
    edge = in_range(float(message.resolution), "octomap.resolution", 1e-3, 10.0, "m")
    data = np.array(message.data, dtype=np.int64).astype(np.uint8).tobytes()
    cubes = np.array(_merged(_read_cubes(data, bool(message.binary))), dtype=np.int64).reshape(-1, 4)
    pose = tuple(pose_from_se3(T_world_map).tolist())
    found = []
    for depth in np.unique(cubes[:, 3]).tolist():
        size = edge * 2 ** (DEPTH - depth)
        lowest = cubes[cubes[:, 3] == depth, :3] - 2 ** (DEPTH - 1)
        found.append(Voxels(f"{NAME}{PART}{depth}", size=(size,) * 3, pose=pose, centers=edge * lowest + 0.5 * size))
    return found


def _read_cubes(data: bytes, binary: bool) -> list[Cube]:
    """The occupied leaves."""
    found: list[Cube] = []
    stack: list[Cube] = [(0, 0, 0, 0)]
    at = 0
    while stack:
        cube = stack.pop()
        size = 2 if binary else FULL_NODE.size
        if at + size > len(data):
            raise InvalidValueError("octomap.data (length)", len(data), f"allowed: more, a node begins at {at}")
        inner, occupied = _node(data, at, binary)
        at += size
        if cube[3] == DEPTH and (inner or (binary and occupied)):
            raise InvalidValueError(f"octomap.data[{at - size}]", data[at - 1], f"allowed: up to {DEPTH} levels")
        if binary:
            found += [_child(cube, i) for i in occupied]
        elif not inner and occupied:
            found.append(cube)
        stack += [_child(cube, i) for i in reversed(inner)]
    if at < len(data):
        raise InvalidValueError("octomap.data (length)", len(data), f"allowed: {at}, where the tree ends")
    return found


def _node(data: bytes, at: int, binary: bool) -> tuple[list[int], list[int]]:
    """The children that follow, and those that are occupied; in the full form the latter is the node itself."""
    if binary:
        bits = int.from_bytes(data[at : at + 2], "little")
        kinds = [bits >> 2 * i & 3 for i in range(8)]
        return [i for i in range(8) if kinds[i] == INNER], [i for i in range(8) if kinds[i] == OCCUPIED]
    odds, bits = FULL_NODE.unpack_from(data, at)
    if np.isnan(odds):
        raise InvalidValueError(f"octomap.data[{at}]", odds, "allowed: numbers")
    return [i for i in range(8) if bits >> i & 1], [0] if odds > 0.0 else []


def _child(cube: Cube, number: int) -> Cube:
    x, y, z, depth = cube
    size = 2 ** (DEPTH - depth - 1)
    return x + size * (number & 1), y + size * (number >> 1 & 1), z + size * (number >> 2), depth + 1


def _merged(cubes: list[Cube]) -> list[Cube]:
    """The cubes, or the larger ones that hold them, until few enough are left."""
    depth = DEPTH
    while len(cubes) > MOST_VOXELS:
        depth -= 1
        cubes = sorted({_above(cube, depth) for cube in cubes})
    return cubes


def _above(cube: Cube, depth: int) -> Cube:
    """The cube of a depth that holds another one; itself where that is larger."""
    if cube[3] <= depth:
        return cube
    size = 2 ** (DEPTH - depth)
    return cube[0] // size * size, cube[1] // size * size, cube[2] // size * size, depth
