"""Shapes of the surroundings from a compiled MuJoCo model, at its initial state."""

from __future__ import annotations

from typing import Any

import numpy as np
from trimesh import creation

from telerobot_nodes.operator.scene.arm_geometry import ROUND_SECTIONS, Mesh, Shape, merge, rgb, sharp
from telerobot_nodes.operator.scene.palette import Rgb


def surroundings(model: Any, without: str) -> tuple[Shape, ...]:
    """Boxes, cylinders and spheres in WORLD of bodies whose names do not begin with `without`, one per colour."""
    import mujoco

    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    parts: dict[Rgb, list[Mesh]] = {}
    for i in range(model.ngeom):
        if model.body(int(model.geom_bodyid[i])).name.startswith(without):
            continue
        solid = _solid(mujoco.mjtGeom(int(model.geom_type[i])), model.geom_size[i])
        if solid is not None:
            vertices = solid.vertices @ data.geom_xmat[i].reshape(3, 3).T + data.geom_xpos[i]
            colour = rgb(model.geom_rgba[i])
            parts.setdefault(colour, []).append(Mesh(vertices, np.asarray(solid.faces), colour))
    return tuple(merge(0, meshes) for meshes in parts.values())


def _solid(kind: Any, size: Any) -> Any:
    """Triangles of a MuJoCo primitive of half sizes `size` [m]; None: floor, mesh, or nothing to draw."""
    import mujoco

    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        return sharp(creation.box(extents=2.0 * size))
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return sharp(creation.cylinder(size[0], 2.0 * size[1], sections=ROUND_SECTIONS))
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return creation.capsule(2.0 * size[1], size[0], count=[8, ROUND_SECTIONS])
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return creation.icosphere(3, size[0])
    return None
