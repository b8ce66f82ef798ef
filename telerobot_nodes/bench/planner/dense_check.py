"""Dense checks of paths with the true shapes, by Pinocchio and Coal; no code of the planner is used.

The shapes are those of the URDF, not the spheres that cover them; obstacles are coal's own solids.
"""

from __future__ import annotations

import coal
import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import LinkShape, link_shapes
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.covering import link_pairs
from telerobot_nodes.cspace.geometry import ArmGeometry, Obstacle, contact_requests
from telerobot_nodes.cspace.search import path_samples

WIDE = 20.0  # [m] edge of the box that stands for a half-space


class DenseCheck:
    """Collision checks of an arm's true shapes among obstacles, with a margin [m]."""

    def __init__(self, geometry: ArmGeometry, obstacles: list[Obstacle], margin: float) -> None:
        self._model, self._data = geometry.robot.model, geometry.robot.new_data()
        solids = pin.GeometryModel()
        links: dict[str, list[int]] = {}
        shapes = link_shapes(geometry.robot, geometry.fingers)
        for shape in shapes:
            for T in shape.placements:
                placed = pin.GeometryObject(f"{shape.name} {solids.ngeoms}", shape.link, T, shape.solid)
                links.setdefault(shape.body, []).append(solids.addGeometryObject(placed))
        around = [solids.addGeometryObject(_solid(obstacle)) for obstacle in obstacles]
        for solid in [i for body in _moving(shapes) for i in links[body]]:
            for obstacle in around:
                solids.addCollisionPair(pin.CollisionPair(solid, obstacle))
        outside = len(solids.collisionPairs)
        for a, b in link_pairs(geometry.robot, shapes).checked:
            for first in links[a]:
                for second in links[b]:
                    solids.addCollisionPair(pin.CollisionPair(first, second))
        self._solids, self._solids_data = solids, contact_requests(solids)
        for i in range(outside):
            self._solids_data.collisionRequests[i].security_margin = margin

    def collides(self, q: FloatArray) -> bool:
        """True if a shape touches another, or is nearer to an obstacle than the margin."""
        return bool(pin.computeCollisions(self._model, self._data, self._solids, self._solids_data, q, True))

    def collisions(self, path: FloatArray, step: float) -> tuple[int, int]:
        """Configurations `step` [rad] apart along a path (k, n) that collide, and how many there are."""
        rows = path_samples(path, step)
        return sum(self.collides(q) for q in rows), len(rows)


def _moving(shapes: list[LinkShape]) -> list[str]:
    """The URDF links that joints move."""
    return list(dict.fromkeys(shape.body for shape in shapes if shape.link > 0))


def _solid(obstacle: Obstacle) -> pin.GeometryObject:
    T, size = obstacle.T_world_obstacle, obstacle.size
    if obstacle.kind == "half_space":
        T, shape = T * pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5 * WIDE])), coal.Box(WIDE, WIDE, WIDE)
    else:
        shape = {"box": coal.Box, "sphere": coal.Sphere, "cylinder": coal.Cylinder}[obstacle.kind](*size)
    return pin.GeometryObject(f"obstacle {obstacle.name}", 0, T, shape)
