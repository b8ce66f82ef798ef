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
from typing import Protocol

import numpy as np

from telerobot_nodes.core.values import FloatArray, interpolate, pose_distance, pose_from_se3, se3_from_pose
from telerobot_nodes.errors import JoinError, OutOfReachError
from telerobot_nodes.plan.log import Timing
from telerobot_nodes.plan.shaping import PathTimeParameterization, Reach, SampledPoints, SegmentTime, TimeBaseConfig

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
        segment_time: SegmentTime | None = None,
    ) -> None:
        """`period` [s] of plan time between points."""
        self._config = config
        self._period = period
        self._reach = reach
        self._blocked = blocked
        self._planner = planner
        self._segment_time = segment_time

    def connect(self, start: FloatArray, goal: FloatArray) -> SampledPoints:
        """Points from pose `start` (7,), left out, to `goal` (7,), included, from rest to rest; none if they are equal.

        Raises JoinError with the reason when no path is found.
        """
        path = np.array([start]) if same_pose(start, goal) else self._path(start, goal)
        timed = PathTimeParameterization(self._config, self._period, path[0], segment_time=self._segment_time)
        timed.add(list(path[1:]))
        return replace(timed.finish(), timing=Timing.LINK)

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

    def _conflict(self, path: FloatArray) -> str:
        try:
            for pose in (*path[:-1:REACH_CHECK_STEP], path[-1]):
                self._reach(pose)
        except OutOfReachError as error:
            return str(error) or "out of reach"
        return self._blocked(path)


def straight(start: FloatArray, goal: FloatArray) -> FloatArray:
    """Poses (n, 7) of a screw motion from `start` (7,) to `goal` (7,), both included."""
    distance, angle = pose_distance(start, goal)
    n = max(1, int(np.ceil(max(distance / STEP, angle / TURN))))
    a, b = se3_from_pose(start), se3_from_pose(goal)
    inner = [pose_from_se3(interpolate(a, b, k / n)) for k in range(1, n)]
    return np.array([start, *inner, goal])


def same_pose(a: FloatArray, b: FloatArray) -> bool:
    """True when two poses (7,) are the same place for a path."""
    distance, angle = pose_distance(a, b)
    return bool(distance <= SAME_PLACE and angle <= SAME_TURN)
