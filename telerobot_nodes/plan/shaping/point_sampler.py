"""Samples the shaped target at a fixed period and computes each point's plan time [US5046022 claims 1, 4, 21].

What belongs here: sampling, time clutch, time ratio, reach. What must never enter: point numbers, the store, the link.

With the time clutch engaged every sample is a point, `ratio` periods later than the one before; an operator who stands
still appends dwell while the device sends. Disengaged, the samples only define the path, and its plan time is
computed from the geometry (`time_parameterization.py`).

Reach: a sample is accepted if the arm can reach the tool's pose and the pose where the tool could stop. Otherwise the
tool brakes within what was accepted before, and continues when the target can be reached again.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError, OutOfReachError
from telerobot_nodes.plan.log import Timing
from telerobot_nodes.plan.shaping.follower import ZERO, norm
from telerobot_nodes.plan.shaping.shaper import SUBSTEP, ShapedPose, Shaper, ShaperConfig, shaped
from telerobot_nodes.plan.shaping.spline_path import PathLoad
from telerobot_nodes.plan.shaping.time_base_config import TimeBaseConfig
from telerobot_nodes.plan.shaping.time_parameterization import PathTimeParameterization, SampledPoints

ARRIVED = 1e-5  # [m], [-] of a quaternion
LONGEST_WAY = 5.0  # [s] of the shaper to where the hand is
STALL = 0.5  # [s] without a call of `advance` after which the lost time is skipped


class Reach(Protocol):
    """Checks the tool poses (7,) of a path in WORLD; each raises OutOfReachError."""

    pass_singularities: bool  # the path may come as near to singularities as `step` allows

    def __call__(self, pose: FloatArray) -> None:
        """Check that the arm can come to `pose` from the one before."""

    def step(self, before: FloatArray, pose: FloatArray) -> None:
        """Check that a plan can have `pose` as its next point after `before`."""


_NOWHERE = ShapedPose(ZERO, (0.0, 0.0, 0.0, 1.0))


class PointSampler:
    """Turns the shaped target into points; `advance` moves it through time.

    Until `place` gives it a start pose, it validates commands and keeps its settings, but produces no points.
    """

    def __init__(
        self,
        shaper: ShaperConfig,
        time_base: TimeBaseConfig,
        period: float,
        reach: Reach,
        path_load: PathLoad | None = None,
    ) -> None:
        """`period` [s] between samples. Raises InvalidValueError if it is no multiple of the shaper's substep."""
        self._substeps = round(period / SUBSTEP)
        if self._substeps < 1 or abs(self._substeps * SUBSTEP - period) > 1e-9:
            raise InvalidValueError("sample_period", period, f"allowed: whole multiples of {SUBSTEP} [s]")
        self._period = period
        self.reach = reach
        self._shaper_config = shaper
        self._base_config = time_base
        self._path_load = path_load
        self.shaper = Shaper(shaper, _NOWHERE, 0.0)
        self.placed = False  # the operator's input moves a tool
        self.time_clutch = True  # engaged: plan time follows acquisition time
        self.ratio = 1.0  # [-] plan time per acquisition time
        self.dwells = True  # engaged: a hand at rest appends dwell
        self.blocked = ""  # why the target cannot be followed; empty if it can
        self.stalls = 0  # times that more than STALL was skipped
        self._before = _NOWHERE  # state at the last sample
        self._origin = 0.0
        self._samples = 0
        self._base: PathTimeParameterization | None = None  # with the time clutch disengaged
        self._held = False

    @property
    def pose(self) -> FloatArray:
        """Tool pose of the last sample (7,) in WORLD; empty until placed."""
        return self._before.pose if self.placed else np.empty(0)

    @property
    def target(self) -> FloatArray:
        """Tool pose that the operator commands (7,) in WORLD; empty until placed."""
        return self.shaper.target if self.placed else np.empty(0)

    @property
    def goal(self) -> FloatArray:
        """Where the tool comes to rest if the hand stays (7,) in WORLD: the target while it is followed."""
        return self.pose if self._held or self.blocked else self.target

    @property
    def pending(self) -> float:
        """Plan time recorded and not computed finally yet [s] (time clutch disengaged)."""
        return self._base.pending if self._base else 0.0

    def place(self, now: float, pose: FloatArray) -> None:
        """Move the tool from `pose` (7,), at rest, from now on."""
        if self.placed:
            self.restart(pose)
            return
        scale = self.shaper.hand_scale
        self.shaper = Shaper(self._shaper_config, shaped(pose), now)
        self.shaper.hand_scale = scale
        self.placed = True
        self._before = self.shaper.state
        self._origin = now
        if not self.time_clutch:
            self._base = self._new_base(0.0)

    def restart(self, pose: FloatArray) -> None:
        """Continue from another pose (7,) at rest; points not yet returned are dropped. No effect until placed."""
        if not self.placed:
            return
        self.shaper.restart(shaped(pose))
        self._before = self.shaper.state
        if self._base is not None:
            self._base = self._new_base(0.0)

    def set_time_clutch(self, engaged: bool) -> list[SampledPoints]:
        """Engage or disengage; returns the points whose plan time was not final yet."""
        self.time_clutch = engaged
        if not self.placed:
            return []
        if engaged:
            points, self._base = self._finished(), None
            return points
        if self._base is None:
            self._base = self._new_base(self._speed)
        return []

    def flush(self) -> list[SampledPoints]:
        """The points whose plan time was not final yet; the clutch stays as it is."""
        points = self._finished()
        if self._base is not None:
            self._base = self._new_base(self._speed)
        return points

    def complete(self) -> list[SampledPoints]:
        """The points up to `goal`, to rest there, at once: their time comes from the geometry.

        With the time clutch engaged, or held, none beyond those of `flush`.
        """
        if self._base is None or self._held:
            return self.flush()
        points: list[SampledPoints] = []
        for _ in range(round(LONGEST_WAY / self._period)):
            if self._before.at_rest and np.abs(self.pose - self.goal).max() <= ARRIVED:
                break
            for _ in range(self._substeps):
                self.shaper.settle()
            points += self._sample(0.0, False, False)
        return points + self.flush()

    def dwell(self) -> list[SampledPoints]:
        """One more point where the tool rests; none while it moves, or while points wait for their plan time."""
        if not self.placed or not self._before.at_rest or self.pending > 0.0:
            return []
        if self._base is None:
            return self._synced(True)
        return [self._stay(self._period, Timing.FREE)]

    def advance(self, now: float, held: bool, underrun_imminent: bool) -> list[SampledPoints]:
        """Points up to `now`. `held`: come to rest and wait; `underrun_imminent`: the robot would run out of points."""
        if not self.placed:
            return []
        if now - self._next > STALL:
            self.stalls += 1
            self._skip(now)
        if self._held and not held:
            self.shaper.resume()
        self._held = held
        points: list[SampledPoints] = []
        while self._next <= now + 1e-9:
            self.shaper.advance(self._next)
            points += self._sample(self._next, held, underrun_imminent)
            self._samples += 1
        self.shaper.advance(now)
        return points

    @property
    def _next(self) -> float:
        """Time of the next sample [s]; counted, so that it never drifts from the shaper's substeps."""
        return self._origin + (self._samples + 1) * self._period

    @property
    def _speed(self) -> float:
        """Speed of the tool as share of the time base's full speed [-]."""
        return norm(self._before.linear.velocity) / self._base_config.speed

    def _new_base(self, speed: float) -> PathTimeParameterization:
        return PathTimeParameterization(self._base_config, self._period, self._before.pose, speed, self._path_load)

    def _finished(self) -> list[SampledPoints]:
        points = self._base.finish(self._speed) if self._base is not None else ()
        return [points] if points else []

    def _stay(self, step: float, timing: Timing) -> SampledPoints:
        return SampledPoints(np.array([step]), self._before.pose.reshape(1, 7), timing)

    def _skip(self, now: float) -> None:
        self.shaper.restart(self._before)
        self.shaper.skip(now)
        self._origin, self._samples = now, 0

    def _sample(self, now: float, held: bool, underrun_imminent: bool) -> list[SampledPoints]:
        trail = self.shaper.take_trail()
        if held or not self._accepts(trail[-1]):
            trail = self._braked()
            self.shaper.state = trail[-1]
        moved = not trail[-1].same_place(self._before)
        self._before = trail[-1]
        if self._base is None:
            return self._synced(moved or (self.dwells and self.shaper.fresh(now) and not held))
        self._base.add([state.pose for state in trail] if moved else [])
        points = self._base.release(underrun_imminent)
        return [points] if points else []

    def _synced(self, wanted: bool) -> list[SampledPoints]:
        timing = Timing.SYNCED if self.ratio == 1.0 else Timing.SCALED
        return [self._stay(self._period * self.ratio, timing)] if wanted else []

    def _accepts(self, state: ShapedPose) -> bool:
        if state.same_place(self._before):
            return True
        try:
            self.reach.step(self._before.pose, state.pose)
            self.reach(self.shaper.stopping_pose(state))
        except OutOfReachError as error:
            self.blocked = f"target is out of reach: {error}".removesuffix(": ")
            return False
        self.blocked = ""
        return True

    def _braked(self) -> list[ShapedPose]:
        trail = [self.shaper.braked(self._before)]
        while len(trail) < self._substeps:
            trail.append(self.shaper.braked(trail[-1]))
        try:
            if not self._before.at_rest:
                self.reach.step(self._before.pose, trail[-1].pose)
        except OutOfReachError:
            return [ShapedPose(self._before.position, self._before.orientation)]
        return trail
