"""A plan made ready to leave: timed, sampled, and as points for displays."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from telerobot_nodes.core.path_timing import time_path
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.arm_geometry import ArmGeometry
from telerobot_nodes.cspace.certificate import Certificate
from telerobot_nodes.cspace.clearance import clearance
from telerobot_nodes.cspace.obstacles import world_of
from telerobot_nodes.cspace.placing import bound_links, chords, lever, place, places_of
from telerobot_nodes.cspace.planner import Plan, Planner
from telerobot_nodes.cspace.requests import PathPicture, PlannedPath

POINTS = 200  # of a displayed path at most


def timed_path(arm: str, planner: Planner, plan: Plan, speed: float, period: float) -> PlannedPath:
    """The planned path with its timing, sampled every `period` [s], from rest to rest."""
    robot = planner.geometry.robot
    path = plan.path if len(plan.path) > 1 else np.vstack([plan.path, plan.path])
    timed = time_path(path, robot.limits, speed=speed)
    times = np.append(np.arange(0.0, timed.duration, period), timed.duration)
    states = [timed.at(float(t)) for t in times]
    certificate = plan.certificate or Certificate(path[:0], path[:0])
    return PlannedPath(
        arm,
        robot.joint_names,
        plan.path,
        times,
        np.array([state[0] for state in states]),
        np.array([state[1] for state in states]),
        plan.length,
        plan.clearance,
        len(certificate),
        picture_of(planner, plan.path, certificate),
    )


def picture_of(planner: Planner, path: FloatArray, certificate: Certificate) -> PathPicture:
    """The tool and the clearance along a path (k, n) [rad], and where its cells hold the tool."""
    robot = planner.geometry.robot
    rows = _spread(path)
    outward, inward = _clearances(planner, rows)
    return PathPicture(
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
    at = places_of(arm)
    alone, nothing = arm._replace(pairs=arm.pairs[:0]), world_of([], settings.margin, settings.self_margin)
    outward = [clearance(alone, planner.world, at, np.array(q)) for q in rows]
    return np.array(outward), np.array([clearance(arm, nothing, at, np.array(q)) for q in rows])


def tool_motion(geometry: ArmGeometry, q: FloatArray, half: FloatArray) -> float:
    """How far the tool can get [m] from its place at `q` within the cell of half widths `half` (n,) [rad]."""
    at = places_of(geometry.arm)
    place(geometry.arm, np.array(q), at)
    chords(geometry.arm, np.array(half), at.width)
    bound_links(geometry.arm, at)
    tool = np.array(geometry.robot.forward(q).translation)
    slides = geometry.arm.prismatic > 0.0
    return float(
        sum(at.width[j] * (1.0 if slides[j] else lever(at, j + 1, tool)) for j in range(geometry.dof) if half[j] > 0.0)
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
