"""Plan time made from geometry, for points laid with the time clutch disengaged [US5046022 claims 1(e), 2].

What belongs here: order in, path and its own time out. What must never enter: when the hand moved.

Length along the path is measured as travel time at full speed, `sigma` [s]: the greater of distance / speed and
angle / angular speed. The path is a cubic B-spline over vertices evenly spaced in sigma, so it is smooth however
the hand moved. The profile keeps `speed`, `acceleration` (along the path and across it together, `bends.py`), and any
further limit given as `segment_time`; a moving mean over `smoothing` seconds bounds the jerk.

Streaming: a tick is final when no later geometry could change it, that is, before braking for the end of what is
known begins. The rest follows when the hand goes on, when it stands still (then the path ends there, at rest), or
soon when `hurry` says that the robot would run dry. Then, and only then, a hand slower than `SLOW` sets the pace, so
that the arm creeps with it instead of stopping and going.
"""

from __future__ import annotations

import bisect
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.validation import FloatArray, in_range
from telerobot_nodes.plan.bends import ALONG, Bends
from telerobot_nodes.plan.points import MIN_STEP

SPACING = 0.005  # [s] of sigma between vertices: 1 mm at 0.2 m/s
EDGE = 3  # vertices at the open end whose curve is not complete yet
SLOW = 0.03  # [-] of full speed: a slower hand sets the pace of a robot that would run dry
STILL = 0.2 * SPACING  # [s] of sigma: a hand that moves more in half of `still` only creeps
PACE_SPAN = 2  # vertices to either side, over which the pace of the hand is taken

SegmentTime = Callable[[FloatArray], FloatArray]  # (n, 7) poses -> (n - 1,) [s] least time per segment


@dataclass(frozen=True)
class TimeBaseConfig:
    """Bounds of the artificial time base; validated when made."""

    speed: float = 0.2  # [m/s] of the tool
    angular_speed: float = 0.8  # [rad/s] of the tool
    acceleration: float = 0.5  # [m/s^2] along and across the path together
    angular_acceleration: float = 2.0  # [rad/s^2]
    smoothing: float = 0.1  # [s] moving mean that bounds the jerk
    still: float = 0.25  # [s] without motion after which the path ends there
    hold: float = 0.5  # [s] longest wait for later geometry when the robot would run dry

    def __post_init__(self) -> None:
        in_range(self.speed, "time_base.speed", 0.001, 5.0, "m/s")
        in_range(self.angular_speed, "time_base.angular_speed", 0.001, 20.0, "rad/s")
        in_range(self.acceleration, "time_base.acceleration", 0.01, 50.0, "m/s^2")
        in_range(self.angular_acceleration, "time_base.angular_acceleration", 0.01, 200.0, "rad/s^2")
        in_range(self.smoothing, "time_base.smoothing", 0.0, 1.0, "s")
        in_range(self.still, "time_base.still", 0.02, 5.0, "s")
        in_range(self.hold, "time_base.hold", 0.02, 10.0, "s")

    @property
    def ramp(self) -> float:
        """[1/s^2 of sigma] acceleration along the path in the measure of sigma, the lesser of both kinds."""
        return min(self.acceleration / self.speed, self.angular_acceleration / self.angular_speed)


@dataclass(frozen=True)
class Timed:
    """Points with plan time made here: `step` [s] since the point before, `pose` (n, 7)."""

    step: FloatArray  # (n,)
    pose: FloatArray  # (n, 7)

    def __len__(self) -> int:
        return int(self.step.size)


class FreeTimeBase:
    """Takes poses in order, gives points evenly spaced in plan time; starts at `pose`, moving at `velocity`."""

    def __init__(
        self,
        config: TimeBaseConfig,
        period: float,
        pose: FloatArray,
        speed: float = 0.0,
        segment_time: SegmentTime | None = None,
    ) -> None:
        self._config = config
        self._period = period
        self._segment_time = segment_time
        self._window = max(1, round(config.smoothing / period))
        self._carry = 0.0  # [s] sigma beyond the last vertex
        self._latest = np.array(pose)
        self._bends = Bends(SPACING, 0.5 * config.smoothing)
        self._begin(pose, min(speed, 4.0))

    @property
    def pending(self) -> float:
        """[s] of plan time, at full speed, laid by the hand and not released yet."""
        return max(self._last_vertex() - self._recent[-1], 0.0)

    @property
    def last_pose(self) -> FloatArray:
        """Where the hand was last: (7,)."""
        return self._latest

    def add(self, poses: list[FloatArray]) -> None:
        """The hand went through `poses` (7,), in order, during one more sample period."""
        if len(self._vertices) == 1 and self._carry == 0.0:
            self._ages[0] = self._age  # the path begins when the hand leaves
        self._age += 1
        for pose in poses:
            self._walk(pose)
        self._walked.append(self._last_vertex() + self._carry)

    def _walk(self, pose: FloatArray) -> None:
        pose = np.where(np.arange(7) < 3, pose, pose * (1.0 if pose[3:] @ self._latest[3:] >= 0.0 else -1.0))
        distance = self._sigma(self._latest, pose)
        start, walked = self._latest, 0.0
        while self._carry + (distance - walked) >= SPACING:
            walked += SPACING - self._carry
            self._carry = 0.0
            self._push(start + (pose - start) * (walked / distance))
        self._carry += distance - walked
        self._latest = pose

    def release(self, hurry: bool = False) -> Timed:
        """Points that are final now; `hurry`: also those older than `hold`."""
        if self._still():
            return self.finish()
        unknown = 1.0 if hurry else ALONG
        back, free = self._limits(0.0, unknown), self._limits(math.inf, unknown)
        final = self._final(back, free)
        if hurry:
            oldest = self._age - round(self._config.hold / self._period)
            final = max(final, bisect.bisect_right(self._ages, oldest) - 1 - EDGE)
            back = np.minimum(back, self._pace(back))
        return self._run(back, self._first + final * SPACING) if final > 0 else _timed([], [])

    def finish(self, end_speed: float = 0.0) -> Timed:
        """Every point left, ending where the hand is, at `end_speed` (share of full speed, 0: at rest)."""
        if self._carry > 0.02 * SPACING:
            self._push(self._latest)
            self._carry = 0.0
        nothing = not self._moving() and len(self._vertices) == 1
        timed = _timed([], []) if nothing else self._run_out(min(end_speed, 1.0))
        self._begin(self._latest, 0.0)
        return timed

    def _begin(self, pose: FloatArray, speed: float) -> None:
        self._vertices: list[FloatArray] = [np.array(pose)]
        self._ages: list[int] = [0]  # acquisition count when laid
        self._first = 0.0  # [s] sigma of vertex 0
        self._carry = 0.0
        self._bends.clear()  # speed limits of each vertex but the last
        self._latest = np.array(pose)
        self._age = 0
        half = 0.5 * (self._window - 1)
        steps = [speed * self._period * (half - j) for j in range(self._window)]
        self._recent = deque(reversed(steps), maxlen=self._window)  # raw sigma of the last ticks, newest last
        self._speed = speed  # [-] of full speed
        self._ramps = np.full(2, ALONG)  # [-] of the ramp, at each vertex of the limits in use
        self._walked = deque([0.0], maxlen=round(0.5 * self._config.still / self._period) + 1)  # [s] sigma of the hand

    def _push(self, pose: FloatArray) -> None:
        pose = np.array(pose)
        pose[3:] /= np.linalg.norm(pose[3:])
        self._vertices.append(pose)
        self._ages.append(self._age)
        if len(self._vertices) > 2:
            self._bends.add(*self._bend(np.array(self._vertices[-3:])))

    def _sigma(self, a: FloatArray, b: FloatArray) -> float:
        distance = float(np.linalg.norm(b[:3] - a[:3])) / self._config.speed
        angle = 2.0 * math.asin(min(1.0, 0.5 * float(np.linalg.norm(b[3:] - a[3:])))) * 2.0
        return math.hypot(distance, angle / self._config.angular_speed)

    def _still(self) -> bool:
        quiet = self._age - self._ages[-1] >= round(self._config.still / self._period)
        return (
            quiet
            and self._walked[-1] - self._walked[0] < STILL
            and (len(self._vertices) > 1 or self._carry > 0.02 * SPACING or self._moving())
        )

    def _moving(self) -> bool:
        return self._recent[0] < self._recent[-1]

    def _last_vertex(self) -> float:
        return self._first + (len(self._vertices) - 1) * SPACING

    def _bend(self, poses: FloatArray) -> tuple[float, float]:
        """At the middle of three vertices: acceleration of the bend at full speed, speed limit of `segment_time`."""
        config = self._config
        bend = np.diff(poses, 2, axis=0)[0] / SPACING**2
        across = float(np.linalg.norm(bend[:3])) / config.acceleration
        turning = 2.0 * float(np.linalg.norm(bend[3:])) / config.angular_acceleration
        if self._segment_time is None:
            return max(across, turning), 1.0
        return max(across, turning), SPACING / max(float(np.max(self._segment_time(poses))), SPACING)

    def _pace(self, limits: FloatArray) -> FloatArray:
        """(n,) square of the speed at each vertex of a slow hand; never less than braking from now on allows."""
        ages = np.array(self._ages, dtype=np.float64)
        last = len(ages) - 1
        low, high = np.maximum(np.arange(last + 1) - PACE_SPAN, 0), np.minimum(np.arange(last + 1) + PACE_SPAN, last)
        took = np.maximum((ages[high] - ages[low]) * self._period, 1e-9)
        pace = np.maximum(high - low, 1) * SPACING / took
        pace = pace / np.clip(2.0 - pace / SLOW, 1e-3, 1.0)  # as it is up to SLOW, no bound from twice SLOW on
        ahead = self._first + np.arange(last + 1) * SPACING - self._recent[-1]
        braking = self._speed**2 - 2.0 * ALONG * self._config.ramp * ahead
        paced: FloatArray = np.maximum(np.square(pace), braking)
        return paced

    def _limits(self, end_speed: float, unknown: float = 1.0) -> FloatArray:
        """(n,) square of the greatest speed at each vertex from which every later limit can be kept."""
        squares, self._ramps = self._bends.limits(len(self._vertices), unknown)
        squares[-1] = min(1.0, end_speed * end_speed)
        gain = 2.0 * self._config.ramp * SPACING * np.minimum(self._ramps[1:], self._ramps[:-1])
        distance = np.concatenate(([0.0], np.cumsum(gain)))
        # backward pass in closed form: least over all later vertices of their limit plus what braking allows
        least: FloatArray = np.minimum.accumulate((squares + distance)[::-1])[::-1]
        return least - distance

    def _final(self, back: FloatArray, free: FloatArray) -> int:
        """Index of the last vertex whose limit later geometry cannot change."""
        differs = np.flatnonzero(back < free - 1e-12)
        known = len(back) - 1 - EDGE - self._bends.reach
        return min(int(differs[0]) - 1 if differs.size else known, known)

    def _run(self, limits: FloatArray, until: float) -> Timed:
        """Ticks up to sigma `until`."""
        points: list[FloatArray] = []
        while True:
            sigma, speed = self._tick(limits)
            if sigma > until:
                break
            self._advance(sigma, speed)
            points.append(self._output())
        self._drop()
        return _timed([self._period] * len(points), points)

    def _run_out(self, end_speed: float) -> Timed:
        """Ticks to the end of the path; the last step is what is left of a period."""
        limits, end = self._limits(end_speed), self._last_vertex()
        points: list[FloatArray] = []
        steps: list[float] = []
        self._recent = deque((min(s, end) for s in self._recent), maxlen=self._window)
        while True:
            before = self._mean()
            if end - self._recent[-1] > 1e-9:
                sigma, speed = self._tick(limits)
                sigma = end if end - sigma < 1e-4 or speed < 1e-4 else sigma
            else:
                speed = end_speed
                sigma = self._recent[-1] + speed * self._period
            self._advance(sigma, speed)
            after = self._mean()
            if after >= end - 1e-9:
                break
            points.append(self._output())
            steps.append(self._period)
        left = self._period * min((end - before) / max(after - before, 1e-12), 1.0)
        if left < MIN_STEP and points:
            points.pop()
            left += steps.pop()
        points.append(self._latest)
        steps.append(max(left, MIN_STEP))
        return _timed(steps, points)

    def _tick(self, limits: FloatArray) -> tuple[float, float]:
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
        x = (sigma - self._first) / SPACING
        i = int(x)
        if i >= len(limits) - 1:
            return math.sqrt(max(limits[-1], 0.0)) if x <= len(limits) - 1 + 1e-9 else 0.0
        u = max(x - i, 0.0)
        return math.sqrt(max(limits[i] + u * (limits[i + 1] - limits[i]), 0.0))

    def _ramp_at(self, sigma: float) -> float:
        i = min(max(int((sigma - self._first) / SPACING), 0), len(self._ramps) - 1)
        return self._config.ramp * float(min(self._ramps[i : i + 2]))

    def _advance(self, sigma: float, speed: float) -> None:
        self._recent.append(sigma)
        self._speed = speed

    def _mean(self) -> float:
        return sum(self._recent) / len(self._recent)

    def _output(self) -> FloatArray:
        """Pose on the spline at the smoothed sigma."""
        x = min(max((self._mean() - self._first) / SPACING, 0.0), len(self._vertices) - 1.0)
        i = min(int(x), max(len(self._vertices) - 2, 0))
        u = x - i
        a, b, c, d = (self._vertex(i + k) for k in (-1, 0, 1, 2))
        pose: FloatArray = (
            a * (1 - u) ** 3 + b * (3 * u**3 - 6 * u**2 + 4) + c * (3 * (u + u**2 - u**3) + 1) + d * u**3
        ) / 6.0
        pose[3:] /= np.linalg.norm(pose[3:])
        return np.asarray(pose, dtype=np.float64)

    def _vertex(self, i: int) -> FloatArray:
        """Vertex i; beyond an end, the one that makes the spline pass through that end."""
        last = len(self._vertices) - 1
        if last == 0:
            return self._vertices[0]
        if i < 0:
            return 2.0 * self._vertices[0] - self._vertices[1]
        if i > last:
            return 2.0 * self._vertices[last] - self._vertices[last - 1]
        return self._vertices[i]

    def _drop(self) -> None:
        """Forget vertices the output has passed."""
        used = int((min(self._recent[0], self._mean()) - self._first) / SPACING) - 2
        if used > 64:
            del self._vertices[:used], self._ages[:used]
            self._bends.drop(used)
            self._first += used * SPACING


def _timed(steps: list[float], poses: list[FloatArray]) -> Timed:
    return Timed(np.array(steps), np.array(poses).reshape(-1, 7))
