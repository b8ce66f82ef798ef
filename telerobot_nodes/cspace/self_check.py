"""Whether an arm touches itself, by its true shapes: the balls that cover them are up to a centimetre too large.

What belongs here: one configuration at a time, for displays. What must never enter: proofs of motions; these need the
balls.
"""

from __future__ import annotations

import pinocchio as pin

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.arm_geometry import ArmGeometry
from telerobot_nodes.cspace.shapes import arm_shapes


class SelfCheck:
    """The pairs of links that the planner checks, by the shapes of the URDF."""

    def __init__(self, geometry: ArmGeometry) -> None:
        self._model, self._data = geometry.robot.model, geometry.robot.new_data()
        self._solids = pin.GeometryModel()
        links: dict[int, list[int]] = {}
        for link, shape, placement in arm_shapes(geometry.robot):
            name = f"link {link} {self._solids.ngeoms}"
            solid = pin.GeometryObject(name, link, placement, shape)
            links.setdefault(link, []).append(self._solids.addGeometryObject(solid))
        self._links: list[tuple[int, int]] = []  # of every collision pair
        for a, b in geometry.arm.pairs.tolist():
            for first in links.get(a, []):
                for second in links.get(b, []):
                    self._solids.addCollisionPair(pin.CollisionPair(first, second))
                    self._links.append((a, b))
        self._found = self._solids.createData()

    def touches(self, q: FloatArray) -> str:
        """Which two links touch at `q` (dof,) [rad]; empty: none."""
        if not pin.computeCollisions(self._model, self._data, self._solids, self._found, q, True):
            return ""
        at = next(i for i, result in enumerate(self._found.collisionResults) if result.isCollision())
        a, b = self._links[at]
        return f"link {a} and link {b} of the arm"
