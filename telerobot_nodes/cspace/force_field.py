"""Repulsion between arms, and from obstacles, as joint velocities [US5347459]; bounded, compiled.

Every ball within `influence` of an obstacle or of another arm's ball is pushed away with
v = gain (1/d - 1/influence), `most` [m/s] at most, mapped by the transposed Jacobian of its centre. Joint by
joint the strongest pushes to either side are taken, not the sum of all balls: a link of many balls is not pushed
harder than one of few. Near a joint limit the part that pushes against it fades out, and every joint keeps to a part of
its velocity limit. Also the further source of the GCMSF law (`step_twist`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numba
import numpy as np

from telerobot_nodes.core.validation import FloatArray, finite_array, in_range
from telerobot_nodes.cspace.arm_geometry import ArmGeometry
from telerobot_nodes.cspace.distances import distance, farther, nearest_point
from telerobot_nodes.cspace.obstacles import Obstacle, World, world_of
from telerobot_nodes.cspace.placing import Arm, Places, place, place_link, places_of
from telerobot_nodes.errors import InvalidValueError

NEAREST = 1e-3  # [m] distances are taken as no smaller


@dataclass(frozen=True)
class FieldSettings:
    """Strength and reach of the field. Raises InvalidValueError."""

    influence: float = 0.08  # [m] farther pairs do not push
    gain: float = 0.004  # [m^2/s]
    most: float = 0.25  # [m/s] of one ball
    limit_zone: float = 0.15  # [rad] from a joint limit within which pushes against it fade out
    velocity_part: float = 0.5  # [-] of each joint's velocity limit

    def __post_init__(self) -> None:
        in_range(self.influence, "influence", 1e-3, 1.0, "m")
        in_range(self.gain, "gain", 0.0, 1.0, "m^2/s")
        in_range(self.most, "most", 0.0, 5.0, "m/s")
        in_range(self.limit_zone, "limit_zone", 1e-3, 1.0, "rad")
        in_range(self.velocity_part, "velocity_part", 0.0, 1.0)


@numba.njit(cache=True, error_model="numpy")
def _push(
    arm: Arm,
    at: Places,
    k: int,
    b: int,
    d: float,
    normal: FloatArray,
    law: FloatArray,
    up: FloatArray,
    down: FloatArray,
) -> None:
    """The push on ball `b` of link `k` along `normal`, through the transposed Jacobian, into the extremes so far."""
    size = min(law[1] * (1.0 / max(d, NEAREST) - 1.0 / law[0]), law[2])
    c = at.ball[b]
    square = 1e-9
    for j in range(1, k + 1):
        square += _column(arm, at, j, c, normal) ** 2
    for j in range(1, k + 1):
        value = size * _column(arm, at, j, c, normal) / max(square, 0.01)
        up[j - 1] = max(up[j - 1], value)
        down[j - 1] = min(down[j - 1], value)


@numba.njit(cache=True, error_model="numpy")
def _column(arm: Arm, at: Places, j: int, c: FloatArray, normal: FloatArray) -> float:
    """Speed of the point `c` along `normal` at unit rate of joint `j`."""
    R, o = at.rotation[j], at.origin[j]
    z0, z1, z2 = R[0, 2], R[1, 2], R[2, 2]
    if arm.prismatic[j - 1] > 0.0:
        return float(z0 * normal[0] + z1 * normal[1] + z2 * normal[2])
    x, y, z = c[0] - o[0], c[1] - o[1], c[2] - o[2]
    return float((z1 * z - z2 * y) * normal[0] + (z2 * x - z0 * z) * normal[1] + (z0 * y - z1 * x) * normal[2])


@numba.njit(cache=True, error_model="numpy")
def _from_obstacles(arm: Arm, world: World, at: Places, law: FloatArray, up: FloatArray, down: FloatArray) -> float:
    least, normal = law[0], np.zeros(3)
    for k in range(arm.first_moving, arm.link_radius.size):
        gap = arm.link_radius[k] + law[0]
        for o in range(world.reach.size):
            if farther(world, o, at.link[k], gap) or distance(world, o, at.link[k]) >= gap:
                continue
            place_link(arm, at, k)
            for b in range(arm.ball_first[arm.link_first[k]], arm.ball_first[arm.link_first[k + 1]]):
                d = distance(world, o, at.ball[b]) - arm.ball_radius[b]
                if d < law[0]:
                    nearest_point(world, o, at.ball[b], normal)
                    _push(arm, at, k, b, d, normal, law, up, down)
                    least = min(least, d)
    return float(least)


@numba.njit(cache=True, error_model="numpy")
def _from_arm(
    arm: Arm, at: Places, other: Arm, other_at: Places, law: FloatArray, up: FloatArray, down: FloatArray
) -> float:
    """Pushes on `arm` from the balls of another one."""
    least, normal = law[0], np.zeros(3)
    for k in range(1, arm.link_radius.size):
        for m in range(other.link_radius.size):
            gap = arm.link_radius[k] + other.link_radius[m] + law[0]
            if _square(at.link[k], other_at.link[m]) > gap * gap:
                continue
            place_link(arm, at, k)
            place_link(other, other_at, m)
            for b in range(arm.ball_first[arm.link_first[k]], arm.ball_first[arm.link_first[k + 1]]):
                for c in range(other.ball_first[other.link_first[m]], other.ball_first[other.link_first[m + 1]]):
                    gap = arm.ball_radius[b] + other.ball_radius[c] + law[0]
                    square = _square(at.ball[b], other_at.ball[c])
                    if square >= gap * gap:
                        continue
                    apart = math.sqrt(square)
                    for r in range(3):
                        normal[r] = (at.ball[b, r] - other_at.ball[c, r]) / max(apart, 1e-9)
                    d = apart - gap + law[0]
                    _push(arm, at, k, b, d, normal, law, up, down)
                    least = min(least, d)
    return float(least)


@numba.njit(cache=True, error_model="numpy")
def _square(a: FloatArray, b: FloatArray) -> float:
    return float((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)


@numba.njit(cache=True, error_model="numpy")
def _settle(
    arm: Arm, q: FloatArray, law: FloatArray, ceiling: FloatArray, up: FloatArray, down: FloatArray, out: FloatArray
) -> None:
    """Sum of the extremes to both sides, without what pushes against a near limit, within the velocity allowed."""
    for i in range(q.size):
        value = up[i] + down[i]
        room = arm.upper[i] - q[i] if value > 0.0 else q[i] - arm.lower[i]
        value *= min(max(room / law[3], 0.0), 1.0)
        out[i] = min(max(value, -ceiling[i]), ceiling[i])


class ForceField:
    """The field between arms and around obstacles. One thread; the arrays returned are reused."""

    def __init__(
        self, geometries: Sequence[ArmGeometry], obstacles: Sequence[Obstacle], settings: FieldSettings | None = None
    ) -> None:
        self.settings = settings or FieldSettings()
        self.arms = [geometry.arm for geometry in geometries]
        self._at = [places_of(arm) for arm in self.arms]
        self._q = [np.zeros(geometry.dof) for geometry in geometries]
        self._up = [np.zeros(geometry.dof) for geometry in geometries]
        self._down = [np.zeros(geometry.dof) for geometry in geometries]
        self.velocity: list[FloatArray] = [np.zeros(geometry.dof) for geometry in geometries]
        self.least = [self.settings.influence] * len(self.arms)
        part = self.settings.velocity_part
        self._ceiling = [part * np.array(geometry.robot.limits.velocity) for geometry in geometries]
        s = self.settings
        self._law = np.array([s.influence, s.gain, s.most, s.limit_zone])
        self.set_obstacles(obstacles)

    def set_obstacles(self, obstacles: Sequence[Obstacle]) -> None:
        """Use other obstacles from the next step on. Raises InvalidValueError, changing nothing."""
        self._world = world_of(obstacles)

    def step(self, configurations: Sequence[FloatArray]) -> list[FloatArray]:
        """Joint velocities (n,) [rad/s] of each arm at its (predicted) configuration (n,) [rad].

        `least` [m] is then each arm's nearest distance, at most `influence`. Raises InvalidValueError on values that
        are not finite or too few.
        """
        if len(configurations) != len(self.arms):
            raise InvalidValueError("configurations (number)", len(configurations), f"allowed: {len(self.arms)}")
        for i, q in enumerate(configurations):
            self._q[i][:] = finite_array(q, f"configurations[{i}]", self._q[i].size)
        for i, arm in enumerate(self.arms):
            place(arm, self._q[i], self._at[i])
        for i, arm in enumerate(self.arms):
            self.least[i] = self._one(i, arm)
        return self.velocity

    def _one(self, i: int, arm: Arm) -> float:
        up, down = self._up[i], self._down[i]
        up[:] = 0.0
        down[:] = 0.0
        least = _from_obstacles(arm, self._world, self._at[i], self._law, up, down)
        for j, other in enumerate(self.arms):
            if j != i:
                least = min(least, _from_arm(arm, self._at[i], other, self._at[j], self._law, up, down))
        _settle(arm, self._q[i], self._law, self._ceiling[i], up, down, self.velocity[i])
        return float(least)


def step_twist(jacobian: FloatArray, velocity: FloatArray, period: float) -> FloatArray:
    """Displacement (6,) [m], [rad] in one sample of the frame of `jacobian` (6, n): the further source of GCMSF."""
    return np.asarray(jacobian @ velocity * period)
