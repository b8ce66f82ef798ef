"""Execution of planned paths with the force field: fine path, predicted configuration, repulsion, deadlock.

[US5347459] claims 1 and 7: the waypoint interpolator (the timed path) yields the fine path; the control law closes the
gap between it and the configuration that the dynamic model predicts; the field's repulsion at the predicted
configurations is added. A path's clock waits while its arm lags and while another arm has the right of way. An arm
that may proceed and makes no progress is deadlocked: then every arm brakes and holds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from telerobot_nodes.core.robot import SetpointLimiter, brake_velocity
from telerobot_nodes.core.timing import TimedPath
from telerobot_nodes.core.values import FloatArray, in_range
from telerobot_nodes.cspace.geometry import ArmGeometry, ArmPredictor, FieldSettings, ForceField, Obstacle
from telerobot_nodes.cspace.multi_arm.right_of_way import Granting

ARRIVED = 0.01  # [rad]
LEASH = 0.15  # [rad] a setpoint leads the predicted configuration by no more
BRAKING = 1.2  # [1/s] change of a clock's pace per second that every limit allows on a path timed with `RESERVE`
RESERVE = 0.7  # [-] of the acceleration limits a path should be timed with, the rest is for braking
SETTLE = 0.1  # [s] how far an arm may be behind its clock
HEADWAY = 0.01  # [s] of the path, [rad] of the goal's gap


class HeadwayWatch:
    """Detects that an arm that may go on has made no headway for `patience` [s]: the field and the path balance.

    Bounded: the answer comes at the first update after `patience`. An arm swinging to and fro makes no headway.
    """

    def __init__(self, patience: float = 1.0) -> None:
        self.patience = in_range(patience, "patience", 0.0, 60.0, "s")
        self.reset()

    def reset(self) -> None:
        """Start watching again."""
        self._since: float | None = None
        self._left = np.inf

    def update(self, now: float, left: float, may_go: bool) -> bool:
        """True when `left` (of the path [s] and of the goal's gap [rad]) has not shrunk for too long."""
        if not may_go or left < self._left - HEADWAY or self._since is None:
            self._since, self._left = now, min(left, self._left) if may_go else np.inf
            return False
        return now - self._since >= self.patience


class Execution:
    """Arms on timed paths, kept apart by the field. Stepped every `period` [s]; one thread.

    `gain` [1/s] closes the gap to the path; a path's clock waits while its arm lags more than `lag` [rad];
    `horizon` [s] is how far the dynamic model looks ahead. `deadlocked[i]` asks for another plan: all arms brake and
    hold, pushed only by the field, until they `follow`.
    """

    def __init__(
        self,
        geometries: Sequence[ArmGeometry],
        obstacles: Sequence[Obstacle],
        paths: Sequence[TimedPath],
        period: float,
        settings: FieldSettings | None = None,
        gain: float = 8.0,
        lag: float = 0.05,
        horizon: float = 0.01,
        patience: float = 1.0,
    ) -> None:
        self.period = in_range(period, "period", 1e-4, 0.1, "s")
        self.field = ForceField(geometries, obstacles, settings)
        self._gain = in_range(gain, "gain", 0.1, 1.0 / period, "1/s")
        self._lag = in_range(lag, "lag", 1e-3, 1.0, "rad")
        self._horizon = in_range(horizon, "horizon", 0.0, 0.1, "s")
        self._steps = 0
        self._predictors = [ArmPredictor(geometry.robot) for geometry in geometries]
        self._watch = [HeadwayWatch(patience) for _ in geometries]
        self.limiters = [SetpointLimiter(geometry.robot.limits, period) for geometry in geometries]
        for limiter, path in zip(self.limiters, paths, strict=True):
            limiter.reset(path.path[0])
        self.pushed = [False] * len(paths)
        self.follow_all(paths)

    def follow_all(self, paths: Sequence[TimedPath], right_of_way: Granting | None = None) -> None:
        """Start a new path for every arm from where it stands; without `right_of_way` each keeps its own timing."""
        self._paths, self._right_of_way = list(paths), right_of_way
        self.clock, self._pace, self._passed = ([0.0] * len(paths) for _ in range(3))
        self.deadlocked, self.arrived = [False] * len(paths), False
        self.holding = False
        for watch in self._watch:
            watch.reset()

    def follow(self, arm: int, path: TimedPath, right_of_way: Granting | None = None) -> None:
        """Start a new path for one arm from where it stands; the others keep theirs, now under `right_of_way`."""
        self._paths[arm] = path
        self.clock[arm] = self._pace[arm] = self._passed[arm] = 0.0
        self._right_of_way = right_of_way
        self.deadlocked[arm], self.arrived = False, False
        self.holding = any(self.deadlocked)
        self._watch[arm].reset()

    def hold(self) -> None:
        """Brake along the paths, then hold; only the field moves the arms."""
        self.holding = True

    @property
    def way(self) -> list[float]:
        """The part of its path [-] that each arm has behind it."""
        return [clock / max(path.duration, 1e-9) for clock, path in zip(self.clock, self._paths, strict=True)]

    @property
    def resting(self) -> bool:
        """True when every clock has stopped."""
        return max(self._pace) == 0.0

    def stopping_time(self, arm: int) -> float:
        """Time along its path [s] at which an arm under way could stand."""
        ahead = self.clock[arm] + 0.5 * self._pace[arm] ** 2 / BRAKING + 2.0 * self.period
        return min(ahead, self._paths[arm].duration)

    def step(
        self,
        q: Sequence[FloatArray],
        v: Sequence[FloatArray],
        effort: Sequence[FloatArray] | None = None,
    ) -> list[FloatArray]:
        """Joint setpoints (n,) [rad] of each arm, from measured `q`, `v` and efforts (default: those that keep `v`)."""
        self._steps += 1
        predicted = [
            predictor.predict(q[i], v[i], None if effort is None else effort[i], self._horizon)
            for i, predictor in enumerate(self._predictors)
        ]
        push = self.field.step(predicted)
        granted = self._granted()
        setpoints = [self._one(i, predicted[i], push[i], granted[i]) for i in range(len(self._paths))]
        gaps = [float(np.abs(path.path[-1] - p).max()) for path, p in zip(self._paths, predicted, strict=True)]
        self.arrived = max(gaps) < ARRIVED and not self.holding
        return setpoints

    def _granted(self) -> list[float]:
        """Time along its path up to which each arm may go."""
        if self._right_of_way is None:
            return [path.duration for path in self._paths]
        passed = zip(self.clock, self._pace, self._passed, strict=True)
        self._passed = [max(clock - SETTLE * pace, before) for clock, pace, before in passed]
        return self._right_of_way.grant(self._passed)

    def _one(self, i: int, predicted: FloatArray, push: FloatArray, granted: float) -> FloatArray:
        limiter, path = self.limiters[i], self._paths[i]
        self.pushed[i] = bool(push.any())
        wanted, rate, _ = path.at(self.clock[i] + self._pace[i] * self._horizon)
        gap = wanted - predicted
        stopped = self._advance(i, rate, granted, float(np.abs(gap).max()))
        velocity = push if stopped else self._pace[i] * rate + self._gain * gap + push
        lead = np.clip(limiter.q + self.period * velocity - predicted, -LEASH, LEASH)
        limiter.apply(predicted + lead)
        return limiter.q.copy()

    def _advance(self, i: int, rate: FloatArray, granted: float, gap: float) -> bool:
        """Move the clock of arm `i` on, watch its headway; True when it holds."""
        path, now = self._paths[i], self._steps * self.period
        goal_gap = gap if self.clock[i] >= path.duration else 0.0
        may_go = granted - self.clock[i] > HEADWAY or goal_gap > ARRIVED
        if not self.holding and self._watch[i].update(now, path.duration - self.clock[i] + goal_gap, may_go):
            self.deadlocked[i] = True
            self.hold()
        self._pace[i] = self._next_pace(i, rate, granted, gap)
        self.clock[i] = min(self.clock[i] + self.period * self._pace[i], max(granted, self.clock[i]))
        if self.clock[i] >= granted:
            self._pace[i] = 0.0
        return self.holding and self._pace[i] == 0.0

    def _next_pace(self, i: int, rate: FloatArray, granted: float, gap: float) -> float:
        limits = self.limiters[i].limits
        target = 0.0 if self.holding or gap > self._lag else 1.0
        if granted < self._paths[i].duration:  # the end of a path is at rest by its own timing
            target = min(target, brake_velocity(granted - self.clock[i], BRAKING, self.period))
        speed = np.maximum(np.abs(rate), 1e-3 * limits.velocity)
        change = max(BRAKING, (1.0 - RESERVE) * float((limits.acceleration / speed).min())) * self.period
        return float(min(max(target, self._pace[i] - change), self._pace[i] + change))
