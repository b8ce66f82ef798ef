"""A plan with its timing, its samples and its display data."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

import numpy as np

from telerobot_nodes.core.timing import time_path
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import (
    ArmGeometry,
    Obstacle,
    bound_links,
    chords,
    clearance,
    forward_kinematics,
    lever,
    link_poses_of,
    world_of,
)
from telerobot_nodes.cspace.search import Certificate, Plan, Planner
from telerobot_nodes.cspace.service.requests import PathDisplay, PlannedPath, Proof

POINTS = 200  # of a displayed path at most


def timed_path(
    arm: str,
    planner: Planner,
    plan: Plan,
    speed: float,
    period: float,
    ignored: frozenset[str] = frozenset(),
    scene: Collection[Obstacle] = (),
    display: bool = False,
) -> PlannedPath:
    """The planned path with its timing, sampled every `period` [s], from rest to rest.

    `ignored`: names left out of the scene; `scene`: obstacles that the proof need not name; `display`:
    with display data.
    """
    robot = planner.geometry.robot
    path = plan.path if len(plan.path) > 1 else np.vstack([plan.path, plan.path])
    timed = time_path(path, robot.limits, speed=speed)
    times = np.append(np.arange(0.0, timed.duration, period), timed.duration)
    positions, velocities = timed.sampled(times)
    proof = proof_of(planner, plan, ignored, scene)
    return PlannedPath(
        arm,
        robot.joint_names,
        plan.path,
        times,
        positions,
        velocities,
        plan.length,
        plan.clearance,
        len(proof.certificate),
        proof,
        display_of(planner, plan.path, proof.certificate) if display else None,
    )


def proof_of(planner: Planner, plan: Plan, ignored: frozenset[str], scene: Collection[Obstacle]) -> Proof:
    """The proof of a plan; the planner's obstacles that are not of the scene are named in it."""
    geometry, settings = planner.geometry, planner.settings
    known = {obstacle.name for obstacle in scene}
    return Proof(
        plan.certificate or Certificate(plan.path[:0], plan.path[:0]),
        settings.margin,
        settings.self_margin,
        geometry.allowed,
        geometry.fingers,
        ignored,
        tuple(obstacle for obstacle in planner.obstacles if obstacle.name not in known),
    )


def display_of(planner: Planner, path: FloatArray, certificate: Certificate) -> PathDisplay:
    """The tool and the clearance along a path (k, n) [rad], and where its cells hold the tool."""
    robot = planner.geometry.robot
    rows = _spread(path)
    outward, inward = _clearances(planner, rows)
    return PathDisplay(
        np.array([robot.forward(q).translation for q in rows]).reshape(-1, 3),
        outward,
        inward,
        np.array([robot.forward(q).translation for q in certificate.centers]).reshape(-1, 3),
        np.array(
            [
                tool_motion(planner.geometry, q, half)
                for q, half in zip(certificate.centers, certificate.halves, strict=True)
            ]
        ),
    )


def _clearances(planner: Planner, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Clearance from obstacles and from the arm itself at each row [m]."""
    arm, settings = planner.geometry.arm, planner.settings
    poses = link_poses_of(arm)
    alone, nothing = arm.without_pairs(), world_of([], settings.margin, settings.self_margin)
    outward = [clearance(alone, planner.world, poses, np.array(q)) for q in rows]
    return np.array(outward), np.array([clearance(arm, nothing, poses, np.array(q)) for q in rows])


def tool_motion(geometry: ArmGeometry, q: FloatArray, half: FloatArray) -> float:
    """Bound [m] on the tool's distance from its place at `q` within the cell of half widths `half` (n,) [rad]."""
    poses = link_poses_of(geometry.arm)
    forward_kinematics(geometry.arm, np.array(q), poses)
    chords(geometry.arm, np.array(half), poses.width)
    bound_links(geometry.arm, poses)
    tool = np.array(geometry.robot.forward(q).translation)
    slides = geometry.arm.prismatic > 0.0
    return float(
        sum(
            poses.width[j] * (1.0 if slides[j] else lever(poses, j + 1, tool))
            for j in range(geometry.dof)
            if half[j] > 0.0
        )
    )


def _spread(path: FloatArray) -> FloatArray:
    """Configurations spread evenly over the path, every waypoint among them."""
    if len(path) < 2:
        return path
    lengths = np.linalg.norm(np.diff(path, axis=0), axis=1)
    counts = np.maximum(np.ceil(POINTS * lengths / max(float(lengths.sum()), 1e-12)), 1).astype(int)
    rows = [path[0]]
    for (a, b), count in zip(pairwise(path), counts, strict=True):
        rows += [a + i / count * (b - a) for i in range(1, int(count) + 1)]
    return np.array(rows)
