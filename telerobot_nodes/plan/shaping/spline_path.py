"""A pose path as a cubic B-spline over vertices that are evenly spaced in `sigma`.

`sigma` [s] measures length along the path as travel time at full speed: the greater of distance / speed and angle /
angular speed, combined as a root of squares. The spline is smooth however the operator moved.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from telerobot_nodes.core.robot import JointLoad
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.plan.shaping.curvature_limits import CurvatureLimits, joint_limits
from telerobot_nodes.plan.shaping.time_base_config import TimeBaseConfig

SPACING = 0.005  # [s] of sigma between vertices: 1 mm at 0.2 m/s
LEAST = 0.02 * SPACING  # [s] of sigma beyond the last vertex that counts as a vertex of its own
DROP_BLOCK = 64  # vertices dropped at once
SAME_ORIENTATION = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0])  # factors of a pose: the quaternion's other sign

PathLoad = Callable[[FloatArray, float], JointLoad]  # (3, 7) poses, [s] of sigma between them -> load at the middle


class SplinePath:
    """Vertices from `pose` (7,) on, with the acquisition count at which each was recorded and its speed limits."""

    def __init__(self, config: TimeBaseConfig, pose: FloatArray, path_load: PathLoad | None) -> None:
        self._config = config
        self._path_load = path_load
        self._vertices: list[FloatArray] = [np.array(pose)]
        self.limits = CurvatureLimits(SPACING, 0.5 * config.smoothing)  # of each vertex but the last
        self.counts: list[int] = [0]  # acquisition count of each vertex
        self.start = 0.0  # [s] sigma of vertex 0
        self.beyond = 0.0  # [s] sigma beyond the last vertex
        self.latest = np.array(pose)  # (7,) last pose recorded

    def __len__(self) -> int:
        return len(self._vertices)

    @property
    def end(self) -> float:
        """Sigma of the last vertex [s]."""
        return self.start + (len(self._vertices) - 1) * SPACING

    @property
    def is_point(self) -> bool:
        """True when nothing was recorded beyond the first pose."""
        return len(self._vertices) == 1 and self.beyond <= LEAST

    def add(self, pose: FloatArray, count: int) -> None:
        """Continue straight to `pose` (7,), recorded at acquisition `count`."""
        if pose[3:] @ self.latest[3:] < 0.0:
            pose = pose * SAME_ORIENTATION
        distance = self._sigma(self.latest, pose)
        start, walked = self.latest, 0.0
        while self.beyond + (distance - walked) >= SPACING:
            walked += SPACING - self.beyond
            self.beyond = 0.0
            self._push(start + (pose - start) * (walked / distance), count)
        self.beyond += distance - walked
        self.latest = pose

    def complete(self, count: int) -> None:
        """End the path at the last pose recorded."""
        if self.beyond > LEAST:
            self._push(self.latest, count)
            self.beyond = 0.0

    def pose_at(self, sigma: float) -> FloatArray:
        """Pose (7,) on the spline, held to its ends."""
        x = min(max((sigma - self.start) / SPACING, 0.0), len(self._vertices) - 1.0)
        i = min(int(x), max(len(self._vertices) - 2, 0))
        u = x - i
        a, b, c, d = (self._vertex(i + k) for k in (-1, 0, 1, 2))
        pose: FloatArray = (
            a * (1 - u) ** 3 + b * (3 * u**3 - 6 * u**2 + 4) + c * (3 * (u + u**2 - u**3) + 1) + d * u**3
        ) / 6.0
        pose[3:] /= math.hypot(*pose[3:].tolist())
        return pose

    def drop_before(self, sigma: float) -> None:
        """Forget vertices that the spline from `sigma` [s] on does not need."""
        used = int((sigma - self.start) / SPACING) - 2
        if used > DROP_BLOCK:
            del self._vertices[:used], self.counts[:used]
            self.limits.drop(used)
            self.start += used * SPACING

    def _push(self, pose: FloatArray, count: int) -> None:
        pose = np.array(pose)
        pose[3:] /= math.hypot(*pose[3:].tolist())
        self._vertices.append(pose)
        self.counts.append(count)
        if len(self._vertices) > 2:
            poses = np.array(self._vertices[-3:])
            load = self._path_load(poses, SPACING) if self._path_load else JointLoad()
            self.limits.add(self._curvature(poses), *joint_limits(load, self._config.ramp))

    def _sigma(self, a: FloatArray, b: FloatArray) -> float:
        x, y, z, *turn = (b - a).tolist()
        distance = math.hypot(x, y, z) / self._config.speed
        angle = 4.0 * math.asin(min(1.0, 0.5 * math.hypot(*turn)))
        return math.hypot(distance, angle / self._config.angular_speed)

    def _curvature(self, poses: FloatArray) -> float:
        """Acceleration [-, 1: the limit] across the path at full speed, at the middle of (3, 7)."""
        config = self._config
        x, y, z, *turn = (poses[0] - 2.0 * poses[1] + poses[2]).tolist()
        across = math.hypot(x, y, z) / config.acceleration
        turning = 2.0 * math.hypot(*turn) / config.angular_acceleration
        return max(across, turning) / SPACING**2

    def _vertex(self, i: int) -> FloatArray:
        """Vertex i; beyond an end, the vertex that makes the spline pass through that end."""
        last = len(self._vertices) - 1
        if last == 0:
            return self._vertices[0]
        if i < 0:
            return 2.0 * self._vertices[0] - self._vertices[1]
        if i > last:
            return 2.0 * self._vertices[last] - self._vertices[last - 1]
        return self._vertices[i]
