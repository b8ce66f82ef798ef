"""Artificial force field: repulsion between arms and from obstacles as joint velocities: bounded, compiled.

[US5347459], [Khatib1986]. A sphere within `influence` of an obstacle or of another arm's sphere is pushed away with
v = gain (1/d - 1/influence), at most `max_speed`, mapped to joints by the transposed Jacobian of its centre. Each
joint takes the strongest push to either side, not the sum, so the number of spheres of a link does not matter. Near a
joint limit the push against it fades out; every joint keeps to a part of its velocity limit. `step_twist` makes the
field the further source of the GCMSF law.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.values import FloatArray, finite_array, in_range
from telerobot_nodes.cspace.geometry.arm_geometry import ArmGeometry
from telerobot_nodes.cspace.geometry.distances import block_farther, distance, farther, nearest_point, square_distance
from telerobot_nodes.cspace.geometry.forward_kinematics import (
    Arm,
    LinkPoses,
    forward_kinematics,
    link_poses_of,
    place_spheres,
)
from telerobot_nodes.cspace.geometry.obstacles import BLOCK, Obstacle, World, world_of
from telerobot_nodes.errors import InvalidValueError

NEAREST = 1e-3  # [m] distances are taken as no smaller


@dataclass(frozen=True)
class FieldSettings:
    """Strength and reach of the field. Raises InvalidValueError."""

    influence: float = 0.08  # [m] farther pairs do not push
    gain: float = 0.004  # [m^2/s]
    max_speed: float = 0.25  # [m/s] of one sphere
    limit_zone: float = 0.15  # [rad] from a joint limit within which pushes against it fade out
    velocity_part: float = 0.5  # [-] of each joint's velocity limit

    def __post_init__(self) -> None:
        in_range(self.influence, "influence", 1e-3, 1.0, "m")
        in_range(self.gain, "gain", 0.0, 1.0, "m^2/s")
        in_range(self.max_speed, "max_speed", 0.0, 5.0, "m/s")
        in_range(self.limit_zone, "limit_zone", 1e-3, 1.0, "rad")
        in_range(self.velocity_part, "velocity_part", 0.0, 1.0)


class Push(NamedTuple):
    """The strongest pushes on each joint so far, [rad/s] or [m/s]."""

    up: FloatArray  # (n,) not below 0
    down: FloatArray  # (n,) not above 0


class _Law(NamedTuple):
    """`FieldSettings` for compiled code."""

    influence: float
    gain: float
    max_speed: float
    limit_zone: float


@numba.njit(cache=True, error_model="numpy")
def _push(
    arm: Arm, poses: LinkPoses, link: int, sphere: int, gap: float, normal: FloatArray, law: _Law, push: Push
) -> None:
    """Add the push on a sphere `gap` [m] away, along `normal`, through the transposed Jacobian."""
    size = min(law.gain * (1.0 / max(gap, NEAREST) - 1.0 / law.influence), law.max_speed)
    center = poses.sphere[sphere]
    square = 1e-9
    for j in range(1, link + 1):
        square += _column(arm, poses, j, center, normal) ** 2
    for j in range(1, link + 1):
        value = size * _column(arm, poses, j, center, normal) / max(square, 0.01)
        push.up[j - 1] = max(push.up[j - 1], value)
        push.down[j - 1] = min(push.down[j - 1], value)


@numba.njit(cache=True, error_model="numpy")
def _column(arm: Arm, poses: LinkPoses, joint: int, point: FloatArray, normal: FloatArray) -> float:
    """Speed of `point` along `normal` at unit rate of `joint`."""
    R, o = poses.rotation[joint], poses.origin[joint]
    z0, z1, z2 = R[0, 2], R[1, 2], R[2, 2]
    if arm.prismatic[joint - 1] > 0.0:
        return float(z0 * normal[0] + z1 * normal[1] + z2 * normal[2])
    x, y, z = point[0] - o[0], point[1] - o[1], point[2] - o[2]
    return float((z1 * z - z2 * y) * normal[0] + (z2 * x - z0 * z) * normal[1] + (z0 * y - z1 * x) * normal[2])


@numba.njit(cache=True, error_model="numpy")
def _from_obstacles(arm: Arm, world: World, poses: LinkPoses, law: _Law, push: Push) -> float:
    """Add the pushes of obstacles; the least distance [m], at most `influence`."""
    least, normal = law.influence, np.zeros(3)
    for k in range(arm.first_moving, arm.link_radius.size):
        reach = arm.link_radius[k] + law.influence
        for block in range(world.blocks.shape[0]):
            if block_farther(world, block, poses.link[k], reach):
                continue
            for o in range(BLOCK * block, min(BLOCK * (block + 1), world.reach.size)):
                if farther(world, o, poses.link[k], reach) or distance(world, o, poses.link[k]) >= reach:
                    continue
                place_spheres(arm, poses, k)
                for i in range(arm.sphere_first[arm.link_first[k]], arm.sphere_first[arm.link_first[k + 1]]):
                    gap = distance(world, o, poses.sphere[i]) - arm.sphere_radius[i]
                    if gap < law.influence:
                        nearest_point(world, o, poses.sphere[i], normal)
                        _push(arm, poses, k, i, gap, normal, law, push)
                        least = min(least, gap)
    return float(least)


@numba.njit(cache=True, error_model="numpy")
def _from_arm(arm: Arm, poses: LinkPoses, other: Arm, other_poses: LinkPoses, law: _Law, push: Push) -> float:
    """Add the pushes of another arm's spheres; the least distance [m], at most `influence`."""
    least, normal = law.influence, np.zeros(3)
    for k in range(1, arm.link_radius.size):
        for m in range(other.link_radius.size):
            reach = arm.link_radius[k] + other.link_radius[m] + law.influence
            if square_distance(poses.link[k], other_poses.link[m]) > reach * reach:
                continue
            place_spheres(arm, poses, k)
            place_spheres(other, other_poses, m)
            for i in range(arm.sphere_first[arm.link_first[k]], arm.sphere_first[arm.link_first[k + 1]]):
                for j in range(other.sphere_first[other.link_first[m]], other.sphere_first[other.link_first[m + 1]]):
                    reach = arm.sphere_radius[i] + other.sphere_radius[j] + law.influence
                    square = square_distance(poses.sphere[i], other_poses.sphere[j])
                    if square >= reach * reach:
                        continue
                    between = math.sqrt(square)
                    for r in range(3):
                        normal[r] = (poses.sphere[i, r] - other_poses.sphere[j, r]) / max(between, 1e-9)
                    gap = between - reach + law.influence
                    _push(arm, poses, k, i, gap, normal, law, push)
                    least = min(least, gap)
    return float(least)


@numba.njit(cache=True, error_model="numpy")
def _settle(arm: Arm, q: FloatArray, law: _Law, ceiling: FloatArray, push: Push, velocity: FloatArray) -> None:
    """Sum of the pushes to both sides into `velocity`, faded at joint limits, within `ceiling`."""
    for i in range(q.size):
        value = push.up[i] + push.down[i]
        room = arm.upper[i] - q[i] if value > 0.0 else q[i] - arm.lower[i]
        value *= min(max(room / law.limit_zone, 0.0), 1.0)
        velocity[i] = min(max(value, -ceiling[i]), ceiling[i])


class ForceField:
    """The field between arms and around obstacles. One thread; the arrays returned are reused."""

    def __init__(
        self, geometries: Sequence[ArmGeometry], obstacles: Sequence[Obstacle], settings: FieldSettings | None = None
    ) -> None:
        self.settings = settings or FieldSettings()
        self.arms = [geometry.arm for geometry in geometries]
        self._poses = [link_poses_of(arm) for arm in self.arms]
        self._q = [np.zeros(geometry.dof) for geometry in geometries]
        self._push = [Push(np.zeros(geometry.dof), np.zeros(geometry.dof)) for geometry in geometries]
        self.velocity: list[FloatArray] = [np.zeros(geometry.dof) for geometry in geometries]
        self.least = [self.settings.influence] * len(self.arms)
        s = self.settings
        self._ceiling = [s.velocity_part * np.array(geometry.robot.limits.velocity) for geometry in geometries]
        self._law = _Law(s.influence, s.gain, s.max_speed, s.limit_zone)
        self.set_obstacles(obstacles)

    def set_obstacles(self, obstacles: Sequence[Obstacle]) -> None:
        """Use other obstacles from the next step on. Raises InvalidValueError, changing nothing."""
        self._world = world_of(obstacles)

    def step(self, configurations: Sequence[FloatArray]) -> list[FloatArray]:
        """Joint velocities (n,) [rad/s] of each arm at its (predicted) configuration (n,) [rad].

        `least` [m] is then the least distance of each arm, at most `influence`. Raises InvalidValueError on values that
        are not finite or too few.
        """
        if len(configurations) != len(self.arms):
            raise InvalidValueError("configurations (number)", len(configurations), f"allowed: {len(self.arms)}")
        for i, q in enumerate(configurations):
            self._q[i][:] = finite_array(q, f"configurations[{i}]", self._q[i].size)
        for i, arm in enumerate(self.arms):
            forward_kinematics(arm, self._q[i], self._poses[i])
        for i, arm in enumerate(self.arms):
            self.least[i] = self._one(i, arm)
        return self.velocity

    def _one(self, i: int, arm: Arm) -> float:
        push = self._push[i]
        push.up[:] = push.down[:] = 0.0
        least = _from_obstacles(arm, self._world, self._poses[i], self._law, push)
        for j, other in enumerate(self.arms):
            if j != i:
                least = min(least, _from_arm(arm, self._poses[i], other, self._poses[j], self._law, push))
        _settle(arm, self._q[i], self._law, self._ceiling[i], push, self.velocity[i])
        return float(least)


def step_twist(jacobian: FloatArray, velocity: FloatArray, period: float) -> FloatArray:
    """Displacement (6,) [m], [rad] in one sample of the frame of `jacobian` (6, n): the further source of GCMSF."""
    return np.asarray(jacobian @ velocity * period)
