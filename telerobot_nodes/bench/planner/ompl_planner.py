"""OMPL's RRTConnect on the sphere model, for comparison; the `ompl` package is imported here alone.

Its checker is the compiled one, stopped at the first collision, and called with as little around it as Python allows:
everything it needs is handed over once, as one compiled object.
"""

from __future__ import annotations

import time
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.experimental import structref
from ompl import base, geometric, util

from telerobot_nodes.bench.planner.problems import Problem
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import ArmGeometry, link_poses_of, nearest, world_of
from telerobot_nodes.cspace.search import largest_turn


@structref.register
class _CheckerType(types.StructRef):  # type: ignore[misc]
    pass


class _Checker(structref.StructRefProxy):  # type: ignore[misc]
    """Arm, scene, scratch memory and queried states as one compiled object."""

    def __new__(cls, *fields: Any) -> Any:
        return structref.StructRefProxy.__new__(cls, *fields)


structref.define_proxy(_Checker, _CheckerType, ["arm", "world", "poses", "a", "b", "step"])


@numba.njit(error_model="numpy")
def _state_free(c: Any) -> bool:
    """True when the state in `c.a` does not collide."""
    return bool(nearest(c.arm, c.world, c.poses, c.a, 0.0)[1] < 0)


@numba.njit(error_model="numpy")
def _edge_free(c: Any) -> bool:
    """True when no sample every `c.step` [rad] of the straight motion from `c.a` to `c.b` collides."""
    delta = c.b - c.a
    count = max(int(np.ceil(largest_turn(delta) / c.step)), 1)
    for i in range(count, 0, -1):
        c.poses.middle[:] = c.a + i / count * delta
        if nearest(c.arm, c.world, c.poses, c.poses.middle, 0.0)[1] >= 0:
            return False
    return True


class OmplPlanner:
    """OMPL's RRTConnect for one problem; a call plans within a budget [s]."""

    def __init__(self, geometry: ArmGeometry, problem: Problem, step: float, per_edge: bool) -> None:
        util.setLogLevel(util.LogLevel.LOG_NONE)
        dof = self._dof = geometry.dof
        self._a, self._b = np.zeros(dof), np.zeros(dof)
        world = world_of(problem.obstacles, problem.margin)
        self._checker = _Checker(geometry.arm, world, link_poses_of(geometry.arm), self._a, self._b, step)
        space = base.RealVectorStateSpace(dof)
        bounds = base.RealVectorBounds(dof)
        for i in range(dof):
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
        _state_free(self._checker), _edge_free(self._checker)  # compiled before time is taken

    def _state(self, space: Any, q: FloatArray) -> Any:
        state = space.allocState()
        for i in range(self._dof):
            state[i] = float(q[i])
        return state

    def _valid(self, state: Any) -> bool:
        a = self._a
        for i in range(self._dof):
            a[i] = state[i]
        return bool(_state_free(self._checker))

    def edge(self, first: Any, second: Any) -> bool:
        """True when the samples between two states are free."""
        a, b = self._a, self._b
        for i in range(self._dof):
            a[i], b[i] = first[i], second[i]
        return bool(_edge_free(self._checker))

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
