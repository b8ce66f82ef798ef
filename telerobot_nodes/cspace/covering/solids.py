"""Convex solids as point clouds, and spheres that are proved to cover them.

A solid is cut by planes into convex pieces; each piece is the hull of its points, and a sphere that holds the points
holds the piece. So the union of the spheres holds the solid, whatever the cuts were.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.values import FloatArray

EVERY_GRID = 2.0  # cuts of the thinnest side up to which every grid is tried
FACES = 24  # of a hull along which a box is tried
PARALLEL = 1.0 - 1e-9  # [-] cosine of normals that count as one
THINNEST = 1e-6  # [m] of a box that holds a flat cloud
SIDES = 16  # of the prism around a cylinder; 2 % wider than the cylinder at its edges


@dataclass(frozen=True)
class CollisionSphere:
    """A sphere; `center` (3,) [m], `radius` [m]."""

    center: FloatArray
    radius: float


def box_points(size: FloatArray) -> FloatArray:
    """Corners (8, 3) [m] of a box of edge lengths `size` (3,) around the origin."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    return 0.5 * signs * size


def cylinder_points(radius: float, length: float) -> FloatArray:
    """Corners of a prism around a cylinder along z."""
    angle = 2.0 * math.pi * np.arange(SIDES) / SIDES
    wide = radius / math.cos(math.pi / SIDES)
    ring = np.stack([wide * np.cos(angle), wide * np.sin(angle)], axis=1)
    ends = [np.column_stack([ring, np.full(SIDES, z)]) for z in (-0.5 * length, 0.5 * length)]
    return np.vstack(ends)


def bounding_sphere(points: FloatArray, rounds: int = 60) -> CollisionSphere:
    """A sphere that holds every point, nearly the smallest (Badoiu and Clarkson's iteration)."""
    center = 0.5 * (points.min(axis=0) + points.max(axis=0))
    best = CollisionSphere(center, float(np.linalg.norm(points - center, axis=1).max()))
    for k in range(rounds):
        distances = np.linalg.norm(points - center, axis=1)
        far = int(distances.argmax())
        if distances[far] < best.radius:
            best = CollisionSphere(center.copy(), float(distances[far]))
        center = center + (points[far] - center) / (k + 2.0)
    return best


def cover(points: FloatArray, tolerance: float, most: int = 12, cuts: float = 2.0) -> list[CollisionSphere]:
    """Spheres that hold the hull of `points`, `most` at most, one per cell of a grid along the axes.

    The coarsest grid whose spheres stand out of the solid by `tolerance` [m] or less; else the closest fitting one.
    The grid cuts no axis finer than the thinnest side divided by `cuts`.
    """
    points = hull_points(points)
    facets = _facets(points)
    best, least = [bounding_sphere(points)], math.inf
    for grid in _grids(np.ptp(points, axis=0), most, cuts):
        spheres = [_sphere_around(piece) for piece in _pieces(points, grid)]
        excess = max(_excess(sphere, facets) for sphere in spheres)
        if excess < least - 1e-6:
            best, least = spheres, excess
        if least <= tolerance:
            break
    return best


def _grids(extent: FloatArray, most: int, cuts: float) -> list[tuple[int, int, int]]:
    """Divisions of the three axes into `most` cells or fewer: every one for few cuts, else those of nearly cubes."""
    limit = np.minimum(np.ceil(cuts * extent / max(float(extent.min()), 1e-3)), most).astype(int)
    x, y, z = (range(1, n + 1) for n in limit)
    if cuts <= EVERY_GRID:
        grids = [(i, j, k) for i in x for j in y for k in z if i * j * k <= most]
    else:
        cubes = [np.ceil(extent * n / float(extent.max())) for n in range(1, int(limit.max()) + 1)]
        shapes = [np.minimum(np.maximum(cube, 1), limit).astype(int).tolist() for cube in cubes]
        grids = list({(i, j, k): None for i, j, k in shapes if i * j * k <= most})
    return sorted(grids, key=lambda g: g[0] * g[1] * g[2])


def _pieces(points: FloatArray, grid: tuple[int, int, int]) -> list[FloatArray]:
    """The parts of the hull of `points` in the cells of a grid over its box."""
    low, high = points.min(axis=0), points.max(axis=0)
    pieces = [points]
    for axis, count in enumerate(grid):
        for i in range(1, count):
            level = low[axis] + (high[axis] - low[axis]) * i / count
            split = [_halves(piece, axis, level) for piece in pieces]
            pieces = [part for pair in split for part in pair if len(part)]
    return pieces


def protrusion(spheres: Iterable[CollisionSphere], points: FloatArray) -> float:
    """Upper bound [m] on how far spheres stand out of the hull of `points`."""
    facets = _facets(points)
    return max(_excess(sphere, facets) for sphere in spheres)


@dataclass(frozen=True)
class OrientedBox:
    """A box: its axes are the columns of `rotation` (3, 3)."""

    rotation: FloatArray
    center: FloatArray  # (3,) [m]
    size: FloatArray  # (3,) [m] edges

    @property
    def corners(self) -> FloatArray:
        """(8, 3) [m]."""
        return np.asarray(box_points(self.size) @ self.rotation.T + self.center)


def oriented_box(points: FloatArray) -> OrientedBox:
    """A small box that holds `points`, one of its faces along one of their hull's."""
    boxes = [_box_along(points, normal) for normal in _face_normals(points)]
    return min(boxes, key=lambda box: float(np.prod(np.maximum(box.size, THINNEST))))


def _face_normals(points: FloatArray) -> FloatArray:
    """Normals (k, 3) of the hull's facets, those of the first FACES that differ; of a flat cloud that of its plane."""
    facets = _facets(points)
    if not facets.size:
        return np.linalg.svd(points - points.mean(axis=0))[2][-1:]
    kept: list[FloatArray] = []
    for normal in facets[:, :3]:
        if len(kept) < FACES and all(abs(float(normal @ other)) < PARALLEL for other in kept):
            kept.append(normal)
    return np.array(kept)


def _box_along(points: FloatArray, normal: FloatArray) -> OrientedBox:
    """The smallest box that holds `points` with faces across `normal`."""
    first = np.linalg.svd(normal.reshape(1, 3))[2][1:]
    flat = points @ first.T
    edges = _outline_edges(flat)
    directions = edges / np.maximum(np.linalg.norm(edges, axis=1, keepdims=True), 1e-12)
    across = np.column_stack([-directions[:, 1], directions[:, 0]])
    areas = np.ptp(flat @ directions.T, axis=0) * np.ptp(flat @ across.T, axis=0)
    best = int(areas.argmin())
    x = directions[best] @ first
    rotation = np.column_stack([x, np.cross(normal, x), normal])
    local = points @ rotation
    low, high = local.min(axis=0), local.max(axis=0)
    return OrientedBox(rotation, rotation @ (0.5 * (low + high)), high - low)


def _outline_edges(flat: FloatArray) -> FloatArray:
    """Edges (k, 2) of the outline of points in a plane; the longest extent of points on a line."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        outline = flat[ConvexHull(flat).vertices]
    except (QhullError, ValueError):
        return np.asarray(np.linalg.svd(flat - flat.mean(axis=0))[2][:1])
    return np.asarray(np.roll(outline, -1, axis=0) - outline)


def _sphere_around(points: FloatArray) -> CollisionSphere:
    """A sphere around the middle of the points' box that holds them."""
    center = 0.5 * (points.min(axis=0) + points.max(axis=0))
    return CollisionSphere(center, float(np.linalg.norm(points - center, axis=1).max()))


def cover_capsule(a: FloatArray, b: FloatArray, radius: float, tolerance: float) -> list[CollisionSphere]:
    """Spheres that hold every point within `radius` of the line from `a` to `b`."""
    length = float(np.linalg.norm(b - a))
    half_most = math.sqrt((radius + tolerance) ** 2 - radius**2)
    count = max(math.ceil(length / (2.0 * half_most)), 1)
    half = 0.5 * length / count
    middles = [a + (b - a) * (i + 0.5) / count for i in range(count)]
    inner = [CollisionSphere(middle, math.hypot(radius, half)) for middle in middles]
    return (
        [CollisionSphere(a, radius), *inner, CollisionSphere(b, radius)]
        if length > 0.0
        else [CollisionSphere(a, radius)]
    )


def hull_points(points: FloatArray) -> FloatArray:
    """The corners of the hull of `points`; all of them when the hull is flat."""
    from scipy.spatial import ConvexHull, QhullError  # half a second that nodes without hulls need not wait

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        return points
    return np.asarray(points[hull.vertices])


def slabs(vertices: FloatArray, faces: npt.NDArray[np.int64], thickness: float) -> list[FloatArray]:
    """Point clouds of slices of a closed surface across its longest side; their hulls hold what it encloses.

    A line inside a slice leaves the enclosed volume through the surface within that slice, on both sides.
    """
    axis = int(np.ptp(vertices, axis=0).argmax())
    low, high = float(vertices[:, axis].min()), float(vertices[:, axis].max())
    count = max(math.ceil((high - low) / thickness), 1)
    edges = vertices[np.vstack([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).astype(np.int64)]
    cuts = np.linspace(low, high, count + 1)
    return [_between(vertices, edges, axis, cuts[i], cuts[i + 1]) for i in range(count)]


def _between(vertices: FloatArray, edges: FloatArray, axis: int, low: float, high: float) -> FloatArray:
    inside = vertices[(vertices[:, axis] >= low) & (vertices[:, axis] <= high)]
    return np.vstack([inside, _crossings(edges, axis, low), _crossings(edges, axis, high)])


def _crossings(edges: FloatArray, axis: int, level: float) -> FloatArray:
    """Points (k, 3) where edges (n, 2, 3) cross the plane at `level` of `axis`."""
    start, end = edges[:, 0], edges[:, 1]
    across = (start[:, axis] - level) * (end[:, axis] - level) < 0.0
    start, end = start[across], end[across]
    part = (level - start[:, axis]) / (end[:, axis] - start[:, axis])
    return np.asarray(start + part[:, None] * (end - start))


def _facets(points: FloatArray) -> FloatArray:
    """Outward planes (k, 4) of the hull: n . x + d <= 0 inside; none for a flat hull."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return np.asarray(ConvexHull(points).equations)
    except (QhullError, ValueError):
        return np.empty((0, 4))


def _excess(sphere: CollisionSphere, facets: FloatArray) -> float:
    """Upper bound on the distance [m] by which the sphere protrudes from the solid."""
    if not facets.size:
        return sphere.radius
    depth = -(facets[:, :3] @ sphere.center + facets[:, 3])
    return sphere.radius - float(depth.min())


def _halves(points: FloatArray, axis: int, middle: float) -> tuple[FloatArray, FloatArray]:
    """The two parts of the hull of `points` on either side of a plane; empty where it has none."""
    low = points[points[:, axis] <= middle]
    high = points[points[:, axis] > middle]
    if not len(low) or not len(high):
        return low, high
    pairs = np.stack([np.repeat(low, len(high), axis=0), np.tile(high, (len(low), 1))], axis=1)
    cut = _crossings(pairs, axis, middle)
    return hull_points(np.vstack([low, cut])), hull_points(np.vstack([high, cut]))
