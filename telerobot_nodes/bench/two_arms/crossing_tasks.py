"""Crossing tasks of two arms made by seed: each arm from one side of the shared zone to the other, among obstacles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.config import share_path
from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.core.timing import time_path
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import (
    ArmGeometry,
    Obstacle,
    World,
    arm_geometry,
    clearance,
    link_poses_of,
    load_world,
    world_of,
)
from telerobot_nodes.cspace.multi_arm import first_meeting, sampled, standing_obstacles
from telerobot_nodes.errors import TelerobotError

URDF, WORLD = "urdf/two_arm_cell.urdf", "config/worlds/two_arm_cell.yaml"
BASES = ("left_base_link", "right_base_link")
LOW, HIGH = (0.42, 0.12, 0.45), (0.88, 0.50, 0.95)  # [m] the tool's zone, |y|
MOVABLE = ("post", "parcel_left", "parcel_right", "can")
PARKS = (np.array([0.0, 2.2, -2.6, 0.0, 0.0, 0.0]),) * 2  # [rad] upright, tool over the base
TRIES = 40_000


@dataclass(frozen=True)
class CrossingTask:
    """Starts and goals of both arms [rad], free with the margin; and what only the physics knows.

    `moved`: the obstacles as they stand when the arms start to move; `later` [s]: how long after the first arm's
    command the second one's comes, 0: together.
    """

    index: int
    starts: tuple[FloatArray, ...]
    goals: tuple[FloatArray, ...]
    moved: tuple[Obstacle, ...]
    later: float
    first: int
    payload: tuple[float, float]
    dry: tuple[float, float]
    viscous: tuple[float, float]


def workcell_robots() -> list[RobotModel]:
    """Return both arms of the cell's URDF, left and right, at their places."""
    model = pin.buildModelFromUrdf(str(share_path(URDF)))
    placed = [model.frames[model.getFrameId(base)].placement for base in BASES]
    return [load_robot("arm", T_world_base=pin.SE3(T)) for T in placed]


def workcell_geometries() -> list[ArmGeometry]:
    """Return the collision spheres of both arms."""
    return [arm_geometry(robot) for robot in workcell_robots()]


def workcell_obstacles() -> list[Obstacle]:
    """Return the obstacles of the cell."""
    return load_world(share_path(WORLD))


def make_task(
    geometries: Sequence[ArmGeometry],
    obstacles: Sequence[Obstacle],
    seed: int,
    index: int,
    margin: float,
    moved_by: float = 0.02,
) -> CrossingTask:
    """Return task `index` of `seed`: each arm's tool crosses y = 0 inside the shared zone, in opposite directions.

    Starts are apart from each other, goals too; arms that went straight there at once would collide. Raises
    TelerobotError when none is found.
    """
    rng = np.random.default_rng([seed, index])
    bases = [standing_obstacles(g, np.array(g.robot.home), f"base_{i}", 1) for i, g in enumerate(geometries)]
    for _ in range(TRIES):
        side = 1.0 if rng.uniform() < 0.5 else -1.0
        starts, goals = (_apart(rng, geometries, obstacles, bases, y, margin) for y in (side, -side))
        if _meet(geometries, starts, goals):
            break
    else:
        raise TelerobotError(f"crossing task {index} of seed {seed}: none in {TRIES} samples")
    return CrossingTask(
        index,
        starts,
        goals,
        tuple(_moved(rng, obstacle, moved_by) for obstacle in obstacles),
        float(rng.uniform(0.2, 1.5)) if rng.uniform() < 0.3 else 0.0,
        int(rng.integers(2)),
        _two(rng, 2.0),
        _two(rng, 0.04),
        _two(rng, 0.06),
    )


def _apart(
    rng: np.random.Generator,
    geometries: Sequence[ArmGeometry],
    obstacles: Sequence[Obstacle],
    bases: Sequence[Sequence[Obstacle]],
    side: float,
    margin: float,
) -> tuple[FloatArray, FloatArray]:
    """Return one configuration per arm, the first one's tool on `side`, the second one's on the other side."""
    first = _draw(rng, geometries[0], [*obstacles, *bases[1]], side, margin)
    around = standing_obstacles(geometries[0], first, "other")
    return first, _draw(rng, geometries[1], [*obstacles, *around], -side, margin)


def _meet(
    geometries: Sequence[ArmGeometry], starts: Sequence[FloatArray], goals: Sequence[FloatArray], period: float = 0.02
) -> bool:
    """True if the arms' spheres overlap when both move straight and start together."""
    rows = [
        sampled(time_path(np.array([a, b]), g.robot.limits), period)
        for g, a, b in zip(geometries, starts, goals, strict=True)
    ]
    return first_meeting(geometries[0], rows[0], geometries[1], rows[1]) >= 0


def _two(rng: np.random.Generator, most: float) -> tuple[float, float]:
    a, b = rng.uniform(0.0, most, 2)
    return float(a), float(b)


def _moved(rng: np.random.Generator, obstacle: Obstacle, most: float) -> Obstacle:
    """Return the obstacle, displaced by up to `most` [m] along the table if it is movable."""
    angle, far = rng.uniform(0.0, 2.0 * math.pi), rng.uniform(0.0, most)
    if obstacle.name not in MOVABLE:
        return obstacle
    offset = pin.SE3(np.eye(3), np.array([far * math.cos(angle), far * math.sin(angle), 0.0]))
    return obstacle.at(offset * obstacle.T_world_obstacle)


def _draw(
    rng: np.random.Generator, geometry: ArmGeometry, things: Sequence[Obstacle], side: float, margin: float
) -> FloatArray:
    """Return a configuration free of `things` with `margin`, the tool on one side of the shared zone."""
    limits, robot = geometry.robot.limits, geometry.robot
    world: World = world_of(things, margin)
    poses = link_poses_of(geometry.arm)
    for _ in range(TRIES):
        q = rng.uniform(limits.lower, limits.upper)
        x, y, z = robot.forward(q).translation.tolist()
        if not (LOW[0] < x < HIGH[0] and LOW[1] < side * y < HIGH[1] and LOW[2] < z < HIGH[2]):
            continue
        if clearance(geometry.arm, world, poses, q) > 0.005:
            return q
    raise TelerobotError(f"crossing task: no free configuration within the shared zone in {TRIES} samples")
