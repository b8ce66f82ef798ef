"""Planner plugins: this planner, OMPL or MoveIt finds a path; the proof is always made here.

`back_end` in messages and parameters names the plugin.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.search import EdgeValidator, Outcome, Plan, Planner
from telerobot_nodes.errors import NotInstalledError

PlannerPlugin = Callable[
    [Planner, FloatArray, FloatArray, float], Plan
]  # start and goal (n,) [rad], budget [s] -> plan


def plan_cspace(planner: Planner, start: FloatArray, goal: FloatArray, budget: float) -> Plan:
    """The planner of this package; the budget [s] is used to its end before it gives up."""
    ends = time.monotonic() + budget
    return planner.plan(start, goal, lambda: ends - time.monotonic())


def plan_ompl(planner: Planner, start: FloatArray, goal: FloatArray, budget: float) -> Plan:
    """RRTConnect of OMPL [SucanMollKavraki2012], its motions validated by our proof. Raises NotInstalledError."""
    if importlib.util.find_spec("ompl") is None:
        raise NotInstalledError("back_end ompl: the Python package `ompl` is not importable; pip install ompl")
    collision = planner.ends_collide(start, goal)
    if collision is not None:
        return collision
    path = _OmplSearch(planner).solve(start, goal, budget)
    if not len(path):
        return Plan(Outcome.BUDGET_SPENT, path, reason=f"OMPL RRTConnect found nothing in {budget:g} s")
    return proved(planner, path, "ompl")


def default_plugins() -> dict[str, PlannerPlugin]:
    """The plugins that need no ROS."""
    return {"cspace": plan_cspace, "ompl": plan_ompl}


def proved(planner: Planner, path: FloatArray, stage: str) -> Plan:
    """The path (k, n) [rad] of another planner with its certificate; not found when a motion cannot be proved free."""
    plan = planner.certified(path, stage)
    if plan is None:
        return Plan(Outcome.NO_PATH, path[:0], reason=f"{stage}: a motion of its path could not be proved free")
    return plan


class _OmplChecks:
    """OMPL's callbacks; they hold no OMPL object, as its bindings cannot collect reference cycles."""

    def __init__(self, planner: Planner) -> None:
        self._planner, self._dof = planner, planner.geometry.dof
        self._prover = EdgeValidator(planner.geometry.arm, planner.world, planner.settings.finest)

    def joints(self, state: Any) -> FloatArray:
        """The joints (n,) [rad] of an OMPL state."""
        return np.array([state[i] for i in range(self._dof)])

    def valid(self, state: Any) -> bool:
        """True when a state is free."""
        return self._planner.status(self.joints(state))[0] > 0.0

    def free(self, a: Any, b: Any) -> bool:
        """True when the motion between two states is proved free."""
        return self._prover.free(self.joints(a), self.joints(b))


class _OmplSearch:
    """RRTConnect in the joint box of one arm; the `ompl` package is imported here alone."""

    def __init__(self, planner: Planner) -> None:
        from ompl import base, geometric, util

        util.setLogLevel(util.LogLevel.LOG_NONE)
        arm = planner.geometry.arm
        self._checks = _OmplChecks(planner)
        self._space = base.RealVectorStateSpace(arm.lower.size)
        bounds = base.RealVectorBounds(arm.lower.size)
        for i, (low, high) in enumerate(zip(arm.lower.tolist(), arm.upper.tolist(), strict=True)):
            bounds.setLow(i, low)
            bounds.setHigh(i, high)
        self._space.setBounds(bounds)
        self._setup = geometric.SimpleSetup(self._space)
        self._setup.setStateValidityChecker(self._checks.valid)
        information = self._setup.getSpaceInformation()
        information.setMotionValidator(_motion_validator(base, information, self._checks))
        self._setup.setPlanner(geometric.RRTConnect(information))

    def solve(self, start: FloatArray, goal: FloatArray, budget: float) -> FloatArray:
        """A path (k, n) [rad]; empty when none was found in time."""
        self._setup.setStartAndGoalStates(self._state(start), self._state(goal))
        if not self._setup.solve(budget) or not self._setup.haveExactSolutionPath():
            return np.empty((0, start.size))
        self._setup.simplifySolution(0.2 * budget)
        path = np.array([self._checks.joints(state) for state in self._setup.getSolutionPath().getStates()])
        path[0], path[-1] = start, goal
        return path

    def _state(self, q: FloatArray) -> Any:
        state = self._space.allocState()
        for i, value in enumerate(q.tolist()):
            state[i] = value
        return state


def _motion_validator(base: Any, information: Any, checks: _OmplChecks) -> Any:
    class Proving(base.MotionValidator):  # type: ignore[misc]
        def checkMotion(self, a: Any, b: Any, last: Any = None) -> bool:
            return checks.free(a, b)

    return Proving(information)


def plugin_named(name: str, plugins: Mapping[str, PlannerPlugin]) -> PlannerPlugin:
    """The plugin called `name`. Raises NotInstalledError listing those available."""
    try:
        return plugins[name]
    except KeyError:
        raise NotInstalledError(
            f"back_end {name}: not available here; available: {', '.join(sorted(plugins))}"
        ) from None
