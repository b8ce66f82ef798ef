"""Execution of planned paths beside the force field: fine path, predicted configuration, repulsion, deadlock.

[US5347459] claims 1 and 7: the waypoint interpolator gives the fine path, the control law follows it from the
configuration the dynamic model predicts, and the field's repulsion is added before the commands leave.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.limits import SetpointLimiter
from telerobot_nodes.core.path_timing import TimedPath
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray, in_range
from telerobot_nodes.cspace.arm_geometry import ArmGeometry
from telerobot_nodes.cspace.force_field import DeadlockWatch, FieldSettings, ForceField
from telerobot_nodes.cspace.obstacles import Obstacle

ARRIVED = 0.01  # [rad]
PUSHED = 1e-3  # [rad/s] of the field that counts as being pushed


class ArmPredictor:
    """Where an arm will be, from its dynamic model. One thread."""

    def __init__(self, robot: RobotModel) -> None:
        self._model, self._data = robot.model, robot.new_data()
        self._lower, self._upper = np.array(robot.limits.lower), np.array(robot.limits.upper)

    def predict(self, q: FloatArray, v: FloatArray, effort: FloatArray, horizon: float) -> FloatArray:
        """Configuration (n,) [rad] `horizon` [s] on, from `q`, velocity `v` [rad/s] and joint efforts (n,) [N m]."""
        acceleration = pin.aba(self._model, self._data, q, v, effort)
        return np.asarray(np.clip(q + horizon * v + 0.5 * horizon**2 * acceleration, self._lower, self._upper))


class Execution:
    """Arms on timed paths, kept apart by the field. Stepped every `period` [s]; one thread.

    `gain` [1/s] closes the gap to the path; a path's clock waits while its arm lags more than `lag` [rad].
    `deadlocked[i]` asks for another plan; that arm then holds until `follow`.
    """

    def __init__(
        self,
        geometries: Sequence[ArmGeometry],
        obstacles: Sequence[Obstacle],
        paths: Sequence[TimedPath],
        period: float,
        settings: FieldSettings | None = None,
        gain: float = 8.0,
        lag: float = 0.1,
    ) -> None:
        self.period = in_range(period, "period", 1e-4, 0.1, "s")
        self.field = ForceField(geometries, obstacles, settings)
        self._gain = in_range(gain, "gain", 0.1, 1.0 / period, "1/s")
        self._lag = in_range(lag, "lag", 1e-3, 1.0, "rad")
        self._paths = list(paths)
        self._clock = [0.0] * len(self._paths)
        self._steps = 0
        self._predictors = [ArmPredictor(geometry.robot) for geometry in geometries]
        self._robots = [geometry.robot for geometry in geometries]
        self._watch = [DeadlockWatch() for _ in self._paths]
        self._limiters = [SetpointLimiter(geometry.robot.limits, period) for geometry in geometries]
        for limiter, path in zip(self._limiters, self._paths, strict=True):
            limiter.reset(path.path[0])
        self.deadlocked = [False] * len(self._paths)
        self.arrived = False

    def follow(self, arm: int, path: TimedPath) -> None:
        """Give an arm another path, from where it stands."""
        self._paths[arm], self._clock[arm], self.deadlocked[arm] = path, 0.0, False
        self._watch[arm].reset()

    def step(
        self,
        q: Sequence[FloatArray],
        v: Sequence[FloatArray],
        effort: Sequence[FloatArray] | None = None,
    ) -> list[FloatArray]:
        """Joint setpoints (n,) [rad] of each arm, from measured `q`, `v` and efforts (default: those that keep `v`)."""
        self._steps += 1
        predicted = [self._predict(i, q[i], v[i], effort) for i in range(len(self._paths))]
        push = self.field.step(predicted)
        setpoints = [self._one(i, predicted[i], push[i]) for i in range(len(self._paths))]
        gaps = [float(np.abs(path.path[-1] - s).max()) for path, s in zip(self._paths, setpoints, strict=True)]
        self.arrived = max(gaps) < ARRIVED
        return setpoints

    def _predict(self, i: int, q: FloatArray, v: FloatArray, effort: Sequence[FloatArray] | None) -> FloatArray:
        robot = self._robots[i]
        keeping = pin.rnea(robot.model, robot.data, q, v, np.zeros(q.size)) if effort is None else effort[i]
        return self._predictors[i].predict(q, v, keeping, self.period)

    def _one(self, i: int, predicted: FloatArray, push: FloatArray) -> FloatArray:
        limiter, path = self._limiters[i], self._paths[i]
        wanted, rate, _ = path.at(self._clock[i])
        pushed = float(np.abs(push).max()) > PUSHED
        now = self._steps * self.period
        if self._watch[i].update(now, limiter.q, path.path[-1], pushed):
            self.deadlocked[i] = True
        if self.deadlocked[i]:
            limiter.apply(limiter.q + self.period * push)
            return limiter.q.copy()
        gap = wanted - limiter.q
        if float(np.abs(wanted - predicted).max()) < self._lag:
            self._clock[i] = min(self._clock[i] + self.period, path.duration)
        limiter.apply(limiter.q + self.period * (rate + self._gain * gap + push))
        return limiter.q.copy()
