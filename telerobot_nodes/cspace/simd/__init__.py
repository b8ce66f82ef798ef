"""Sixteen-lane arithmetic for Numba, and batched kinematics and edge checks on top of it."""

from __future__ import annotations

from telerobot_nodes.cspace.simd.batch_kinematics import Arm32, Batch, SingleArray, arm32_of, batch_of, bound_motion
from telerobot_nodes.cspace.simd.collision_check import COLLIDES, check_batch
from telerobot_nodes.cspace.simd.simd16 import LANES, broadcast, load, noinline, store, where_less

__all__ = [
    "COLLIDES",
    "LANES",
    "Arm32",
    "Batch",
    "SingleArray",
    "arm32_of",
    "batch_of",
    "bound_motion",
    "broadcast",
    "check_batch",
    "load",
    "noinline",
    "store",
    "where_less",
]
