"""Connecting paths between two poses, timed under the plan's limits [US5046022 claims 12, 13].

What belongs here: the path from one pose to another and its time. What must never enter: which points are connected
(`joins.py`), the queue.

The straight path is tried first. If a checker reports that it is blocked, or if it leaves the reach, a planner is
asked, which may go round obstacles. If none is found, the connection is refused with the reason. [US5046022] calls
the connecting path a link; in this project a link is the network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Protocol

import numpy as np

from telerobot_nodes.core.values import FloatArray, pose_distance
from telerobot_nodes.errors import JoinError, OutOfReachError
from telerobot_nodes.plan.log import Timing
from telerobot_nodes.plan.shaping import PathLoad, PathTimeParameterization, Reach, SampledPoints, TimeBaseConfig

SAME_PLACE = 1e-4  # [m]
SAME_TURN = 1e-3  # [rad]
STEP = 0.005  # [m] between poses of a path
TURN = 0.02  # [rad] between poses of a path
REACH_CHECK_STEP = 10  # one pose in so many is checked for reach

Blocked = Callable[[FloatArray], str]  # poses (n, 7) of a path -> what blocks it, empty if nothing


class ConnectionPlanner(Protocol):
    """Plans a path round obstacles."""

    def __call__(self, start: FloatArray, goal: FloatArray) -> FloatArray:
        """Path (n, 7) from pose to pose, both included. Raises JoinError with the reason if there is none."""


def no_obstacles(path: FloatArray) -> str:
    """Checker for a scene without obstacles."""
    return ""


class PathConnector:
    """Computes connecting paths under one set of limits."""

    def __init__(
        self,
        config: TimeBaseConfig,
        period: float,
        reach: Reach,
        blocked: Blocked = no_obstacles,
        planner: ConnectionPlanner | None = None,
        path_load: PathLoad | None = None,
    ) -> None:
        """`period` [s] of plan time between points."""
        self._config = config
        self._period = period
        self._reach = reach
        self._blocked = blocked
        self._planner = planner
        self._path_load = path_load

    def connect(self, start: FloatArray, goal: FloatArray) -> SampledPoints:
        """Points from pose `start` (7,), left out, to `goal` (7,), included, from rest to rest; none if they are equal.

        Raises JoinError with the reason when no path is found.
        """
        path = np.array([start]) if same_pose(start, goal) else self._path(start, goal)
        timed = PathTimeParameterization(self._config, self._period, path[0], path_load=self._path_load)
        timed.add(list(path[1:]))
        points = timed.finish()
        self._check_steps(path[0], points.pose)
        return replace(points, timing=Timing.LINK)

    def check(self, path: FloatArray) -> None:
        """Raise JoinError with the reason when a recorded path (n, 7) leaves the reach or is blocked."""
        reason = self._conflict(thinned(path))
        if reason:
            raise JoinError(f"join: {reason}; allowed: a free trial path, or a connection to its end")

    def _path(self, start: FloatArray, goal: FloatArray) -> FloatArray:
        path = straight(start, goal)
        reason = self._conflict(path)
        if not reason:
            return path
        if self._planner is None:
            raise JoinError(f"join: {reason}; allowed: a free straight path (no planner is available to go round)")
        path = self._planner(start, goal)
        reason = self._conflict(path)
        if reason:
            raise JoinError(f"join: the planner's path fails: {reason}")
        return path

    def _check_steps(self, start: FloatArray, pose: FloatArray) -> None:
        """Raise JoinError when points (n, 7) from `start` (7,) on pass a singularity faster than the arm can."""
        if not self._reach.pass_singularities:
            return
        try:
            for before, after in pairwise((start, *pose)):
                self._reach.step(before, after)
        except OutOfReachError as error:
            raise JoinError(f"join: {error}") from None

    def _conflict(self, path: FloatArray) -> str:
        try:
            for pose in (*path[:-1:REACH_CHECK_STEP], path[-1]):
                self._reach(pose)
        except OutOfReachError as error:
            return str(error) or "out of reach"
        return self._blocked(path)


def straight(start: FloatArray, goal: FloatArray) -> FloatArray:
    """Poses (n, 7) along the line from `start` (7,) to `goal` (7,), both included; it turns evenly, the shorter way."""
    distance, angle = pose_distance(start, goal)
    n = max(1, int(np.ceil(max(distance / STEP, angle / TURN))))
    u = np.linspace(0.0, 1.0, n + 1)[:, None]
    target = goal[3:] if np.dot(start[3:], goal[3:]) >= 0.0 else -goal[3:]
    half = 0.5 * angle
    shares = (1.0 - u, u) if half < 1e-6 else (np.sin((1.0 - u) * half) / np.sin(half), np.sin(u * half) / np.sin(half))
    turn = shares[0] * start[3:] + shares[1] * target
    path = np.hstack([(1.0 - u) * start[:3] + u * goal[:3], turn / np.linalg.norm(turn, axis=1, keepdims=True)])
    path[0], path[-1] = start, goal
    return path


def thinned(path: FloatArray) -> FloatArray:
    """The poses of a path (n, 7) that are a STEP or a TURN apart, with both ends, for checks."""
    kept = [path[0]]
    for pose in path[1:-1]:
        distance, angle = pose_distance(kept[-1], pose)
        if distance >= STEP or angle >= TURN:
            kept.append(pose)
    return np.array([*kept, path[-1]])


def same_pose(a: FloatArray, b: FloatArray) -> bool:
    """True when two poses (7,) are the same place for a path."""
    distance, angle = pose_distance(a, b)
    return bool(distance <= SAME_PLACE and angle <= SAME_TURN)
