"""Laying points: samples the shaped target at a fixed period and gives each point its plan time [US5046022 claim 1].

What belongs here: sampling, time clutch, time ratio, reach. What must never enter: numbers, the store, the link.

With the time clutch engaged every sample is a point, `ratio` periods later than the one before; standing still
appends dwell while the device is alive. Disengaged, samples only give the path (`time_base.py`).

Reach: a sample is admitted when the tool's pose and the pose where it could stop can both be reached. Otherwise the
tool brakes on the way it came, inside what was admitted before, and goes on when the target can be reached again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.errors import InvalidValueError, OutOfReachError
from telerobot_nodes.plan.follower import norm
from telerobot_nodes.plan.points import Timing
from telerobot_nodes.plan.shaper import SUBSTEP, ShapedPose, Shaper, ShaperConfig, shaped
from telerobot_nodes.plan.time_base import FreeTimeBase, SegmentTime, TimeBaseConfig, Timed

Reach = Callable[[FloatArray], None]  # pose (7,); raises OutOfReachError

STALL = 0.5  # [s] without being called, after which time is not made up for


@dataclass(frozen=True)
class Laid:
    """New points: plan time since the point before, poses, one kind of timing."""

    timed: Timed
    timing: Timing


class Layer:
    """Turns the shaped target into points; `advance` moves it through time."""

    def __init__(
        self,
        shaper: ShaperConfig,
        time_base: TimeBaseConfig,
        period: float,
        reach: Reach,
        start: FloatArray,
        now: float,
        segment_time: SegmentTime | None = None,
    ) -> None:
        self._substeps = round(period / SUBSTEP)
        if self._substeps < 1 or abs(self._substeps * SUBSTEP - period) > 1e-9:
            raise InvalidValueError("sample_period", period, f"allowed: whole multiples of {SUBSTEP} [s]")
        self._period = period
        self._reach = reach
        self._base_config = time_base
        self._segment_time = segment_time
        self.shaper = Shaper(shaper, shaped(start), now)
        self._before = self.shaper.state  # at the last sample
        self._origin = now
        self._samples = 0
        self._base: FreeTimeBase | None = None
        self._held = False
        self.ratio = 1.0
        self.blocked = ""  # why the target cannot be followed; empty: it can
        self.stalls = 0

    @property
    def time_clutch(self) -> bool:
        """True when engaged: plan time follows acquisition time."""
        return self._base is None

    @property
    def moving(self) -> bool:
        """True while the tool target moves."""
        return not self._before.at_rest

    @property
    def pose(self) -> FloatArray:
        """Tool pose of the last sample: (7,) in WORLD."""
        return self._before.pose

    @property
    def pending(self) -> float:
        """[s] of plan time laid and not timed finally yet (time clutch disengaged)."""
        return self._base.pending if self._base else 0.0

    def restart(self, pose: FloatArray) -> None:
        """Go on from another pose at rest (the plan's head changed); what was not laid yet is dropped."""
        self.shaper.restart(shaped(pose))
        self._before = self.shaper.state
        if self._base is not None:
            self._base = self._new_base(0.0)

    def set_time_clutch(self, engaged: bool) -> list[Laid]:
        """Engage or disengage; returns what was still to be timed. Nothing changes when it is so already."""
        if engaged == self.time_clutch:
            return []
        speed = norm(self._before.linear.velocity) / self._base_config.speed
        if self._base is None:
            self._base = self._new_base(speed)
            return []
        timed, self._base = self._base.finish(speed), None
        return [Laid(timed, Timing.FREE)] if len(timed) else []

    def dwell(self) -> list[Laid]:
        """One point more where the tool stands; nothing while it moves or waits to be timed, points come then."""
        if not self._before.at_rest or self.pending > 0.0:
            return []
        if self._base is None:
            return self._synced(True)
        return [Laid(self._stay(self._period), Timing.FREE)]

    def _stay(self, step: float) -> Timed:
        return Timed(np.array([step]), self._before.pose.reshape(1, 7))

    @property
    def _next(self) -> float:
        """[s] of the next sample; counted, so that it never drifts from the shaper's substeps."""
        return self._origin + (self._samples + 1) * self._period

    def advance(self, now: float, held: bool, hurry: bool) -> list[Laid]:
        """Samples up to `now`. `held`: come to rest and wait; `hurry`: the robot would run dry."""
        if now - self._next > STALL:
            self.stalls += 1
            self._skip(now)
        if self._held and not held:
            self.shaper.resume()
        self._held = held
        laid: list[Laid] = []
        while self._next <= now + 1e-9:
            self.shaper.advance(self._next)
            laid += self._sample(self._next, held, hurry)
            self._samples += 1
        self.shaper.advance(now)
        return laid

    def _skip(self, now: float) -> None:
        self.shaper.restart(self._before)
        self.shaper.skip(now)
        self._origin, self._samples = now, 0

    def _new_base(self, speed: float) -> FreeTimeBase:
        return FreeTimeBase(self._base_config, self._period, self._before.pose, speed, self._segment_time)

    def _sample(self, now: float, held: bool, hurry: bool) -> list[Laid]:
        trail = self.shaper.take_trail()
        if held or not self._admits(trail[-1]):
            trail = self._braked()
            self.shaper.state = trail[-1]
        moved = trail[-1].position != self._before.position or trail[-1].orientation != self._before.orientation
        self._before = trail[-1]
        if self._base is None:
            return self._synced(moved or (self.shaper.fresh(now) and not held))
        self._base.add([state.pose for state in trail] if moved else [])
        timed = self._base.release(hurry)
        return [Laid(timed, Timing.FREE)] if len(timed) else []

    def _synced(self, wanted: bool) -> list[Laid]:
        if not wanted:
            return []
        timing = Timing.SYNCED if self.ratio == 1.0 else Timing.SCALED
        return [Laid(self._stay(self._period * self.ratio), timing)]

    def _admits(self, state: ShapedPose) -> bool:
        if state.position == self._before.position and state.orientation == self._before.orientation:
            return True
        try:
            self._reach(state.pose)
            self._reach(self.shaper.stopping_pose(state))
        except OutOfReachError as error:
            self.blocked = str(error) or "target is out of reach"
            return False
        self.blocked = ""
        return True

    def _braked(self) -> list[ShapedPose]:
        trail = [self.shaper.braked(self._before)]
        while len(trail) < self._substeps:
            trail.append(self.shaper.braked(trail[-1]))
        try:
            if not self._before.at_rest:
                self._reach(trail[-1].pose)
        except OutOfReachError:
            return [ShapedPose(self._before.position, self._before.orientation)]
        return trail
