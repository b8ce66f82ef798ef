"""Links: generated stretches that join two paths, time-parameterised under the plan's limits [US5046022 claims 12, 13].

What belongs here: the way from one pose to another and its time. What must never enter: which points are joined
(`joins.py`), the queue.

The straight way is tried first. Where a checker calls it blocked, or it leaves the reach, a planner is asked; a
planner that fills `LinkPlanner` may go round obstacles. When none is found the link is refused with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from telerobot_nodes.core.frames import interpolate, pose_distance, pose_from_se3, se3_from_pose
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.errors import JoinError, OutOfReachError
from telerobot_nodes.plan.laying import Reach
from telerobot_nodes.plan.time_base import FreeTimeBase, SegmentTime, TimeBaseConfig, Timed

SAME_PLACE = 1e-4  # [m]
SAME_TURN = 1e-3  # [rad]
STEP = 0.005  # [m] between poses of a way
TURN = 0.02  # [rad] between poses of a way
CHECKS = 10  # every so manieth pose is asked for its reach

Blocked = Callable[[FloatArray], str]  # poses (n, 7) of a way -> what blocks it, empty: nothing


class LinkPlanner(Protocol):
    """Finds a way round obstacles."""

    def __call__(self, start: FloatArray, goal: FloatArray) -> FloatArray:
        """Way from pose to pose (n, 7), both included; raises JoinError with the reason when there is none."""


def no_obstacles(way: FloatArray) -> str:
    """Checker for a scene without obstacles."""
    return ""


class Linker:
    """Makes links under one set of limits."""

    def __init__(
        self,
        config: TimeBaseConfig,
        period: float,
        reach: Reach,
        blocked: Blocked = no_obstacles,
        planner: LinkPlanner | None = None,
        segment_time: SegmentTime | None = None,
    ) -> None:
        self._config = config
        self._period = period
        self._reach = reach
        self._blocked = blocked
        self._planner = planner
        self._segment_time = segment_time

    def link(self, start: FloatArray, goal: FloatArray) -> Timed:
        """Points from `start` (left out) to `goal` (included), from rest to rest; empty when they are the same.

        Raises JoinError with the reason when no way is found.
        """
        if same_pose(start, goal):
            return Timed(np.empty(0), np.empty((0, 7)))
        return self._timed(self._way(start, goal))

    def _way(self, start: FloatArray, goal: FloatArray) -> FloatArray:
        way = straight(start, goal)
        reason = self._trouble(way)
        if not reason:
            return way
        if self._planner is None:
            raise JoinError(f"link: {reason}; allowed: a straight way that is free (no planner is there to go round)")
        way = self._planner(start, goal)
        reason = self._trouble(way)
        if reason:
            raise JoinError(f"link: the planner's way fails: {reason}")
        return way

    def _trouble(self, way: FloatArray) -> str:
        try:
            for pose in (*way[:-1:CHECKS], way[-1]):
                self._reach(pose)
        except OutOfReachError as error:
            return str(error) or "out of reach"
        return self._blocked(way)

    def _timed(self, way: FloatArray) -> Timed:
        base = FreeTimeBase(self._config, self._period, way[0], segment_time=self._segment_time)
        base.add(list(way[1:]))
        return base.finish()


def straight(start: FloatArray, goal: FloatArray) -> FloatArray:
    """Poses on the straight way (n, 7), turning evenly; both ends included."""
    distance, angle = pose_distance(start, goal)
    n = max(1, int(np.ceil(max(distance / STEP, angle / TURN))))
    a, b = se3_from_pose(start), se3_from_pose(goal)
    inner = [pose_from_se3(interpolate(a, b, k / n)) for k in range(1, n)]
    return np.array([start, *inner, goal])


def same_pose(a: FloatArray, b: FloatArray) -> bool:
    """True when two poses are the same place for a path."""
    distance, angle = pose_distance(a, b)
    return bool(distance <= SAME_PLACE and angle <= SAME_TURN)
