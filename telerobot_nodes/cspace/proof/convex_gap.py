"""Lower bounds on the distance of two convex solids, for the checker of certificates: compiled.

For every unit vector n, the distance of two convex solids A and B is at least the least n x over x in A - B: n is a
direction that separates them. The search for a good n is that of GJK [Gilbert1988]: n points to the point nearest to
the origin of a simplex inside A - B. Whatever the search does, what it returns is such a bound, and so never more than
the true distance; where A and B overlap, it is minus a depth by which they can be parted.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.proof.solid_arrays import CYLINDER, SPHERE

STEPS = 40  # of the search
CLOSE = 1e-8  # [m] of the distance that the search may leave
OVERLAP = 1e-9  # [m] two solids are at least so deep in each other where no direction parts them


class Simplex(NamedTuple):
    """Scratch memory of one thread: up to four points of A - B."""

    point: FloatArray  # (4, 3) [m]
    weight: FloatArray  # (4,) of each in the point nearest to the origin


@numba.njit(cache=True, error_model="numpy")
def simplex_of() -> Simplex:
    """Scratch memory."""
    return Simplex(np.zeros((4, 3)), np.zeros(4))


@numba.njit(cache=True, error_model="numpy")
def gap_to_solid(
    corner: FloatArray,
    first: int,
    last: int,
    kind: int,
    center: FloatArray,
    R: FloatArray,
    size: FloatArray,
    enough: float,
    simplex: Simplex,
) -> float:
    """Lower bound [m] on the distance of the hull of corners `first` .. `last` to a box, cylinder or sphere's centre.

    `center` (3,) [m], `R` (3, 3), `size` (3,) [m] of that solid. The search ends where the bound reaches `enough` [m].
    """
    S, weight, best, count = simplex.point, simplex.weight, -np.inf, 0
    x, y, z = corner[first, 0] - center[0], corner[first, 1] - center[1], corner[first, 2] - center[2]
    for _ in range(STEPS):
        length = math.sqrt(x * x + y * y + z * z)
        if length < CLOSE:
            break
        i = _lowest(corner, first, last, x, y, z)
        a, b, c = _farthest(kind, R, size, x, y, z)
        S[count, 0] = corner[i, 0] - center[0] - a
        S[count, 1] = corner[i, 1] - center[1] - b
        S[count, 2] = corner[i, 2] - center[2] - c
        best = max(best, (x * S[count, 0] + y * S[count, 1] + z * S[count, 2]) / length)
        if best >= enough or (count > 0 and length - best < CLOSE):
            return float(best)
        count, x, y, z = _nearer(S, weight, count, length)
        if count == 0:
            return float(best)
    return float(best if best > 0.0 else min(best, -OVERLAP))


@numba.njit(cache=True, error_model="numpy")
def gap_of_hulls(
    corner: FloatArray, first: int, last: int, other: int, other_last: int, enough: float, simplex: Simplex
) -> float:
    """Lower bound [m] on the distance of two hulls of corners, `first` .. `last` and `other` .. `other_last`.

    The search ends where the bound reaches `enough` [m].
    """
    S, weight, best, count = simplex.point, simplex.weight, -np.inf, 0
    x = corner[first, 0] - corner[other, 0]
    y = corner[first, 1] - corner[other, 1]
    z = corner[first, 2] - corner[other, 2]
    for _ in range(STEPS):
        length = math.sqrt(x * x + y * y + z * z)
        if length < CLOSE:
            break
        i, j = _lowest(corner, first, last, x, y, z), _lowest(corner, other, other_last, -x, -y, -z)
        for r in range(3):
            S[count, r] = corner[i, r] - corner[j, r]
        best = max(best, (x * S[count, 0] + y * S[count, 1] + z * S[count, 2]) / length)
        if best >= enough or (count > 0 and length - best < CLOSE):
            return float(best)
        count, x, y, z = _nearer(S, weight, count, length)
        if count == 0:
            return float(best)
    return float(best if best > 0.0 else min(best, -OVERLAP))


@numba.njit(error_model="numpy", inline="always")
def _lowest(corner: FloatArray, first: int, last: int, x: float, y: float, z: float) -> int:
    """The corner of `first` .. `last` that is farthest against (x, y, z)."""
    best, least = first, np.inf
    for i in range(first, last):
        along = x * corner[i, 0] + y * corner[i, 1] + z * corner[i, 2]
        if along < least:
            best, least = i, along
    return best


@numba.njit(error_model="numpy", inline="always")
def _farthest(kind: int, R: FloatArray, size: FloatArray, x: float, y: float, z: float) -> tuple[float, float, float]:
    """The point of a solid that is farthest along (x, y, z) [m], from its centre."""
    a, b, c = 0.0, 0.0, 0.0
    if kind != SPHERE:
        u = R[0, 0] * x + R[1, 0] * y + R[2, 0] * z
        v = R[0, 1] * x + R[1, 1] * y + R[2, 1] * z
        w = R[0, 2] * x + R[1, 2] * y + R[2, 2] * z
        if kind == CYLINDER:
            across = math.sqrt(u * u + v * v)
            if across > 0.0:
                a, b = size[0] * u / across, size[0] * v / across
            c = math.copysign(size[1], w)
        else:
            a, b, c = math.copysign(size[0], u), math.copysign(size[1], v), math.copysign(size[2], w)
    return (
        R[0, 0] * a + R[0, 1] * b + R[0, 2] * c,
        R[1, 0] * a + R[1, 1] * b + R[1, 2] * c,
        R[2, 0] * a + R[2, 1] * b + R[2, 2] * c,
    )


@numba.njit(cache=True, error_model="numpy")
def _nearer(S: FloatArray, weight: FloatArray, count: int, before: float) -> tuple[int, float, float, float]:
    """Of a simplex of `count` points and a new one, keep those that hold the point nearest to the origin.

    Returns their number and that point: the origin where the simplex holds it; 0 when the point is no nearer than
    `before` [m]: rounding does not let it come nearer.
    """
    kept = _reduced(S, weight, count + 1)
    x, y, z = 0.0, 0.0, 0.0
    if kept == 4:
        return 4, x, y, z
    for i in range(kept):
        x, y, z = x + weight[i] * S[i, 0], y + weight[i] * S[i, 1], z + weight[i] * S[i, 2]
    if count > 0 and not x * x + y * y + z * z < before * before:
        return 0, x, y, z
    return kept, x, y, z


@numba.njit(cache=True, error_model="numpy")
def _reduced(S: FloatArray, weight: FloatArray, count: int) -> int:
    """Weights of the point of a simplex nearest to the origin; its points with weight are moved to the front.

    Returns their number; 4: the simplex holds the origin; 0: rounding left none.
    """
    for i in range(4):
        weight[i] = 0.0
    if count == 1:
        weight[0] = 1.0
    elif count == 2:
        weight[1] = _on_segment(S)
        weight[0] = 1.0 - weight[1]
    elif count == 3:
        weight[0], weight[1], weight[2] = _on_triangle(S, 0, 1, 2)
    elif not _on_tetrahedron(S, weight):
        return 4
    kept = 0
    for i in range(count):
        if weight[i] > 0.0:
            weight[kept] = weight[i]
            for r in range(3):
                S[kept, r] = S[i, r]
            kept += 1
    return kept


@numba.njit(error_model="numpy", inline="always")
def _on_segment(S: FloatArray) -> float:
    """Share of the second point in that of a segment nearest to the origin."""
    along, square = 0.0, 0.0
    for r in range(3):
        edge = S[1, r] - S[0, r]
        along, square = along - S[0, r] * edge, square + edge * edge
    return min(max(along / square, 0.0), 1.0) if square > 0.0 else 0.0


@numba.njit(cache=True, error_model="numpy")
def _on_triangle(S: FloatArray, i: int, j: int, k: int) -> tuple[float, float, float]:
    """Shares of points i, j, k in that of their triangle nearest to the origin, by the regions around it [Ericson2004].

    Of each point the steps to the origin are taken along both edges from point i.
    """
    a1, a2, b1, b2, c1, c2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for r in range(3):
        u, v = S[j, r] - S[i, r], S[k, r] - S[i, r]
        a1, a2 = a1 - S[i, r] * u, a2 - S[i, r] * v
        b1, b2 = b1 - S[j, r] * u, b2 - S[j, r] * v
        c1, c2 = c1 - S[k, r] * u, c2 - S[k, r] * v
    of_c, of_b, of_a = a1 * b2 - b1 * a2, c1 * a2 - a1 * c2, b1 * c2 - c1 * b2
    if a1 <= 0.0 and a2 <= 0.0:
        a, b, c = 1.0, 0.0, 0.0
    elif b1 >= 0.0 and b2 <= b1:
        a, b, c = 0.0, 1.0, 0.0
    elif c2 >= 0.0 and c1 <= c2:
        a, b, c = 0.0, 0.0, 1.0
    elif of_c <= 0.0 and a1 >= 0.0 and b1 <= 0.0:
        a, b, c = -b1, a1, 0.0
    elif of_b <= 0.0 and a2 >= 0.0 and c2 <= 0.0:
        a, b, c = -c2, 0.0, a2
    elif of_a <= 0.0 and b2 >= b1 and c1 >= c2:
        a, b, c = 0.0, c1 - c2, b2 - b1
    else:
        a, b, c = of_a, of_b, of_c
    total = a + b + c
    return a / total, b / total, c / total


@numba.njit(cache=True, error_model="numpy")
def _on_tetrahedron(S: FloatArray, weight: FloatArray) -> bool:
    """Weights (4,) of the point of a tetrahedron (4, 3) nearest to the origin; False: it holds the origin."""
    outside, least = False, np.inf
    for apex in range(4):
        i, j, k = (apex + 1) % 4, (apex + 2) % 4, (apex + 3) % 4
        if not _parts(S, i, j, k, apex):
            continue
        outside = True
        a, b, c = _on_triangle(S, i, j, k)
        square = 0.0
        for r in range(3):
            square += (a * S[i, r] + b * S[j, r] + c * S[k, r]) ** 2
        if square < least:
            least = square
            weight[i], weight[j], weight[k], weight[apex] = a, b, c, 0.0
    return outside


@numba.njit(error_model="numpy", inline="always")
def _parts(S: FloatArray, i: int, j: int, k: int, apex: int) -> bool:
    """True when the plane of points i, j, k is between the origin and point `apex`, or holds one of them."""
    u0, u1, u2 = S[j, 0] - S[i, 0], S[j, 1] - S[i, 1], S[j, 2] - S[i, 2]
    v0, v1, v2 = S[k, 0] - S[i, 0], S[k, 1] - S[i, 1], S[k, 2] - S[i, 2]
    n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
    here = -(n0 * S[i, 0] + n1 * S[i, 1] + n2 * S[i, 2])
    there = n0 * (S[apex, 0] - S[i, 0]) + n1 * (S[apex, 1] - S[i, 1]) + n2 * (S[apex, 2] - S[i, 2])
    return bool(here * there <= 0.0)
