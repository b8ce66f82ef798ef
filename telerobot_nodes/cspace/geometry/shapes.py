"""The collision shapes of a URDF on the links of an arm, each as spheres that hold it.

Meshes are cut in slices and each slice replaced by its hull. Joints that are not of the arm (fingers) are covered
over their whole range when they slide; a turning joint outside the arm is taken at zero.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin

from telerobot_nodes.core.config import example_robot_data
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry.forward_kinematics import IntArray
from telerobot_nodes.cspace.geometry.solids import (
    CollisionSphere,
    box_points,
    cover,
    cover_capsule,
    cylinder_points,
    hull_points,
    slabs,
)
from telerobot_nodes.errors import ModelError

TOLERANCE = 0.045  # [m] by which a sphere may protrude from the solid it covers
THIN = 0.5  # [-] of half the solid's thickness, where that is less
FINEST = 0.012  # [m] and no less than this
CAPSULE_TOLERANCE = 0.012  # [m] the same along rounded cylinders, which cost few spheres
MOST = 12  # spheres of one shape that is not a mesh
SLICE = 0.05  # [m] thickness of a mesh's slices


@dataclass(frozen=True)
class LinkSpheres:
    """Spheres fixed to moving link `link` (0: the base), in the frame of that link's joint in `robot.model`."""

    link: int
    name: str
    spheres: tuple[CollisionSphere, ...]


def link_spheres(robot: RobotModel, tolerance: float = TOLERANCE) -> list[LinkSpheres]:
    """Every collision shape of the robot's URDF. Raises ModelError when a mesh cannot be read."""
    whole = pin.buildModelFromXML(robot.urdf)
    shapes = _shapes(robot, whole)
    arm_joints = {name: i for i, name in enumerate(robot.model.names)}
    rounded = _Rounded(shapes)
    found = []
    for shape in shapes:
        link, placements = _on_arm(whole, shape, arm_joints)
        if link == 0:
            placements = [robot.T_world_base * T for T in placements]
        spheres = _spheres_of(shape, placements, rounded, tolerance)
        found.append(LinkSpheres(link, shape.name, tuple(spheres)))
    return found


def arm_shapes(robot: RobotModel) -> list[tuple[int, coal.CollisionGeometry, pin.SE3]]:
    """Every collision shape: its joint in `robot.model` (0: the base, in WORLD), its solid, its pose in that frame."""
    whole = pin.buildModelFromXML(robot.urdf)
    arm_joints = {name: i for i, name in enumerate(robot.model.names)}
    found = []
    for shape in _shapes(robot, whole):
        link, placements = _on_arm(whole, shape, arm_joints)
        base = robot.T_world_base if link == 0 else pin.SE3.Identity()
        found += [(link, shape.geometry, base * T) for T in placements]
    return found


def _shapes(robot: RobotModel, whole: pin.Model) -> list[pin.GeometryObject]:
    try:
        folders = _package_folders(robot.urdf_path)
        geometry = pin.buildGeomFromUrdfString(
            whole, robot.urdf, pin.GeometryType.COLLISION, package_dirs=folders, mesh_loader=coal.MeshLoader()
        )
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"{robot.urdf_path}: collision shapes: {str(error).strip()}") from None
    return list(geometry.geometryObjects)


def _package_folders(urdf: Path) -> list[str]:
    folders = [str(parent) for parent in urdf.resolve().parents[:4]]
    folders += [os.path.join(p, "share") for p in os.environ.get("AMENT_PREFIX_PATH", "").split(":") if p]  # noqa: PTH118
    with contextlib.suppress(ModelError):  # meshes of the arm may lie elsewhere
        folders.append(str(example_robot_data().parent))
    return folders


def _on_arm(whole: pin.Model, shape: pin.GeometryObject, arm_joints: dict[str, int]) -> tuple[int, list[pin.SE3]]:
    """The arm's link that carries a shape, and the shape's placements on it at both ends of joints between."""
    joint = shape.parentJoint
    placements = [shape.placement]
    while whole.names[joint] not in arm_joints:
        placements = [T * P for T in _joint_ends(whole, joint) for P in placements]
        joint = whole.parents[joint]
    return arm_joints[whole.names[joint]], placements


def _joint_ends(whole: pin.Model, joint: int) -> list[pin.SE3]:
    """Placements of a locked joint on its parent: at both ends if it slides, at zero if it turns."""
    base, model = whole.jointPlacements[joint], whole.joints[joint]
    if "P" not in model.shortname().removeprefix("JointModel"):
        return [base]
    data = model.createData()
    ends = []
    for limit in (whole.lowerPositionLimit, whole.upperPositionLimit):
        q = np.array(limit)
        model.calc(data, q)
        ends.append(base * data.M)
    return ends


class _Rounded:
    """Which ends of cylinders carry a sphere of the same radius: those are capsules."""

    def __init__(self, shapes: list[pin.GeometryObject]) -> None:
        self._spheres = [
            (s.parentJoint, s.placement.translation, s.geometry.radius)
            for s in shapes
            if isinstance(s.geometry, coal.Sphere)
        ]

    def both_ends(self, shape: pin.GeometryObject) -> bool:
        return all(self._has(shape, sign * shape.geometry.halfLength) for sign in (-1.0, 1.0))

    def _has(self, shape: pin.GeometryObject, z: float) -> bool:
        end = shape.placement.act(np.array([0.0, 0.0, z]))
        return any(
            joint == shape.parentJoint and abs(radius - shape.geometry.radius) < 1e-6 and np.linalg.norm(c - end) < 0.01
            for joint, c, radius in self._spheres
        )


def _spheres_of(
    shape: pin.GeometryObject, placements: list[pin.SE3], rounded: _Rounded, tolerance: float
) -> list[CollisionSphere]:
    solid = shape.geometry
    if isinstance(solid, coal.Sphere):
        center, other = placements[0].translation, placements[-1].translation
        return cover_capsule(np.array(center), np.array(other), solid.radius, CAPSULE_TOLERANCE)
    if len(placements) == 1 and isinstance(solid, coal.Cylinder) and rounded.both_ends(shape):
        return _capsule(placements[0], solid.radius, solid.halfLength)[1:-1]  # its ends are shapes of their own
    if len(placements) == 1 and isinstance(solid, coal.Capsule):
        return _capsule(placements[0], solid.radius, solid.halfLength)
    spheres = []
    clouds = _points(shape)
    most = MOST if len(clouds) == 1 else 2
    for points in clouds:
        moved = np.vstack([(T.rotation @ points.T).T + T.translation for T in placements])
        thickness = float(np.ptp(moved, axis=0).min())
        spheres += cover(hull_points(moved), min(tolerance, max(0.5 * THIN * thickness, FINEST)), most)
    return spheres


def _capsule(T: pin.SE3, radius: float, half_length: float) -> list[CollisionSphere]:
    along = half_length * T.rotation[:, 2]
    return cover_capsule(T.translation - along, T.translation + along, radius, CAPSULE_TOLERANCE)


def _points(shape: pin.GeometryObject) -> list[FloatArray]:
    """Point clouds whose hulls together hold the shape."""
    solid = shape.geometry
    if isinstance(solid, coal.Box):
        return [box_points(2.0 * solid.halfSide)]
    if isinstance(solid, coal.Cylinder):
        return [cylinder_points(solid.radius, 2.0 * solid.halfLength)]
    if isinstance(solid, coal.Capsule):
        return [cylinder_points(solid.radius, 2.0 * (solid.halfLength + solid.radius))]
    if isinstance(solid, coal.BVHModelBase):
        scale = np.asarray(shape.meshScale)
        vertices = np.array([solid.vertex(i) for i in range(solid.num_vertices)])
        faces = np.array([[solid.tri_indices(i)[k] for k in range(3)] for i in range(solid.num_tris)], dtype=np.int64)
        return _mesh_points(shape.name, vertices, faces, scale)
    raise ModelError(f"{shape.name}: collision shape {type(solid).__name__} is not supported")


def _mesh_points(name: str, vertices: FloatArray, faces: IntArray, scale: FloatArray) -> list[FloatArray]:
    if len(vertices) == 0 or not np.isfinite(vertices).all():
        raise ModelError(f"{name}: mesh of {len(vertices)} vertices, not all finite or none")
    del scale  # the loader has applied it
    return slabs(vertices, faces, SLICE) if len(faces) else [vertices]
