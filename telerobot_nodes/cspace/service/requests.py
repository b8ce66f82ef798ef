"""Requests to the planner and its answers, as values that are validated when made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from telerobot_nodes.core.values import FloatArray, finite_array, in_range, poses
from telerobot_nodes.cspace.covering import NamePair
from telerobot_nodes.cspace.geometry import Obstacle
from telerobot_nodes.cspace.search import Certificate
from telerobot_nodes.errors import InvalidValueError

PLUGINS = ("cspace", "ompl", "moveit")
LONGEST_BUDGET = 60.0  # [s]


class Result(Enum):
    """Result of a request."""

    FOUND = "found"
    START_COLLIDES = "start collides"
    GOAL_COLLIDES = "goal collides"
    NO_PATH = "no path at this resolution"
    UNPROVED = "start or goal not provable"
    BUDGET_SPENT = "budget spent"
    REFUSED = "refused"


@dataclass(frozen=True)
class Goal:
    """Goal of one arm from `start` (dof,) [rad]: `joints` (dof,) [rad], or the tool at `pose` (7,) in WORLD.

    `tolerance` (3,) [rad] about x, y, z of the pose; pi: any. `start_time` [s] after the first arm's start.
    """

    arm: str
    start: FloatArray
    joints: FloatArray | None = None
    pose: FloatArray | None = None
    tolerance: FloatArray = field(default_factory=lambda: np.zeros(3))
    start_time: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", finite_array(self.start, "start"))
        if (self.joints is None) == (self.pose is None):
            given = "both" if self.joints is not None else "neither"
            raise InvalidValueError("joint_goal, pose_goal", given, "allowed: one of the two")
        if self.joints is not None:
            object.__setattr__(self, "joints", finite_array(self.joints, "joint_goal"))
        if self.pose is not None:
            object.__setattr__(self, "pose", poses(finite_array(self.pose, "pose_goal", 7), "pose_goal")[0])
        tolerance = finite_array(self.tolerance, "orientation_tolerance", 3)
        for i, value in enumerate(tolerance):
            in_range(float(value), f"orientation_tolerance[{i}]", 0.0, np.pi, "rad")
        object.__setattr__(self, "tolerance", tolerance)
        in_range(self.start_time, "start_time", 0.0, 600.0, "s")


@dataclass(frozen=True)
class PlanRequest:
    """Paths for one or several arms; the first has priority. `standing`: joints of every arm that is known [rad].

    `margin` [m] kept, None: the usual; `ignore`: names of things left out of the scene; `allowed`: pairs of links, held
    things and obstacles whose contact is allowed; `fingers`: places [rad], [m] of joints that are not the arm's;
    `display`: whether data for displays is wanted.
    """

    goals: tuple[Goal, ...]
    back_end: str = "cspace"
    budget: float = 2.0  # [s]
    speed: float = 1.0  # [-] share of the joint limits
    standing: Mapping[str, FloatArray] = field(default_factory=dict)
    margin: float | None = None
    ignore: frozenset[str] = frozenset()
    allowed: frozenset[NamePair] = frozenset()
    fingers: Mapping[str, float] = field(default_factory=dict)
    display: bool = False

    def __post_init__(self) -> None:
        if not self.goals:
            raise InvalidValueError("goals (number)", 0, "allowed: 1 or more")
        arms = [goal.arm for goal in self.goals]
        if len(set(arms)) < len(arms):
            raise InvalidValueError("goals.arm", arms, "allowed: each arm once")
        if self.back_end not in PLUGINS:
            raise InvalidValueError("back_end", self.back_end, f"allowed: {', '.join(PLUGINS)}")
        in_range(self.budget, "budget", 1e-3, LONGEST_BUDGET, "s")
        in_range(self.speed, "speed", 1e-3, 1.0)


@dataclass(frozen=True)
class PathDisplay:
    """Data of a path for displays: the tool along it, and each cell as a sphere that holds the tool within it."""

    points: FloatArray  # (m, 3) [m] of the tool
    clearance: FloatArray  # (m,) [m] of the arm from obstacles there, beyond the margin, at most 1
    self_clearance: FloatArray  # (m,) [m] of the arm from itself
    cell_points: FloatArray  # (k, 3) [m] tool at the cells' centres
    cell_radius: FloatArray  # (k,) [m]


@dataclass(frozen=True)
class Proof:
    """The cells that prove a path free, and what a checker needs besides scene and robot.

    `ignored`: names of things in the scene that were left out; `others`: obstacles besides the scene.
    """

    certificate: Certificate
    margin: float  # [m]
    self_margin: float  # [m]
    allowed: frozenset[NamePair] = frozenset()
    fingers: Mapping[str, float] = field(default_factory=dict)  # [rad], [m]
    ignored: frozenset[str] = frozenset()
    others: tuple[Obstacle, ...] = ()


@dataclass(frozen=True)
class PlannedPath:
    """A timed path of one arm, with the cells that prove it."""

    arm: str
    joint_names: tuple[str, ...]
    waypoints: FloatArray  # (k, n) [rad]
    times: FloatArray  # (m,) [s]
    positions: FloatArray  # (m, n) [rad]
    velocities: FloatArray  # (m, n) [rad/s]
    length: float  # [rad]
    clearance: float  # [m] smallest along the path, beyond the margin
    cells: int  # free cells that prove it
    proof: Proof
    display: PathDisplay | None = None  # None: not asked for


@dataclass(frozen=True)
class PlanAnswer:
    """Paths in the order of the goals, or the reason why there are none."""

    result: Result
    message: str
    paths: tuple[PlannedPath, ...] = ()
    statistics: Mapping[str, float] = field(default_factory=dict)

    @property
    def found(self) -> bool:
        """True when there are paths."""
        return self.result is Result.FOUND


@dataclass(frozen=True)
class PathAnswer:
    """Result of checking a path: proved free, or the first `segment` that is not and what is too near where."""

    free: bool
    message: str
    clearance: float  # [m] smallest found, beyond the margin asked for
    segment: int = 0


@dataclass(frozen=True)
class StateAnswer:
    """Clearance [m] of a configuration beyond the margin, below 0: depth; the nearest pair; status of its cell."""

    free: bool
    message: str
    clearance: float
    first: str
    second: str
    cell: str


@dataclass(frozen=True)
class Refusal:
    """The reason why a request was refused."""

    message: str
    result: Result = Result.REFUSED
