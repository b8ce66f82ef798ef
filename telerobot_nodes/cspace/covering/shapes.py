"""The collision shapes of an arm's links, each as spheres that hold it.

Meshes are cut in slices, and each slice is replaced by its hull.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import coal
import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import LinkShape, RobotModel, link_shapes
from telerobot_nodes.core.values import FloatArray, IntArray
from telerobot_nodes.cspace.covering.solids import (
    CollisionSphere,
    box_points,
    cover,
    cover_capsule,
    cylinder_points,
    hull_points,
    slabs,
)
from telerobot_nodes.errors import ModelError

THIN = 0.5  # [-] of half the solid's thickness, where that is less than the tolerance
FINEST = 0.012  # [m] and no less than this, in the coarsest covering


@dataclass(frozen=True)
class Fineness:
    """How closely spheres cover shapes."""

    tolerance: float  # [m] by which a sphere may protrude from the solid it covers
    capsule: float  # [m] the same along rounded cylinders, which cost few spheres
    most: int  # spheres of one shape that is not a mesh
    of_slice: int  # spheres of one slice of a mesh
    slice: float  # [m] thickness of a mesh's slices
    cuts: float  # of the thinnest side, at most


COARSE = Fineness(tolerance=0.045, capsule=0.012, most=12, of_slice=2, slice=0.05, cuts=2.0)
FINE = Fineness(tolerance=0.008, capsule=0.004, most=64, of_slice=4, slice=0.03, cuts=4.0)


def arm_shapes(robot: RobotModel) -> list[tuple[int, coal.CollisionGeometry, pin.SE3]]:
    """Every collision shape: its joint in `robot.model` (0: the base, in WORLD), its solid, its pose in that frame."""
    return [(shape.link, shape.solid, T) for shape in link_shapes(robot) for T in shape.placements]


def spheres_of(shape: LinkShape, beside: Iterable[LinkShape], fineness: Fineness) -> list[CollisionSphere]:
    """Spheres that hold a shape wherever it may be on its link. `beside`: shapes of the arm, with their spheres."""
    rounded = _Rounded(beside)
    spheres = [sphere for turn in shape.turns for sphere in _turn_spheres(shape, turn, rounded, fineness)]
    return [replace(sphere, radius=sphere.radius + shape.slack) for sphere in spheres]


class _Rounded:
    """Which ends of cylinders carry a sphere of the same radius: those are capsules."""

    def __init__(self, shapes: Iterable[LinkShape]) -> None:
        self._spheres = [
            (s.link, s.turns[0][0].translation, s.solid.radius)
            for s in shapes
            if isinstance(s.solid, coal.Sphere) and len(s.placements) == 1
        ]

    def both_ends(self, shape: LinkShape) -> bool:
        return all(self._has(shape, sign * shape.solid.halfLength) for sign in (-1.0, 1.0))

    def _has(self, shape: LinkShape, z: float) -> bool:
        end = shape.turns[0][0].act(np.array([0.0, 0.0, z]))
        return any(
            link == shape.link and abs(radius - shape.solid.radius) < 1e-6 and np.linalg.norm(c - end) < 0.01
            for link, c, radius in self._spheres
        )


def _turn_spheres(
    shape: LinkShape, placements: tuple[pin.SE3, ...], rounded: _Rounded, fineness: Fineness
) -> list[CollisionSphere]:
    solid = shape.solid
    if isinstance(solid, coal.Sphere):
        return _swept_sphere(placements, solid.radius, fineness)
    if len(shape.placements) == 1 and isinstance(solid, coal.Cylinder) and rounded.both_ends(shape):
        ends = _capsule(placements[0], solid.radius, solid.halfLength, fineness)
        return ends[1:-1]  # its ends are shapes of their own
    if len(placements) == 1 and isinstance(solid, coal.Capsule):
        return _capsule(placements[0], solid.radius, solid.halfLength, fineness)
    spheres = []
    clouds = _points(shape, fineness)
    most = fineness.most if len(clouds) == 1 else fineness.of_slice
    for points in clouds:
        moved = np.vstack([(T.rotation @ points.T).T + T.translation for T in placements])
        spheres += cover(hull_points(moved), _tolerance(moved, fineness), most, fineness.cuts)
    return spheres


def _tolerance(points: FloatArray, fineness: Fineness) -> float:
    """Less for a thin solid."""
    thickness = float(np.ptp(points, axis=0).min())
    return min(fineness.tolerance, max(0.5 * THIN * thickness, min(FINEST, fineness.tolerance)))


def _swept_sphere(placements: tuple[pin.SE3, ...], radius: float, fineness: Fineness) -> list[CollisionSphere]:
    """Spheres that hold the hull of one sphere at several places."""
    centers = np.array([T.translation for T in placements])
    if len(centers) <= 2:
        return cover_capsule(centers[0], centers[-1], radius, fineness.capsule)
    return [CollisionSphere(s.center, s.radius + radius) for s in cover(centers, fineness.capsule, fineness.most)]


def _capsule(T: pin.SE3, radius: float, half_length: float, fineness: Fineness) -> list[CollisionSphere]:
    along = half_length * T.rotation[:, 2]
    return cover_capsule(T.translation - along, T.translation + along, radius, fineness.capsule)


def _points(shape: LinkShape, fineness: Fineness) -> list[FloatArray]:
    """Point clouds whose hulls together hold the shape."""
    solid = shape.solid
    if isinstance(solid, coal.Box):
        return [box_points(2.0 * solid.halfSide)]
    if isinstance(solid, coal.Cylinder):
        return [cylinder_points(solid.radius, 2.0 * solid.halfLength)]
    if isinstance(solid, coal.Capsule):
        return [cylinder_points(solid.radius, 2.0 * (solid.halfLength + solid.radius))]
    if isinstance(solid, coal.BVHModelBase):
        vertices = np.array([solid.vertex(i) for i in range(solid.num_vertices)])
        faces = np.array([[solid.tri_indices(i)[k] for k in range(3)] for i in range(solid.num_tris)], dtype=np.int64)
        return _mesh_points(shape.name, vertices, faces, fineness.slice)
    raise ModelError(f"{shape.name}: collision shape {type(solid).__name__} is not supported")


def _mesh_points(name: str, vertices: FloatArray, faces: IntArray, thickness: float) -> list[FloatArray]:
    if len(vertices) == 0 or not np.isfinite(vertices).all():
        raise ModelError(f"{name}: mesh of {len(vertices)} vertices, not all finite or none")
    return slabs(vertices, faces, thickness) if len(faces) else [vertices]
