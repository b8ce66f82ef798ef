"""Self-collision of single configurations with the true shapes, as the collision spheres are larger.

For displays and for paths of close configurations. Proofs of motions do not belong here: they need the spheres.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry.shapes import arm_shapes


class SelfCheck:
    """Pairs of links by the shapes of the URDF."""

    def __init__(self, robot: RobotModel, pairs: Iterable[tuple[int, int]] | None = None) -> None:
        """`pairs`: links by the joint that moves them, 0: the base; None: all but neighbours and what meets at home."""
        self._model, self._data = robot.model, robot.new_data()
        self._solids = pin.GeometryModel()
        links: dict[int, list[int]] = {}
        for link, shape, placement in arm_shapes(robot):
            name = f"link {link} {self._solids.ngeoms}"
            solid = pin.GeometryObject(name, link, placement, shape)
            links.setdefault(link, []).append(self._solids.addGeometryObject(solid))
        self._links: list[tuple[int, int]] = []  # of every collision pair
        for a, b in _not_neighbours(robot.dof + 1) if pairs is None else pairs:
            for first in links.get(a, []):
                for second in links.get(b, []):
                    self._solids.addCollisionPair(pin.CollisionPair(first, second))
                    self._links.append((a, b))
        self._found = self._solids.createData()
        if pairs is None:
            self._leave_out(np.array(robot.home))

    def touches(self, q: FloatArray) -> str:
        """The two links that touch at `q` (dof,) [rad]; empty if none."""
        if not pin.computeCollisions(self._model, self._data, self._solids, self._found, q, True):
            return ""
        looked_at = zip(self._links, self._found.activeCollisionPairs, self._found.collisionResults, strict=True)
        a, b = next(pair for pair, active, result in looked_at if active and result.isCollision())
        return f"link {a} and link {b} of the arm"

    def _leave_out(self, q: FloatArray) -> None:
        """Exclude the pairs that touch at `q` (dof,) [rad]."""
        pin.computeCollisions(self._model, self._data, self._solids, self._found, q, False)
        for k, result in enumerate(self._found.collisionResults):
            if result.isCollision():
                self._found.deactivateCollisionPair(k)


def _not_neighbours(links: int) -> list[tuple[int, int]]:
    return [pair for pair in combinations(range(links), 2) if pair[1] - pair[0] > 1]
