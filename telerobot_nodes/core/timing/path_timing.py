"""Times straight joint-space motions, each from rest to rest, inside velocity, acceleration and jerk limits.

[US5347459 claims 3, 4] This is the only module that times the segments of planner and interpolator. A straight motion
stays in its proved cells for any timing, so corners are stops. Ruckig [BerscheidKroeger2021] computes the time-optimal
profile of the motion's share s = 0 .. 1 under the limits of all joints together.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import ruckig

from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.core.values import FloatArray, finite_array, in_range
from telerobot_nodes.errors import InvalidValueError

GENTLE = 20.0  # [1/s] most jerk per acceleration limit where none is given
SHORTEST = 1e-9  # [rad] motions shorter than this take no time


@dataclass(frozen=True)
class TimedPath:
    """A path (k, n) [rad] with the times (k,) [s] of its waypoints, from 0, at rest at each."""

    path: FloatArray
    times: FloatArray
    profiles: tuple[ruckig.Trajectory | None, ...]
    bounds: FloatArray  # (3, n) velocity, acceleration, jerk it was timed with

    def __reduce__(self) -> tuple[object, ...]:
        return _timed, (self.path, self.bounds)  # profiles cannot be pickled; timing is the same each time

    @property
    def duration(self) -> float:
        """From the first waypoint to the last [s]."""
        return float(self.times[-1])

    def at(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position [rad], velocity [rad/s], acceleration [rad/s^2] (n,) at `t` [s]; at rest before and after."""
        i = int(np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.profiles) - 1))
        a, delta = self.path[i], self.path[i + 1] - self.path[i]
        profile = self.profiles[i]
        if profile is None or t >= self.times[-1]:
            return self.path[i + 1].copy(), np.zeros(a.size), np.zeros(a.size)
        s, v, acc = profile.at_time(min(max(t - self.times[i], 0.0), profile.duration))
        return a + s[0] * delta, v[0] * delta, acc[0] * delta

    def sampled(self, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Positions [rad] and velocities [rad/s] (k, n) at `times` (k,) [s]: those of `at`, for many times at once."""
        last = len(self.profiles) - 1
        motions = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, last)
        share, speed = np.ones(times.size), np.zeros(times.size)
        for row, (i, t) in enumerate(zip(motions.tolist(), (times - self.times[motions]).tolist(), strict=True)):
            profile = self.profiles[i]
            if profile is not None and times[row] < self.times[-1]:
                (share[row],), (speed[row],), _ = profile.at_time(min(max(t, 0.0), profile.duration))
        begins, delta = self.path[motions], np.diff(self.path, axis=0)[motions]
        return begins + share[:, None] * delta, speed[:, None] * delta

    def share(self, t: float) -> float:
        """Waypoint number reached at `t` [s], with the part of the motion from there: 0 .. k - 1."""
        i = int(np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.profiles) - 1))
        profile = self.profiles[i]
        if profile is None or t >= self.times[-1]:
            return float(i + 1)
        return i + float(profile.at_time(min(max(t - self.times[i], 0.0), profile.duration))[0][0])


def time_path(path: FloatArray, limits: JointLimits, jerk: FloatArray | None = None, speed: float = 1.0) -> TimedPath:
    """Times for `path` (k, n) [rad].

    `jerk` (n,) [rad/s^3]: default 20 /s times the acceleration limits, or the jerk limits where these are lower.
    `speed` (0 .. 1]: part of the velocity limits. Raises InvalidValueError.
    """
    rows = np.array(path, dtype=np.float64)
    if rows.ndim != 2 or len(rows) < 2 or rows.shape[1] != limits.dof:
        raise InvalidValueError("path (shape)", rows.shape, f"allowed: two waypoints or more of {limits.dof} joints")
    finite_array(rows, "path")
    in_range(speed, "speed", 1e-3, 1.0)
    gentle = np.minimum(GENTLE * limits.acceleration, limits.jerk)
    jerks = gentle if jerk is None else finite_array(jerk, "jerk", limits.dof)
    if (jerks <= 0.0).any():
        raise InvalidValueError("jerk", jerks.tolist(), "allowed: above 0")
    bounds = np.stack([speed * limits.velocity, limits.acceleration, jerks])
    return _timed(rows, bounds)


def _timed(rows: FloatArray, bounds: FloatArray) -> TimedPath:
    profiles = [_profile(b - a, bounds) for a, b in pairwise(rows)]
    durations = [0.0 if p is None else p.duration for p in profiles]
    return TimedPath(rows, np.concatenate([[0.0], np.cumsum(durations)]), tuple(profiles), bounds)


def _profile(delta: FloatArray, bounds: FloatArray) -> ruckig.Trajectory | None:
    """Time-optimal motion of s from 0 to 1 at rest, s times `delta` within `bounds` (3, n); None when too short."""
    moving = np.abs(delta) > SHORTEST
    if not moving.any():
        return None
    share = (bounds[:, moving] / np.abs(delta[moving])).min(axis=1)
    task = ruckig.InputParameter(1)
    task.current_position, task.target_position = [0.0], [1.0]
    task.max_velocity, task.max_acceleration, task.max_jerk = ([value] for value in share.tolist())
    profile = ruckig.Trajectory(1)
    result = ruckig.Ruckig(1).calculate(task, profile)
    if result not in (ruckig.Result.Working, ruckig.Result.Finished):
        raise InvalidValueError("path", delta.tolist(), f"allowed: what Ruckig can time; it reports {result}")
    return profile
