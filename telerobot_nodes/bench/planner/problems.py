"""Planning problems made by seed: an arm among a table, shelf, box or cage, from one free configuration to another."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.values import FloatArray, one_of
from telerobot_nodes.cspace.geometry import (
    ArmGeometry,
    Obstacle,
    box,
    clearance,
    cylinder,
    floor,
    link_poses_of,
    world_of,
)
from telerobot_nodes.errors import TelerobotError

FAMILIES = ("table", "bookshelf", "box", "cage")
TRIES = 20_000
SPARE = 10_000  # added to the seed of a scene without a free start and goal


@dataclass(frozen=True)
class Problem:
    """Obstacles, a start and a goal (n,) [rad], both free with `margin` [m]."""

    family: str
    seed: int
    obstacles: tuple[Obstacle, ...]
    start: FloatArray
    goal: FloatArray
    margin: float


def make_problem(geometry: ArmGeometry, family: str, seed: int, margin: float = 0.005) -> Problem:
    """Return the problem of a family and seed: the goal's tool is inside the furniture, the start's anywhere else.

    Raises TelerobotError when none is found for this arm.
    """
    one_of(family, "family", FAMILIES)
    rng = np.random.default_rng([FAMILIES.index(family), seed])
    obstacles, low, high = _SCENES[family](rng)
    world, poses = world_of(obstacles, margin), link_poses_of(geometry.arm)
    robot = geometry.robot
    found: list[FloatArray] = []
    for _ in range(TRIES):
        q = rng.uniform(robot.limits.lower, robot.limits.upper)
        tool = robot.forward(q).translation
        inside = bool(((tool > low) & (tool < high)).all())
        if inside == (len(found) == 0) and clearance(geometry.arm, world, poses, q) > 0.002:
            found.append(q)
            if len(found) == 2:
                return Problem(family, seed, tuple(obstacles), found[1], found[0], margin)
    raise TelerobotError(f"family {family}, seed {seed}: no free start and goal in {TRIES} samples")


def make_problems(geometry: ArmGeometry, count: int, first: int = 0) -> list[Problem]:
    """Return `count` problems of every family from seed `first` on; a seed without a problem is skipped."""
    numbers = range(first, first + count)
    return [_one_of(geometry, family, [n + k * SPARE for k in range(6)]) for family in FAMILIES for n in numbers]


def _one_of(geometry: ArmGeometry, family: str, seeds: list[int]) -> Problem:
    for seed in seeds[:-1]:
        with contextlib.suppress(TelerobotError):  # the furniture stands where the arm cannot be
            return make_problem(geometry, family, seed)
    return make_problem(geometry, family, seeds[-1])


Scene = tuple[list[Obstacle], FloatArray, FloatArray]


def _table(rng: np.random.Generator) -> Scene:
    x, z = rng.uniform(0.5, 0.65), rng.uniform(0.15, 0.35)
    things: list[Obstacle] = [floor(height=-0.12), box("table", (0.6, 1.2, 0.04), (x, 0.0, z))]
    for i in range(int(rng.integers(3, 8))):
        px, py = x + rng.uniform(-0.25, 0.25), rng.uniform(-0.55, 0.55)
        height, width = rng.uniform(0.08, 0.35), rng.uniform(0.03, 0.06)
        poses = (px, py, z + 0.02 + 0.5 * height)
        things.append(
            cylinder(f"can_{i}", width, height, poses)
            if i % 2
            else box(f"box_{i}", (2 * width, 2 * width, height), poses)
        )
    return things, np.array([x - 0.3, -0.6, z]), np.array([x + 0.3, 0.6, z + 0.25])


def _bookshelf(rng: np.random.Generator) -> Scene:
    x, depth, height = rng.uniform(0.5, 0.65), 0.3, rng.uniform(0.32, 0.4)
    low = rng.uniform(0.05, 0.2)
    middle = x + 0.5 * depth
    things: list[Obstacle] = [floor(height=-0.12)]
    things += [box(f"shelf_{i}", (depth, 1.0, 0.03), (middle, 0.0, low + i * height)) for i in range(4)]
    tall = 3 * height
    up = low + 0.5 * tall
    things += [box(f"side_{i}", (depth, 0.03, tall), (middle, 0.5 * i - 0.5, up)) for i in range(3)]
    things.append(box("back", (0.03, 1.0, tall), (x + depth, 0.0, up)))
    return things, np.array([x, -0.5, low]), np.array([x + depth, 0.5, low + tall])


def _box(rng: np.random.Generator) -> Scene:
    x, y, z = rng.uniform(0.4, 0.6), rng.uniform(-0.3, 0.3), rng.uniform(0.1, 0.3)
    width, height = rng.uniform(0.35, 0.5), rng.uniform(0.15, 0.3)
    half, wall = 0.5 * width, 0.02
    things: list[Obstacle] = [floor(height=-0.12), box("bottom", (width, width, wall), (x, y, z))]
    for name, dx, dy in (("front", -half, 0.0), ("back", half, 0.0), ("left", 0.0, half), ("right", 0.0, -half)):
        size = (wall, width, height) if dy == 0.0 else (width, wall, height)
        things.append(box(name, size, (x + dx, y + dy, z + 0.5 * height)))
    return things, np.array([x - half, y - half, z]), np.array([x + half, y + half, z + height])


def _cage(rng: np.random.Generator) -> Scene:
    x, y, z, half = rng.uniform(0.45, 0.6), rng.uniform(-0.2, 0.2), rng.uniform(0.3, 0.5), rng.uniform(0.2, 0.26)
    things: list[Obstacle] = [floor(height=-0.12)]
    turn = math.sqrt(0.5)
    along = {0: (0.0, turn, 0.0, turn), 1: (turn, 0.0, 0.0, turn), 2: (0.0, 0.0, 0.0, 1.0)}
    for axis, orientation in along.items():
        others = [i for i in range(3) if i != axis]
        for i, (u, v) in enumerate(((-1, -1), (-1, 1), (1, -1), (1, 1))):
            place = np.array([x, y, z])
            place[others] += half * np.array([u, v])
            things.append(cylinder(f"bar_{axis}_{i}", 0.015, 2.0 * half, (*place, *orientation)))
    return things, np.array([x, y, z]) - half, np.array([x, y, z]) + half


_SCENES = {"table": _table, "bookshelf": _bookshelf, "box": _box, "cage": _cage}
