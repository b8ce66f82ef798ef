"""Signed distances to obstacles, exact and compiled: positive outside, minus the depth inside."""

from __future__ import annotations

import math

import numba

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry.obstacles import BOX, CYLINDER, SPHERE, World


@numba.njit(cache=True, error_model="numpy")
def distance(world: World, o: int, point: FloatArray) -> float:
    """Signed distance [m] from `point` (3,) to the surface of obstacle `o`."""
    c, kind, size = world.center[o], world.kind[o], world.size[o]
    d0, d1, d2 = point[0] - c[0], point[1] - c[1], point[2] - c[2]
    if kind == SPHERE:
        return float(math.sqrt(d0 * d0 + d1 * d1 + d2 * d2) - size[0])
    R = world.rotation[o]
    z = R[0, 2] * d0 + R[1, 2] * d1 + R[2, 2] * d2
    if kind == BOX:
        x = abs(R[0, 0] * d0 + R[1, 0] * d1 + R[2, 0] * d2) - size[0]
        y = abs(R[0, 1] * d0 + R[1, 1] * d1 + R[2, 1] * d2) - size[1]
        z = abs(z) - size[2]
        outside = max(x, 0.0) ** 2 + max(y, 0.0) ** 2 + max(z, 0.0) ** 2
        return float(math.sqrt(outside) + min(max(x, y, z), 0.0))
    if kind == CYLINDER:
        across = math.sqrt(max(d0 * d0 + d1 * d1 + d2 * d2 - z * z, 0.0)) - size[0]
        z = abs(z) - size[1]
        return float(math.sqrt(max(across, 0.0) ** 2 + max(z, 0.0) ** 2) + min(max(across, z), 0.0))
    return float(z)


@numba.njit(cache=True, error_model="numpy")
def square_distance(a: FloatArray, b: FloatArray) -> float:
    """Squared distance [m^2] of two points (3,)."""
    d0, d1, d2 = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    return float(d0 * d0 + d1 * d1 + d2 * d2)


@numba.njit(cache=True, error_model="numpy")
def farther(world: World, o: int, point: FloatArray, gap: float) -> bool:
    """True when obstacle `o` is certainly more than `gap` [m] away from `point`; cheap."""
    c = world.center[o]
    d0, d1, d2 = point[0] - c[0], point[1] - c[1], point[2] - c[2]
    limit = world.reach[o] + gap
    return bool(d0 * d0 + d1 * d1 + d2 * d2 > limit * limit)


@numba.njit(cache=True, error_model="numpy")
def block_farther(world: World, block: int, point: FloatArray, gap: float) -> bool:
    """True when every row of a block is certainly more than `gap` [m], not negative, away from `point`."""
    b = world.blocks[block]
    d0, d1, d2 = point[0] - b[0], point[1] - b[1], point[2] - b[2]
    limit = b[3] + gap
    return bool(d0 * d0 + d1 * d1 + d2 * d2 > limit * limit)


@numba.njit(cache=True, error_model="numpy")
def nearest_point(world: World, o: int, point: FloatArray, normal: FloatArray) -> float:
    """`distance`, and the unit direction (3,) in which it grows fastest into `normal`."""
    c, kind, size, R = world.center[o], world.kind[o], world.size[o], world.rotation[o]
    d0, d1, d2 = point[0] - c[0], point[1] - c[1], point[2] - c[2]
    x = R[0, 0] * d0 + R[1, 0] * d1 + R[2, 0] * d2
    y = R[0, 1] * d0 + R[1, 1] * d1 + R[2, 1] * d2
    z = R[0, 2] * d0 + R[1, 2] * d1 + R[2, 2] * d2
    g0, g1, g2 = 0.0, 0.0, 1.0
    if kind == SPHERE:
        g0, g1, g2 = x, y, z
    elif kind == BOX:
        g0, g1, g2 = _box_direction(x, y, z, size)
    elif kind == CYLINDER:
        g0, g1, g2 = _cylinder_direction(x, y, z, size)
    length = math.sqrt(g0 * g0 + g1 * g1 + g2 * g2)
    if length < 1e-12:
        g0, g1, g2, length = 0.0, 0.0, 1.0, 1.0
    for r in range(3):
        normal[r] = (R[r, 0] * g0 + R[r, 1] * g1 + R[r, 2] * g2) / length
    return distance(world, o, point)


@numba.njit(cache=True, error_model="numpy")
def _box_direction(x: float, y: float, z: float, size: FloatArray) -> tuple[float, float, float]:
    a, b, c = abs(x) - size[0], abs(y) - size[1], abs(z) - size[2]
    if a <= 0.0 and b <= 0.0 and c <= 0.0:
        if a >= b and a >= c:
            return math.copysign(1.0, x), 0.0, 0.0
        if b >= c:
            return 0.0, math.copysign(1.0, y), 0.0
        return 0.0, 0.0, math.copysign(1.0, z)
    return math.copysign(max(a, 0.0), x), math.copysign(max(b, 0.0), y), math.copysign(max(c, 0.0), z)


@numba.njit(cache=True, error_model="numpy")
def _cylinder_direction(x: float, y: float, z: float, size: FloatArray) -> tuple[float, float, float]:
    across = math.sqrt(x * x + y * y)
    a, c = across - size[0], abs(z) - size[1]
    if a <= 0.0 and c <= 0.0:
        a, c = (1.0, 0.0) if a >= c else (0.0, 1.0)
    scale = max(a, 0.0) / max(across, 1e-12)
    return scale * x, scale * y, math.copysign(max(c, 0.0), z)
