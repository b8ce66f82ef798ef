"""Self-collision of single configurations with the true shapes, as the collision spheres are larger.

For displays and for paths of close configurations. Proofs of motions do not belong here: they need the spheres.
"""

from __future__ import annotations

from collections.abc import Iterable

import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel, link_shapes
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.covering import NamePair, link_pairs


def contact_requests(solids: pin.GeometryModel) -> pin.GeometryData:
    """Data for collision checks that find every contact.

    Without `enable_contact` coal stops early: it then misses cylinders that penetrate by up to a millimetre, and by
    more when Pinocchio lets it begin with the result of the call before.
    """
    data = solids.createData()
    for request in data.collisionRequests:
        request.enable_contact = True
    return data


class SelfCheck:
    """Pairs of links by the shapes of the URDF."""

    def __init__(self, robot: RobotModel, pairs: Iterable[NamePair] | None = None) -> None:
        """`pairs`: names of URDF links; None: those that `link_pairs` finds."""
        self._model, self._data = robot.model, robot.new_data()
        self._solids = pin.GeometryModel()
        shapes = link_shapes(robot)
        solids: dict[str, list[int]] = {}
        self._link = {shape.body: shape.link for shape in shapes}
        for shape in shapes:
            for T in shape.placements:
                solid = pin.GeometryObject(f"{shape.name} {self._solids.ngeoms}", shape.link, T, shape.solid)
                solids.setdefault(shape.body, []).append(self._solids.addGeometryObject(solid))
        self._names: list[NamePair] = []  # of every collision pair
        for a, b in sorted(link_pairs(robot, shapes).checked if pairs is None else pairs):
            for first in solids.get(a, []):
                for second in solids.get(b, []):
                    self._solids.addCollisionPair(pin.CollisionPair(first, second))
                    self._names.append((a, b))
        self._found = contact_requests(self._solids)

    def touches(self, q: FloatArray) -> str:
        """The two links that touch at `q` (dof,) [rad]; empty if none."""
        if not pin.computeCollisions(self._model, self._data, self._solids, self._found, q, True):
            return ""
        looked_at = zip(self._names, self._found.activeCollisionPairs, self._found.collisionResults, strict=True)
        names = next(pair for pair, active, result in looked_at if active and result.isCollision())
        a, b = sorted(self._link[name] for name in names)
        return f"link {a} and link {b} of the arm"
