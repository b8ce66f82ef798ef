"""OMPL's RRTConnect on the ball model, for comparison; the `ompl` package is imported here alone."""

from __future__ import annotations

import time
from typing import Any

import numba
import numpy as np
from ompl import base, geometric, util

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.arm_geometry import ArmGeometry
from telerobot_nodes.cspace.clearance import clearance
from telerobot_nodes.cspace.edges import spread
from telerobot_nodes.cspace.obstacles import World, world_of
from telerobot_nodes.cspace.placing import Arm, Places, places_of
from telerobot_nodes.cspace.problems import Problem


@numba.njit(cache=True, error_model="numpy")
def _sampled_free(arm: Arm, world: World, at: Places, a: FloatArray, b: FloatArray, step: float) -> bool:
    """True when no sample every `step` [rad] of the straight motion collides."""
    delta = b - a
    count = max(int(np.ceil(spread(delta) / step)), 1)
    for i in range(count, 0, -1):
        at.middle[:] = a + i / count * delta
        if clearance(arm, world, at, at.middle) <= 0.0:
            return False
    return True


class OmplPlanner:
    """RRTConnect for one problem; calling it plans within a budget [s]."""

    def __init__(self, geometry: ArmGeometry, problem: Problem, step: float, per_edge: bool) -> None:
        util.setLogLevel(util.LogLevel.LOG_NONE)
        self._arm, self._at = geometry.arm, places_of(geometry.arm)
        self._world = world_of(problem.obstacles, problem.margin)
        self._step, self._dof = step, geometry.dof
        self._a, self._b = np.zeros(geometry.dof), np.zeros(geometry.dof)
        space = base.RealVectorStateSpace(geometry.dof)
        bounds = base.RealVectorBounds(geometry.dof)
        for i in range(geometry.dof):
            bounds.setLow(i, float(geometry.arm.lower[i]))
            bounds.setHigh(i, float(geometry.arm.upper[i]))
        space.setBounds(bounds)
        self._setup = geometric.SimpleSetup(space)
        information = self._setup.getSpaceInformation()
        self._setup.setStateValidityChecker(self._valid)
        if per_edge:
            self._validator = _edge_validator(information, self)
            information.setMotionValidator(self._validator)
        information.setStateValidityCheckingResolution(step / space.getMaximumExtent())
        self._setup.setStartAndGoalStates(self._state(space, problem.start), self._state(space, problem.goal))
        self._setup.setPlanner(geometric.RRTConnect(information))

    def _state(self, space: Any, q: FloatArray) -> Any:
        state = space.allocState()
        for i in range(self._dof):
            state[i] = float(q[i])
        return state

    def _valid(self, state: Any) -> bool:
        for i in range(self._dof):
            self._a[i] = state[i]
        return bool(clearance(self._arm, self._world, self._at, self._a) > 0.0)

    def edge(self, first: Any, second: Any) -> bool:
        """True when the samples between two states are free."""
        for i in range(self._dof):
            self._a[i], self._b[i] = first[i], second[i]
        return bool(_sampled_free(self._arm, self._world, self._at, self._a, self._b, self._step))

    def __call__(self, budget: float) -> tuple[FloatArray, float, float, float]:
        """Waypoints (k, n) [rad], none when not solved; seconds to solve, to simplify, processor seconds to solve."""
        began, cpu = time.perf_counter(), time.thread_time()
        solved = self._setup.solve(budget)
        seconds, cpu = time.perf_counter() - began, time.thread_time() - cpu
        if not solved or not self._setup.haveExactSolutionPath():
            return np.empty((0, self._dof)), seconds, 0.0, cpu
        began = time.perf_counter()
        self._setup.simplifySolution()
        simplified = time.perf_counter() - began
        states = self._setup.getSolutionPath().getStates()
        path = np.array([[state[i] for i in range(self._dof)] for state in states])
        return path, seconds, simplified, cpu


def _edge_validator(information: Any, planner: OmplPlanner) -> Any:
    class Validator(base.MotionValidator):  # type: ignore[misc]
        def checkMotion(self, first: Any, second: Any, *rest: Any) -> bool:
            return planner.edge(first, second)

    return Validator(information)


__all__ = ["OmplPlanner", "World"]
