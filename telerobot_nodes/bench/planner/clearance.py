"""Benchmark of what is proved, by an own judge with the true shapes: nothing may penetrate where a proof says free.

Looked at: corners and inside of random cells that the planner's spheres prove, as large as the proof allows; and
certified paths, with the cells of their certificates. Margins are 0. And of configurations without contact, how many
the planner accepts.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.bench import chosen, report
from telerobot_nodes.bench.planner.families import FAMILIES, KNOWN, family_robot
from telerobot_nodes.bench.planner.true_shapes import TrueShapes
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import (
    ArmGeometry,
    Obstacle,
    arm_geometry,
    box,
    cylinder,
    link_poses_of,
    probe,
    sphere,
    world_of,
)
from telerobot_nodes.cspace.search import Planner, PlannerSettings, check_certificate, path_samples

SETTINGS = PlannerSettings(margin=0.0, tree_probes=20_000, cells=50)
ACCEPTED = {"panda": 0.99, "arm": 0.97, "ur5": 0.97}  # [-] of the free configurations
CELLS_PART = 0.5  # of the configurations; the others are along paths
PER_SCENE = 1000  # configurations among the same obstacles
STEP, MOST = 0.02, 150  # [rad] along paths; configurations of one path


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals.

    Options: `configurations` (100,000) of all families together, `free` (1,000) configurations without contact for each
    robot known by name, `families` (all, with commas), `seed` (0).
    """
    options = options or {}
    seed, free = int(options.get("seed", 0)), int(options.get("free", 1000))
    families = chosen(options, "families", FAMILIES)
    each = math.ceil(int(options.get("configurations", 100_000)) / len(families))
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for family in families:
            began = time.perf_counter()
            geometry = arm_geometry(family_robot(family, Path(folder)))
            rng = np.random.default_rng([seed, FAMILIES.index(family)])
            figures[family] = _looked_at(geometry, each, rng)
            if family in KNOWN:
                figures[family] |= _accepted(geometry, free, rng)
            figures[family]["seconds"] = round(time.perf_counter() - began, 1)
    return report.result(report.conditions(seed), figures, _goals(figures))


@dataclass
class Tally:
    """What the judge saw of one family."""

    count: int = 0
    penetrations: int = 0
    least: float = math.inf  # [m]
    pair: tuple[str, str] = ("", "")
    wrong: list[dict[str, Any]] = field(default_factory=list)

    def look(self, judge: TrueShapes, q: FloatArray) -> None:
        """Let the judge measure one configuration (n,) [rad] that is said to be free."""
        found = judge.nearest(q, min(self.least, 1.0))
        self.count += 1
        if found.distance < self.least:
            self.least, self.pair = found.distance, found.names
        if found.distance <= 0.0:
            self.penetrations += 1
            self.wrong.append({"q": q.tolist(), "pair": found.names, "deep_mm": -1e3 * found.distance})
            self.least = math.inf if self.penetrations < 10 else 0.0  # others are looked for all the same

    def figures(self, name: str) -> dict[str, Any]:
        """What was seen, under keys that begin with `name`."""
        return {
            f"{name}_configurations": self.count,
            f"{name}_penetrations": self.penetrations,
            f"{name}_least_mm": round(1e3 * self.least, 4),
            f"{name}_least_pair": " and ".join(self.pair),
            f"{name}_wrong": self.wrong[:10],
        }


def _looked_at(geometry: ArmGeometry, count: int, rng: np.random.Generator) -> dict[str, Any]:
    """Figures of one family: configurations in proved cells, then along certified paths."""
    judge, by_cells, by_paths = TrueShapes(geometry.robot, rng), Tally(), Tally()
    wanted = int(CELLS_PART * count)
    while by_cells.count < wanted:
        things = surround(judge, rng)
        for q in in_cells(geometry, things, min(PER_SCENE, wanted - by_cells.count), rng):
            by_cells.look(judge, q)
    paths = refused = 0
    while by_paths.count < count - wanted:
        things, before = surround(judge, rng), by_paths.count
        planner = Planner(geometry, things, SETTINGS)
        for _ in range(50):
            path = _certified(planner, rng)
            refused += path is None
            paths += path is not None and len(path) > 0
            for q in () if path is None else path[: count - wanted - by_paths.count]:
                by_paths.look(judge, q)
            if by_paths.count >= min(before + PER_SCENE, count - wanted):
                break
    figures = by_cells.figures("cells") | by_paths.figures("paths")
    pairs = judge.checked ^ geometry.checked
    return figures | {"paths": paths, "certificates_refused": refused, "pairs_of_one_only": sorted(pairs)}


def surround(judge: TrueShapes, rng: np.random.Generator) -> list[Obstacle]:
    """Nine things around the arm; none at its base, where no configuration would be free."""
    things: list[Obstacle] = []
    while len(things) < 9:
        at = rng.uniform((-0.9, -0.9, -0.2), (0.9, 0.9, 1.2))
        if math.hypot(*at[:2]) < 0.3:
            continue
        turned = (*at, *pin.Quaternion(pin.rpy.rpyToMatrix(*rng.uniform(-3.0, 3.0, 3))).coeffs())
        kind, name = len(things) % 3, f"thing_{len(things)}"
        if kind == 0:
            things.append(box(name, rng.uniform(0.05, 0.25, 3), turned))
        elif kind == 1:
            things.append(cylinder(name, rng.uniform(0.02, 0.08), rng.uniform(0.1, 0.5), turned))
        else:
            things.append(sphere(name, rng.uniform(0.03, 0.12), at))
    judge.surround((o.name, o.kind, o.size, o.T_world_obstacle) for o in things)
    return things


def in_cells(
    geometry: ArmGeometry, things: list[Obstacle], count: int, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Configurations at corners of proved cells and inside; a cell is as large as it can be proved."""
    arm, world, poses, made, tries = geometry.arm, world_of(things), link_poses_of(geometry.arm), 0, 0
    while made < count and tries < 20 * count:
        tries += 1
        q = rng.uniform(arm.lower, arm.upper)
        half = rng.uniform(0.0, rng.choice([0.03, 0.1, 0.3]), q.size)
        ratio = probe(arm, world, poses, q, half)
        if ratio <= 0.0:
            continue
        for _ in range(min(4, count - made)):
            corner = rng.uniform(-1.0, 1.0, q.size)
            yield q + ratio * half * (np.sign(corner) if made % 4 else corner)
            made += 1


def _certified(planner: Planner, rng: np.random.Generator) -> FloatArray | None:
    """Configurations along a path and in its cells; none without a path, None when the checker refuses it."""
    geometry, limits = planner.geometry, planner.geometry.robot.limits
    start, goal = rng.uniform(limits.lower, limits.upper, (2, geometry.dof))
    plan = planner.plan(start, goal)
    if not plan.found or plan.certificate is None:
        return np.empty((0, geometry.dof))
    if not check_certificate(plan.certificate, plan.path, geometry, planner.obstacles, 0.0).valid:
        return None
    rows = path_samples(plan.path, STEP)
    rows = rows[rng.permutation(len(rows))[:MOST]]
    centers, halves = plan.certificate.centers, plan.certificate.halves
    chosen_cells = rng.integers(len(centers), size=len(rows) // 2)
    corners = centers[chosen_cells] + halves[chosen_cells] * rng.choice([-1.0, 1.0], (len(chosen_cells), geometry.dof))
    return np.vstack([rows, corners])


def _accepted(geometry: ArmGeometry, count: int, rng: np.random.Generator) -> dict[str, Any]:
    """Of random configurations without contact, those that the planner accepts; and the pairs it refuses others for."""
    judge, planner, limits = TrueShapes(geometry.robot, rng), Planner(geometry, [], SETTINGS), geometry.robot.limits
    free, accepted, refused = 0, 0, dict[str, int]()
    while free < count:
        q = rng.uniform(limits.lower, limits.upper)
        if judge.nearest(q, 0.01).distance <= 0.0:
            continue
        free += 1
        distance, pair = planner.status(q)
        accepted += distance > 0.0
        if not distance > 0.0:
            refused[pair] = refused.get(pair, 0) + 1
    worst = dict(sorted(refused.items(), key=lambda row: -row[1])[:5])
    return {"free": free, "accepted_part": round(accepted / free, 4), "refused_for": worst}


def _goals(figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = figures.values()
    count = sum(row["cells_configurations"] + row["paths_configurations"] for row in rows)
    wrong = sum(row["cells_penetrations"] + row["paths_penetrations"] for row in rows)
    goals = [
        report.goal("configurations looked at", count, "", ">=", 100_000),
        report.goal("penetrations", wrong, "", "==", 0),
    ]
    for robot, part in ACCEPTED.items():
        if robot in figures:
            name = f"free configurations accepted, {robot}"
            goals.append(report.goal(name, 100.0 * figures[robot]["accepted_part"], "%", ">=", 100.0 * part))
    return goals
