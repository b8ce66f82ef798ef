"""Time parameterization of a path from its geometry alone: the artificial time base [US5046022 claims 1(e), 2].

What belongs here: poses in order in, points with plan time out. What must never enter: when the operator moved.

The method is that of [BobrowDubowskyGibson1985]: a forward and a backward pass over the speed along the path. The
profile keeps `speed`, `acceleration` (along and across the path together, `curvature_limits.py`) and the limits of the
joints, where `path_load` knows their load. A moving average over `smoothing` seconds bounds the jerk.

Streaming: a point is final when no later geometry can change it, that is, before the braking for the end of the known
path begins. The rest follows when the operator moves on, when the operator stands still (then the path ends there, at
rest), or soon if the robot would otherwise run out of points. Only in that last case the pace of an operator slower
than `SLOW` limits the speed, so that the arm creeps along instead of stopping and going.
"""

from __future__ import annotations

import bisect
import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.plan.log import MIN_STEP, Timing
from telerobot_nodes.plan.shaping.curvature_limits import ALONG, LEAST_RAMP
from telerobot_nodes.plan.shaping.spline_path import SPACING, PathLoad, SplinePath
from telerobot_nodes.plan.shaping.time_base_config import TimeBaseConfig

EDGE = 3  # vertices at the open end whose curve is not complete yet
SLOW = 0.03  # [-] of full speed: the pace of a slower operator limits a robot that would run out of points
STILL = 0.2 * SPACING  # [s] of sigma: an operator who moves more in half of `still` only creeps
PACE_SPAN = 2  # vertices to either side over which the operator's pace is averaged


@dataclass(frozen=True)
class SampledPoints:
    """New points of one kind of timing."""

    step: FloatArray  # (n,) [s] plan time since the point before
    pose: FloatArray  # (n, 7)
    timing: Timing = Timing.FREE

    def __len__(self) -> int:
        return int(self.step.size)


class PathTimeParameterization:
    """Poses in order in, points evenly spaced in plan time out."""

    def __init__(
        self,
        config: TimeBaseConfig,
        period: float,
        pose: FloatArray,
        speed: float = 0.0,
        path_load: PathLoad | None = None,
    ) -> None:
        """The path begins at `pose` (7,), `speed` [-] of full speed; points are `period` [s] of plan time apart."""
        self._config = config
        self._period = period
        self._path_load = path_load
        self._least = ALONG if path_load is None else LEAST_RAMP  # [-] of the ramp, where the path is not known yet
        self._window = max(1, round(config.smoothing / period))
        self._begin(pose, min(speed, 4.0))

    @property
    def pending(self) -> float:
        """Plan time, at full speed, that is recorded and not released yet [s]."""
        return max(self._path.end - self._recent[-1], 0.0)

    def add(self, poses: list[FloatArray]) -> None:
        """Record `poses` (7,), in order, of one more sample period."""
        path = self._path
        if len(path) == 1 and path.beyond == 0.0:
            path.counts[0] = self._count  # the path begins when the operator starts to move
        self._count += 1
        for pose in poses:
            path.add(pose, self._count)
        self._walked.append(path.end + path.beyond)

    def release(self, underrun_imminent: bool = False) -> SampledPoints:
        """Points that are final now; if the robot would run out of points, also those older than `hold`."""
        if self._is_still():
            return self.finish()
        unknown = 1.0 if underrun_imminent else self._least
        back, free = self._limits(0.0, unknown), self._limits(math.inf, unknown)
        final = self._final(back, free)
        if underrun_imminent:
            oldest = self._count - round(self._config.hold / self._period)
            final = max(final, bisect.bisect_right(self._path.counts, oldest) - 1 - EDGE)
            back = np.minimum(back, self._pace())
        return self._run(back, self._path.start + final * SPACING) if final > 0 else _points([], [])

    def finish(self, end_speed: float = 0.0) -> SampledPoints:
        """Every point left, up to the last pose recorded; `end_speed` [-] of full speed there, 0: at rest."""
        self._path.complete(self._count)
        nothing = not self._moving and len(self._path) == 1
        points = _points([], []) if nothing else self._run_out(min(end_speed, 1.0))
        self._begin(self._path.latest, 0.0)
        return points

    def _begin(self, pose: FloatArray, speed: float) -> None:
        self._path = SplinePath(self._config, pose, self._path_load)
        self._count = 0  # sample periods recorded
        half = 0.5 * (self._window - 1)
        steps = [speed * self._period * (half - j) for j in range(self._window)]
        self._recent = deque(reversed(steps), maxlen=self._window)  # raw sigma of the last points, newest last
        self._speed = speed  # [-] of full speed
        self._ramps = np.full(2, ALONG)  # [-] of the ramp, at each vertex of the limits in use
        self._walked = deque([0.0], maxlen=round(0.5 * self._config.still / self._period) + 1)  # [s] sigma recorded

    @property
    def _moving(self) -> bool:
        return self._recent[0] < self._recent[-1]

    def _is_still(self) -> bool:
        quiet = self._count - self._path.counts[-1] >= round(self._config.still / self._period)
        open_path = not self._path.is_point or self._moving
        return quiet and self._walked[-1] - self._walked[0] < STILL and open_path

    def _pace(self) -> FloatArray:
        """(n,) square of a slow operator's speed at each vertex; never less than braking from now on allows."""
        counts = np.array(self._path.counts, dtype=np.float64)
        last = len(counts) - 1
        vertex = np.arange(last + 1)
        low, high = np.maximum(vertex - PACE_SPAN, 0), np.minimum(vertex + PACE_SPAN, last)
        took = np.maximum((counts[high] - counts[low]) * self._period, 1e-9)
        pace = np.maximum(high - low, 1) * SPACING / took
        pace = pace / np.clip(2.0 - pace / SLOW, 1e-3, 1.0)  # as it is up to SLOW, no limit from twice SLOW on
        ahead = self._path.start + vertex * SPACING - self._recent[-1]
        braking = self._speed**2 - 2.0 * self._least * self._config.ramp * ahead
        paced: FloatArray = np.maximum(np.square(pace), braking)
        return paced

    def _limits(self, end_speed: float, unknown: float = 1.0) -> FloatArray:
        """(n,) square of the greatest speed at each vertex from which every later limit can be kept."""
        squares, self._ramps = self._path.limits.limits(len(self._path), unknown)
        squares[-1] = min(1.0, end_speed * end_speed)
        gain = 2.0 * self._config.ramp * SPACING * np.minimum(self._ramps[1:], self._ramps[:-1])
        distance = np.concatenate(([0.0], np.cumsum(gain)))
        # backward pass in closed form: least over all later vertices of their limit plus what braking allows
        least: FloatArray = np.minimum.accumulate((squares + distance)[::-1])[::-1]
        return least - distance

    def _final(self, back: FloatArray, free: FloatArray) -> int:
        """Index of the last vertex whose limit later geometry cannot change."""
        differs = np.flatnonzero(back < free - 1e-12)
        known = len(back) - 1 - EDGE - self._path.limits.reach
        return min(int(differs[0]) - 1 if differs.size else known, known)

    def _run(self, limits: FloatArray, until: float) -> SampledPoints:
        """Points up to sigma `until`."""
        poses: list[FloatArray] = []
        while True:
            sigma, speed = self._step(limits)
            if sigma > until:
                break
            self._advance(sigma, speed)
            poses.append(self._path.pose_at(self._mean()))
        self._path.drop_before(min(self._recent[0], self._mean()))
        return _points([self._period] * len(poses), poses)

    def _run_out(self, end_speed: float) -> SampledPoints:
        """Points to the end of the path; the last step is what is left of a period."""
        limits, end = self._limits(end_speed), self._path.end
        poses: list[FloatArray] = []
        steps: list[float] = []
        self._recent = deque((min(s, end) for s in self._recent), maxlen=self._window)
        while True:
            before = self._mean()
            self._advance(*self._last_step(limits, end, end_speed))
            after = self._mean()
            if after >= end - 1e-9:
                break
            poses.append(self._path.pose_at(after))
            steps.append(self._period)
        left = self._period * min((end - before) / max(after - before, 1e-12), 1.0)
        if left < MIN_STEP and poses:
            poses.pop()
            left += steps.pop()
        return _points([*steps, max(left, MIN_STEP)], [*poses, self._path.latest])

    def _last_step(self, limits: FloatArray, end: float, end_speed: float) -> tuple[float, float]:
        """Sigma and speed one period later, on the way to `end` and beyond it at `end_speed`."""
        if end - self._recent[-1] <= 1e-9:
            return self._recent[-1] + end_speed * self._period, end_speed
        sigma, speed = self._step(limits)
        return (end if end - sigma < 1e-4 or speed < 1e-4 else sigma), speed

    def _step(self, limits: FloatArray) -> tuple[float, float]:
        """Sigma and speed one period later: as fast as allowed."""
        sigma, speed = self._recent[-1], self._speed
        high = speed + self._ramp_at(sigma) * self._period
        low = max(speed - 4.0 * self._config.ramp * self._period, 0.0)
        for _ in range(20):
            middle = 0.5 * (low + high)
            if middle <= self._limit_at(limits, sigma + 0.5 * (speed + middle) * self._period):
                low = middle
            else:
                high = middle
        return sigma + 0.5 * (speed + low) * self._period, low

    def _limit_at(self, limits: FloatArray, sigma: float) -> float:
        x = (sigma - self._path.start) / SPACING
        i = int(x)
        if i >= len(limits) - 1:
            return math.sqrt(max(limits[-1], 0.0)) if x <= len(limits) - 1 + 1e-9 else 0.0
        u = max(x - i, 0.0)
        return math.sqrt(max(limits[i] + u * (limits[i + 1] - limits[i]), 0.0))

    def _ramp_at(self, sigma: float) -> float:
        i = min(max(int((sigma - self._path.start) / SPACING), 0), len(self._ramps) - 1)
        return self._config.ramp * float(min(self._ramps[i : i + 2]))

    def _advance(self, sigma: float, speed: float) -> None:
        self._recent.append(sigma)
        self._speed = speed

    def _mean(self) -> float:
        return sum(self._recent) / len(self._recent)


def _points(steps: list[float], poses: list[FloatArray]) -> SampledPoints:
    return SampledPoints(np.array(steps), np.array(poses).reshape(-1, 7))
