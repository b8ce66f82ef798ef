"""Obstacles around the arm and bodies in its tool, as the planner publishes them (`Obstacle.msg`), for displays.

What must never enter: messages, widgets, distances (the planner computes them at the robot).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.values import finite_array, one_of, se3_from_pose
from telerobot_nodes.errors import InvalidValueError

KINDS = {"box": 3, "sphere": 1, "cylinder": 2, "half_space": 0, "boxes": 3}  # numbers in the size of each
PART = "#"  # between the name of a body and the number of one of its parts


@dataclass(frozen=True)
class Solid:
    """One convex solid. Raises InvalidValueError naming solid and field.

    `size` [m]: edges (3,), radius (1,), radius and length along z (2,), or empty for the half-space below z = 0.
    `pose` (7,) `x y z [m], qx qy qz qw` in WORLD; `held`: in the tool frame. `boxes` are many equal ones: `points`
    (3 k,) [m] are their centres in the frame of `pose`.
    """

    name: str
    kind: str
    size: tuple[float, ...]
    pose: tuple[float, ...]
    held: bool = False
    points: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        one_of(self.kind, f"obstacle {self.name}: kind", KINDS)
        size = finite_array(self.size, f"obstacle {self.name}: size", KINDS[self.kind])
        if size.size and size.min() <= 0.0:
            raise InvalidValueError(f"obstacle {self.name}: size", size.min(), "allowed: above 0 m")
        pose = finite_array(self.pose, f"obstacle {self.name}: pose", 7)
        points = finite_array(self.points, f"obstacle {self.name}: points")
        if points.size % 3 or (self.kind == "boxes") != (points.size > 0):
            raise InvalidValueError(
                f"obstacle {self.name}: points (length)", points.size, "allowed: 3 for each of boxes"
            )
        object.__setattr__(self, "size", tuple(size.tolist()))
        object.__setattr__(self, "pose", tuple(pose.tolist()))

    @property
    def thing(self) -> str:
        """Name of the body it is a part of: a mesh is published as several spheres."""
        return self.name.partition(PART)[0]

    @property
    def top(self) -> float:
        """Height above its centre [m], along z of the frame of its pose."""
        up = se3_from_pose(self.pose, f"obstacle {self.name}: pose").rotation[2]
        if self.kind == "boxes":
            return float((np.reshape(self.points, (-1, 3)) @ up).max() + 0.5 * np.abs(up) @ np.array(self.size))
        if self.kind == "box":
            return float(0.5 * np.abs(up) @ np.array(self.size))
        if self.kind == "cylinder":
            radius, length = self.size
            return float(radius * np.hypot(up[0], up[1]) + 0.5 * length * abs(up[2]))
        return self.size[0] if self.size else 0.0
