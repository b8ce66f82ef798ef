"""Benchmark of scenes from point clouds: for every answer another cloud, as voxels, and the true points to judge by."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import coal
import numpy as np
import pinocchio as pin

from telerobot_nodes.bench import report
from telerobot_nodes.bench.planner.problems import FAMILIES, Problem, make_problems
from telerobot_nodes.core.robot import LinkShape, RobotModel, link_shapes, load_robot
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import (
    ArmGeometry,
    Change,
    Obstacle,
    Scene,
    arm_geometry,
    link_poses_of,
    nearest,
    scene_of,
    world_of,
)
from telerobot_nodes.cspace.scenes import CLOUD, CloudSettings, CloudVoxels, RobotPoints, cloud_voxels
from telerobot_nodes.cspace.search import path_samples
from telerobot_nodes.cspace.service import Goal, PlanAnswer, PlanningService, PlanRequest
from telerobot_nodes.errors import TelerobotError

POINTS = 100_000  # of a cloud
TRIES = 20_000
MARGIN, SPARE = 0.005, 0.002  # [m] of the planner, and more at start and goal
STEP = 0.05  # [rad] of the check along paths
REGION = (-1.2, -1.2, -0.1, 1.2, 1.2, 1.5)
EDGES = np.linspace(0.012, 0.06, 25)  # [m] of voxels that are tried


def run(options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return conditions, figures and goals.

    Options: `robot` (panda), `problems` (10) per family, `seed` (0) of the first, `voxels` (4000) of a cloud, about.
    Clouds are points on the furniture; the floor stays a half-space. The edge of the voxels is chosen by their number.
    """
    options = options or {}
    robot = load_robot(str(options.get("robot", "panda")))
    count, wanted = int(options.get("problems", 10)), int(options.get("voxels", 4000))
    problems = make_problems(arm_geometry(robot), count, int(options.get("seed", 0)))
    service, shape = PlanningService({"arm": robot}), RobotPoints(robot)
    service.warm()
    _row(service, shape, problems[0], wanted)  # compiles
    rows = [_row(service, shape, problem, wanted) for problem in problems]
    figures = {"all": _summary(rows)} | {
        family: _summary([r for p, r in zip(problems, rows, strict=True) if p.family == family]) for family in FAMILIES
    }
    return report.result(report.conditions(), figures, _goals(figures["all"]))


def surface_points(things: tuple[Obstacle, ...], count: int, rng: np.random.Generator) -> FloatArray:
    """Return about `count` points (n, 3) [m] on boxes and cylinders, evenly over their surfaces."""
    solids = [thing for thing in things if thing.kind in ("box", "cylinder")]
    areas = np.array([_area(solid) for solid in solids])
    numbers = np.ceil(count * areas / areas.sum()).astype(int)
    found = []
    for solid, number in zip(solids, numbers.tolist(), strict=True):
        T, is_box = solid.T_world_obstacle, solid.kind == "box"
        local = _on_box(solid.size, number, rng) if is_box else _on_cylinder(solid.size, number, rng)
        found.append(local @ T.rotation.T + T.translation)
    return np.vstack(found)


def _area(solid: Obstacle) -> float:
    if solid.kind == "box":
        x, y, z = solid.size
        return 2.0 * (x * y + y * z + z * x)
    radius, length = solid.size
    return 2.0 * np.pi * radius * (radius + length)


def _on_box(size: tuple[float, ...], count: int, rng: np.random.Generator) -> FloatArray:
    half = 0.5 * np.array(size)
    areas = np.array([half[1] * half[2], half[2] * half[0], half[0] * half[1]])
    axis, points = rng.choice(3, count, p=areas / areas.sum()), rng.uniform(-half, half, (count, 3))
    rows = np.arange(count)
    points[rows, axis] = np.sign(points[rows, axis]) * half[axis]
    return points


def _on_cylinder(size: tuple[float, ...], count: int, rng: np.random.Generator) -> FloatArray:
    radius, length = size
    angle, z = rng.uniform(0.0, 2.0 * np.pi, count), rng.uniform(-0.5, 0.5, count) * length
    away = np.full(count, radius)
    ends = rng.uniform(0.0, radius + length, count) < radius
    away[ends], z[ends] = radius * np.sqrt(rng.uniform(0.0, 1.0, ends.sum())), 0.5 * length * np.sign(z[ends])
    return np.column_stack([away * np.cos(angle), away * np.sin(angle), z])


def _row(service: PlanningService, shape: RobotPoints, problem: Problem, wanted: int) -> dict[str, Any]:
    """Return what one cloud and one answer took, and how near the path comes to the points."""
    points = surface_points(problem.obstacles, POINTS, np.random.default_rng(problem.seed))
    edge = min(EDGES, key=lambda e: abs(_cells(points, float(e)) - wanted))
    began = time.perf_counter()
    found = _voxels(points, float(edge), shape, problem.start)
    row: dict[str, Any] = {"convert": time.perf_counter() - began, "voxels": len(found.voxels or ()), "edge": edge}
    scene = _scene(problem, found)
    start, goal = _ends(service.geometry("arm"), scene, points, np.random.default_rng(problem.seed))
    began, cpu = time.perf_counter(), time.thread_time()
    service.set_scene(scene)
    answer = service.plan(PlanRequest((Goal("arm", start, joints=goal),)))
    row |= {"seconds": time.perf_counter() - began, "cpu": time.thread_time() - cpu, "outcome": answer.result.value}
    if answer.found:
        row["distance"] = _least_distance(shape, answer, points, problem.start)
    return row


def _cells(points: FloatArray, edge: float) -> int:
    """Return how many cells of a grid hold points."""
    x, y, z = np.floor(points / edge).astype(np.int64).T + 2**15
    return len(np.unique((x << 32) + (y << 16) + z))


def _voxels(points: FloatArray, edge: float, shape: RobotPoints, q: FloatArray) -> CloudVoxels:
    settings = CloudSettings(edge, 0.03, REGION)
    return cloud_voxels(points, settings, lambda rows, d: shape.near(rows, q, d), lambda rows, d: shape.own(rows, q, d))


def _scene(problem: Problem, found: CloudVoxels) -> Scene:
    planes = scene_of([thing for thing in problem.obstacles if thing.kind == "half_space"])
    return planes.changed([Change(CLOUD, (found.voxels,) if found.voxels is not None else ())])


def _ends(
    geometry: ArmGeometry, scene: Scene, points: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return a start and a goal that are free among the voxels, the goal's tool between the points, the start's not."""
    world, poses, robot = world_of(scene.obstacles, MARGIN), link_poses_of(geometry.arm), geometry.robot
    low, high = points.min(axis=0), points.max(axis=0)
    found: dict[bool, FloatArray] = {}
    for _ in range(TRIES):
        q = rng.uniform(robot.limits.lower, robot.limits.upper)
        tool = robot.forward(q).translation
        inside = bool(((tool > low) & (tool < high)).all())
        if inside not in found and nearest(geometry.arm, world, poses, q, 2.0 * SPARE)[0] > SPARE:
            found[inside] = q
            if len(found) == 2:
                return found[False], found[True]
    raise TelerobotError(f"no free start and goal among the voxels in {TRIES} samples")


def _least_distance(shape: RobotPoints, answer: PlanAnswer, points: FloatArray, start: FloatArray) -> float:
    """Return the least distance [m] of the true shapes to points along a path, those taken for the robot's left out."""
    low, high = np.array(REGION[:3]), np.array(REGION[3:])
    seen = points[((points >= low) & (points < high)).all(axis=1)]
    seen = seen[~shape.own(seen, start, 0.03)]
    distances = PointDistances(shape.robot, seen)
    return min(distances.least(q) for q in path_samples(answer.paths[0].waypoints, STEP))


class PointDistances:
    """Distances of an arm's true shapes to points, by coal; no code of the planner is used."""

    def __init__(self, robot: RobotModel, points: FloatArray) -> None:
        from scipy.spatial import cKDTree

        self._robot, self._data, self._points = robot, robot.new_data(), points
        self._tree, self._dot = cKDTree(points), coal.Sphere(1e-9)
        self._shapes = [shape for shape in link_shapes(robot) if shape.link > 0]

    def least(self, q: FloatArray, most: float = 0.03) -> float:
        """Return the least distance [m] at `q` (dof,) [rad], `most` where it is more; below 0: a point is inside."""
        pin.forwardKinematics(self._robot.model, self._data, q)
        least = most
        for shape in self._shapes:
            for T in shape.placements:
                least = min(least, self._of(shape, self._data.oMi[shape.link] * T, least))
        return least

    def _of(self, shape: LinkShape, T: pin.SE3, most: float) -> float:
        solid, at = shape.solid, coal.Transform3s(T.rotation, T.translation)
        solid.computeLocalAABB()
        low, high = (np.array(corner) for corner in (solid.aabb_local.min_, solid.aabb_local.max_))
        reach = 0.5 * float(np.linalg.norm(high - low)) + most
        near = self._points[self._tree.query_ball_point(T.act(0.5 * (low + high)), reach)]
        local = (near - T.translation) @ T.rotation
        away = np.linalg.norm(np.maximum(np.maximum(low - local, local - high), 0.0), axis=1)
        for k in np.argsort(away).tolist():
            if away[k] >= most:
                break
            point = coal.Transform3s(np.eye(3), near[k])
            found = coal.distance(solid, at, self._dot, point, coal.DistanceRequest(), coal.DistanceResult())
            most = min(most, float(found))
        return most


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    solved = [row for row in rows if row["outcome"] == "found"]
    outcomes = [row["outcome"] for row in rows]
    out: dict[str, Any] = {"problems": len(rows), "outcomes": {name: outcomes.count(name) for name in set(outcomes)}}
    out["voxels_median"] = int(np.median([row["voxels"] for row in rows]))
    out["voxels_most"] = max(row["voxels"] for row in rows)
    out["edge_median_mm"] = round(1e3 * float(np.median([row["edge"] for row in rows])), 1)
    for name, some in (("convert", rows), ("seconds", rows), ("cpu", rows)):
        values = 1e3 * np.array([row[name] for row in some])
        out[f"{name}_median_ms"] = round(float(np.median(values)), 2)
        out[f"{name}_p95_ms"] = round(float(np.percentile(values, 95)), 2)
    if solved:
        values = 1e3 * np.array([row["seconds"] for row in solved])
        out["found_median_ms"] = round(float(np.median(values)), 2)
        out["found_cpu_median_ms"] = round(1e3 * float(np.median([row["cpu"] for row in solved])), 2)
        out["found_p95_ms"] = round(float(np.percentile(values, 95)), 2)
        out["distance_least_mm"] = round(1e3 * min(row["distance"] for row in solved), 3)
    return out


def _goals(figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = figures["outcomes"].get("found", 0)
    goals = [report.goal("paths found", found, "paths", ">=", 1)]
    median = figures.get("found_median_ms", np.nan)
    goals.append(report.goal("answers with a path, a new cloud before each, median", median, "ms", "<=", 50.0))
    least = figures.get("distance_least_mm", np.nan)
    goals.append(report.goal("least distance of true shapes to points along paths", least, "mm", ">=", 0.0))
    return goals
