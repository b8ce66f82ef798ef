"""Who finds a path: this planner, OMPL or MoveIt. Whoever it is, the path leaves with a proof made here."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.certificate import certify
from telerobot_nodes.cspace.clearance import clearance
from telerobot_nodes.cspace.edges import EdgeProver
from telerobot_nodes.cspace.placing import places_of
from telerobot_nodes.cspace.planner import Outcome, Plan, Planner
from telerobot_nodes.cspace.shortcut import path_length
from telerobot_nodes.errors import NotInstalledError

BackEnd = Callable[[Planner, FloatArray, FloatArray, float], Plan]  # start and goal (n,) [rad], budget [s] -> plan

PROBES_PER_SECOND = 100_000  # of the compiled search, on a slow machine
CELLS_PER_SECOND = 4_000  # of the complete search
DENSE = 0.05  # [rad] between the waypoints of a foreign path that is proved edge by edge


def plan_cspace(planner: Planner, start: FloatArray, goal: FloatArray, budget: float) -> Plan:
    """The planner of this package, with as many probes and cells as the budget [s] holds."""
    usual = planner.settings
    probes, cells = int(budget * PROBES_PER_SECOND), int(budget * CELLS_PER_SECOND)
    planner.settings = replace(
        usual,
        trial_probes=min(usual.trial_probes, probes),
        tree_probes=min(usual.tree_probes, probes),
        cells=min(usual.cells, max(cells, 16)),
    )
    try:
        return planner.plan(start, goal)
    finally:
        planner.settings = usual


def plan_ompl(planner: Planner, start: FloatArray, goal: FloatArray, budget: float) -> Plan:
    """OMPL's RRTConnect, its motions validated by our proof. Raises NotInstalledError."""
    if importlib.util.find_spec("ompl") is None:
        raise NotInstalledError("back_end ompl: the Python package `ompl` is not importable; pip install ompl")
    ends = _ends(planner, start, goal)
    if ends is not None:
        return ends
    path = _OmplSearch(planner).solve(start, goal, budget)
    if not len(path):
        return Plan(Outcome.BUDGET_SPENT, path, reason=f"OMPL RRTConnect found nothing in {budget:g} s")
    return proved(planner, path, "ompl")


def default_back_ends() -> dict[str, BackEnd]:
    """The back ends that need no ROS."""
    return {"cspace": plan_cspace, "ompl": plan_ompl}


def proved(planner: Planner, path: FloatArray, stage: str) -> Plan:
    """A path (k, n) [rad] of another planner with its certificate; not found when a motion cannot be proved."""
    certificate = certify(planner.geometry, planner.world, path, planner.settings.finest)
    if certificate is None:
        return Plan(Outcome.NO_PATH, path[:0], reason=f"{stage}: a motion of its path could not be proved free")
    arm = planner.geometry.arm
    at = places_of(arm)
    least = min(clearance(arm, planner.world, at, q) for q in certificate.centers)
    return Plan(Outcome.FOUND, path, certificate, least, stage, path_length(path))


def _ends(planner: Planner, start: FloatArray, goal: FloatArray) -> Plan | None:
    """The answer when start or goal collides already; raises InvalidValueError outside the limits."""
    limits = planner.geometry.robot.limits
    for name, q, outcome in (("start", start, Outcome.START_COLLIDES), ("goal", goal, Outcome.GOAL_COLLIDES)):
        d, pair = planner.status(limits.check_position(q, name))
        if d <= 0.0:
            return Plan(outcome, np.empty((0, q.size)), reason=f"{pair}: {-1e3 * d:.1f} mm inside the margin")
    return None


class _OmplChecks:
    """What OMPL calls back; holds nothing of OMPL, whose bindings cannot collect circles."""

    def __init__(self, planner: Planner) -> None:
        self._planner, self._dof = planner, planner.geometry.dof
        self._prover = EdgeProver(planner.geometry.arm, planner.world, planner.settings.finest)

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


def chosen(name: str, back_ends: Mapping[str, BackEnd]) -> BackEnd:
    """The back end of this name. Raises NotInstalledError naming what is missing."""
    try:
        return back_ends[name]
    except KeyError:
        raise NotInstalledError(
            f"back_end {name}: not available here; available: {', '.join(sorted(back_ends))}"
        ) from None
