"""Shapes of a robot from its URDF, grouped by moving joint: what to draw, without knowing the display."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from telerobot_nodes.core.config import example_robot_data
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import ModelError
from telerobot_nodes.operator.scene.palette import ACTUAL, Rgb

ROUND_SECTIONS = 32  # [-] faces of a cylinder
SHARP_EDGE = 0.7  # [rad] between neighbouring faces; sharper edges are not shaded round


class Detail(Enum):
    """Visual shapes for the arm itself, simpler collision shapes for its ghosts."""

    VISUAL = "visual"
    COLLISION = "collision"


@dataclass(frozen=True)
class Shape:
    """Triangles fixed to a joint: 0 is the world, i the i-th arm joint."""

    joint: int
    vertices: npt.NDArray[np.float32]  # (n, 3) [m] in the joint's frame
    faces: npt.NDArray[np.uint32]  # (m, 3)
    colour: Rgb


def load_shapes(robot: RobotModel, detail: Detail) -> tuple[Shape, ...]:
    """Shapes of a robot, joints outside the arm held at neutral; one per joint and colour.

    Raises ModelError when a shape or mesh cannot be read.
    """
    kind = pin.GeometryType.VISUAL if detail is Detail.VISUAL else pin.GeometryType.COLLISION
    try:
        full = pin.buildModelFromXML(robot.urdf)
        shapes = pin.buildGeomFromUrdfString(full, robot.urdf, kind, package_dirs=_package_dirs(robot.urdf_path))
    except (RuntimeError, ValueError) as error:
        raise ModelError(f"{robot.urdf_path}: shapes cannot be read: {error}") from None
    locked = [full.getJointId(name) for name in full.names[1:] if name not in robot.joint_names]
    _arm, shapes = pin.buildReducedModel(full, shapes, locked, pin.neutral(full))
    parts: dict[tuple[int, Rgb], list[Mesh]] = {}
    for shape in shapes.geometryObjects:
        placement = robot.T_world_base * shape.placement if shape.parentJoint == 0 else shape.placement
        for mesh in _meshes(shape):
            vertices = mesh.vertices @ placement.rotation.T + placement.translation
            parts.setdefault((shape.parentJoint, mesh.colour), []).append(replace(mesh, vertices=vertices))
    return tuple(merge(joint, meshes) for (joint, _), meshes in parts.items())


def _package_dirs(urdf: Path) -> list[str]:
    try:
        wheel = [str(example_robot_data().parent)]  # `package://example-robot-data/...`
    except ModelError:
        wheel = []
    return [*wheel, *(str(parent) for parent in urdf.resolve().parents)]


@dataclass(frozen=True)
class Mesh:
    """Triangles of one colour."""

    vertices: FloatArray  # (n, 3) [m]
    faces: npt.NDArray[np.int64]  # (m, 3)
    colour: Rgb


def merge(joint: int, meshes: list[Mesh]) -> Shape:
    """Meshes of one colour on one joint as one shape."""
    offsets = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    faces = [mesh.faces + offset for mesh, offset in zip(meshes, offsets, strict=True)]
    return Shape(
        joint=joint,
        vertices=np.concatenate([mesh.vertices for mesh in meshes]).astype(np.float32),
        faces=np.concatenate(faces).astype(np.uint32),
        colour=meshes[0].colour,
    )


def _meshes(shape: pin.GeometryObject) -> list[Mesh]:
    path = Path(shape.meshPath)
    if not path.is_file():
        solid = _primitive(shape.geometry)
        return [] if solid is None else [Mesh(solid.vertices, solid.faces, rgb(shape.meshColor))]
    scale = np.asarray(shape.meshScale).ravel()
    own = rgb(shape.meshColor) if shape.overrideMaterial else None
    return [
        Mesh(np.asarray(mesh.vertices) * scale, np.asarray(mesh.faces), own or _material(mesh))
        for mesh in _read_mesh(path)
    ]


def _read_mesh(path: Path) -> list[Any]:
    import trimesh

    try:
        parts = trimesh.load_scene(path).dump(concatenate=False)
    except (ValueError, OSError, ImportError) as error:
        raise ModelError(f"{path}: mesh cannot be read: {error}") from None
    return [part for part in parts if isinstance(part, trimesh.Trimesh)]


def _primitive(solid: Any) -> Any:
    """The triangles of a coal primitive; None: nothing to draw."""
    import coal
    from trimesh import creation

    if isinstance(solid, coal.Box):
        return sharp(creation.box(extents=2.0 * np.asarray(solid.halfSide).ravel()))
    if isinstance(solid, coal.Cylinder):
        return sharp(creation.cylinder(solid.radius, 2.0 * solid.halfLength, sections=ROUND_SECTIONS))
    if isinstance(solid, coal.Capsule):
        return creation.capsule(2.0 * solid.halfLength, solid.radius, count=[8, ROUND_SECTIONS])
    if isinstance(solid, coal.Sphere):
        return creation.icosphere(3, solid.radius)
    return None


def sharp(mesh: Any) -> Any:
    """The same mesh with its edges cut, so that flat faces are shaded flat."""
    from trimesh.graph import smooth_shade

    return smooth_shade(mesh, angle=SHARP_EDGE)


def _material(mesh: Any) -> Rgb:
    visual = mesh.visual
    colour = getattr(getattr(visual, "material", visual), "main_color", None)
    return ACTUAL if colour is None else rgb(np.asarray(colour) / 255.0)


def rgb(values: Any) -> Rgb:
    """Colour of red, green, blue 0 .. 1."""
    red, green, blue = (round(255 * float(value)) for value in np.clip(np.asarray(values).ravel()[:3], 0.0, 1.0))
    return red, green, blue
