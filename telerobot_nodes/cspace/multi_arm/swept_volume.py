"""Swept volumes: spheres that hold an arm standing, or everything that it passes along a path, as obstacles."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.covering import CollisionSphere, bounding_sphere
from telerobot_nodes.cspace.geometry import (
    ArmGeometry,
    Obstacle,
    sphere_centers,
    sphere_motion_bounds,
    sphere_obstacles,
)


def standing_obstacles(geometry: ArmGeometry, q: FloatArray, name: str, links: int | None = None) -> list[Obstacle]:
    """The spheres of an arm standing at `q` as obstacles; of the first `links` links, default all."""
    arm = geometry.arm
    count = arm.sphere_first[arm.link_first[links if links is not None else arm.link_radius.size]]
    centers = sphere_centers(arm, q)
    return sphere_obstacles(name, [CollisionSphere(centers[b], float(arm.sphere_radius[b])) for b in range(int(count))])


def swept_obstacles(
    geometry: ArmGeometry, path: FloatArray, name: str = "swept", merge: float = 0.06
) -> list[Obstacle]:
    """Spheres that hold everything an arm passes on straight motions between rows (k, n) [rad], as obstacles.

    Each motion is cut in pieces that move no sphere more than `merge` [m].
    """
    found: list[CollisionSphere] = []
    arm = geometry.arm
    moving = arm.sphere_first[arm.link_first[1]]
    for a, b in pairwise(path):
        reach = sphere_motion_bounds(arm, 0.5 * (a + b), np.minimum(0.5 * np.abs(b - a), np.pi))
        pieces = max(int(np.ceil(float(reach.max()) / merge)), 1)
        for i in range(pieces):
            middle = a + (i + 0.5) / pieces * (b - a)
            moved = sphere_motion_bounds(arm, middle, 0.5 * np.abs(b - a) / pieces)
            centers = sphere_centers(arm, middle)
            found += [
                CollisionSphere(centers[m], float(arm.sphere_radius[m] + moved[m])) for m in range(moving, len(centers))
            ]
    return sphere_obstacles(name, _merged(found, merge))


def _merged(found: list[CollisionSphere], size: float) -> list[CollisionSphere]:
    """Fewer spheres that hold the same: those with centres in one cube of `size` become one."""
    cubes: dict[tuple[int, ...], list[CollisionSphere]] = {}
    for sphere in found:
        cubes.setdefault(tuple(np.floor(sphere.center / size).astype(int).tolist()), []).append(sphere)
    merged = []
    for group in cubes.values():
        middle = bounding_sphere(np.array([b.center for b in group]), 20).center
        radius = max(float(np.linalg.norm(b.center - middle)) + b.radius for b in group)
        merged.append(CollisionSphere(middle, radius))
    return merged
