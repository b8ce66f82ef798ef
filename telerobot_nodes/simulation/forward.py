"""Forward simulation: the arm at the head of plan and trial path, before the robot is there [US5046022].

What belongs here: joint solutions of the points, the simulated arm on them, conflicts ahead. What must never enter:
the robot's reports (`estimate.py`), messages, clocks. The field calls this a predictive display.

The simulated arm moves along the points in real time and catches up with points that arrive in bursts. While the brake
deletes points it moves backward along the plan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.robot import Kinematics, Posture, RobotModel
from telerobot_nodes.core.values import FloatArray, finite_array, pose_from_se3, poses
from telerobot_nodes.errors import InvalidValueError, OutOfReachError
from telerobot_nodes.simulation.conflicts import CollisionChecker, ConflictBounds
from telerobot_nodes.simulation.path_conflicts import ConflictReport, PathConflicts
from telerobot_nodes.simulation.simulated_path import NO_HINTS, SimulatedPath

CATCH_UP = 0.15  # [s] time constant with which the simulated arm approaches the head
CAPACITY = 1_000_000  # points per path


@dataclass(frozen=True)
class ArmState:
    """State of the simulated arm on a path."""

    time: float  # [s] plan time
    joint_position: FloatArray  # (dof,) [rad]
    tool_pose: FloatArray  # (7,) x y z [m], qx qy qz qw, WORLD


@dataclass(frozen=True)
class PathLine:
    """A path thinned for a display."""

    places: FloatArray  # (n, 3) [m] tool positions, WORLD
    kinds: npt.NDArray[np.uint8]  # (n,) the greatest ConflictKind of the points up to each place


class ForwardSimulator:
    """Simulated arms of plan and trial path. One thread."""

    def __init__(
        self,
        robot: RobotModel,
        checker: CollisionChecker | None = None,
        bounds: ConflictBounds | None = None,
        capacity: int = CAPACITY,
    ) -> None:
        self.robot = robot
        self._kinematics = Kinematics(robot)
        home = np.array(robot.home)
        self._kinematics.solve(robot.forward(home), home)  # compile before any point
        self._kinematics.smallest_singular_values(home[None])
        self._plan = SimulatedPath(self._kinematics, robot.home, capacity)
        self._trial = SimulatedPath(self._kinematics, robot.home, capacity)
        self._has_trial = False
        bounds = bounds or ConflictBounds()
        self._plan_conflicts = PathConflicts(robot, self._plan, checker, bounds)
        self._trial_conflicts = PathConflicts(robot, self._trial, checker, bounds)
        self._tips: dict[bool, FloatArray] = {}  # joints (dof,) [rad] at the hand, of the trial path and of the plan
        self._time = 0.0  # [s] plan time of the simulated arm
        self._now: float | None = None

    # --- points --------------------------------------------------------------------------------------------------

    def start(self, q: FloatArray, time: float = 0.0) -> None:
        """Start the plan at joints `q` (dof,) [rad] of the robot at rest; ignored once there are points."""
        if len(self._plan) == 0:
            self._plan.restart(finite_array(q, "q", self.robot.dof), time)
            self._time = time

    def append(
        self, first_seq: int, time: FloatArray, pose: FloatArray, trial: bool = False, posture: FloatArray = NO_HINTS
    ) -> None:
        """Append points numbered from `first_seq`: plan times (n,) [s], tool poses (n, 7) in WORLD.

        `posture` (n, dof) [rad]: hint of each point, or empty. Raises InvalidValueError naming the field, or
        QueueFullError; then nothing is added.
        """
        times = finite_array(time, "points.time")
        rows = poses(pose, "points.pose")
        if len(rows) != times.size:
            raise InvalidValueError("points.pose (length)", 7 * len(rows), f"allowed: 7 for each of {times.size}")
        hints = self._hints(posture, times.size)
        path = self._trial if trial else self._plan
        old = path.known(first_seq, times)
        first_seq, times, rows, hints = first_seq + old, times[old:], rows[old:], hints[old:]
        if not times.size:
            return
        if trial and not self._has_trial:
            self._trial.restart(self._plan.q[-1], float(self._plan.time[-1]), self._plan.rest)
            self._has_trial = True
        path.append(first_seq, times, rows, hints)

    def truncate(self, after_seq: int, trial: bool = False) -> None:
        """Delete the points above `after_seq`; the simulated arm moves back to the new head."""
        if trial:
            self._trial.truncate(after_seq)
            self._trial_conflicts.truncate(after_seq)
            return
        self._plan.truncate(after_seq)
        self._plan_conflicts.truncate(after_seq)
        self._time = min(self._time, self.head_time)

    def reset(
        self,
        first_seq: int,
        time: FloatArray,
        pose: FloatArray,
        q: FloatArray | None = None,
        trial: bool = False,
        posture: FloatArray = NO_HINTS,
    ) -> None:
        """Replace the whole path by the points given, as of `append`, from joints `q` (dof,) [rad] if given.

        Points that are all known were published again for a new subscriber: nothing changes.
        """
        times = finite_array(time, "points.time")
        if times.size and (self._trial if trial else self._plan).known(first_seq, times) == times.size:
            return
        self._tips.pop(trial, None)
        if trial:
            self._has_trial = False
            self._trial_conflicts.clear()
        else:
            self._plan.restart(self._plan.q[0] if q is None else finite_array(q, "q", self.robot.dof))
            self._plan_conflicts.clear()
        self.append(first_seq, time, pose, trial, posture)
        if not trial:
            self._time = self.head_time

    def show_tip(self, pose: FloatArray | None, trial: bool = False) -> None:
        """Let the simulated arm stand at the operator's tool `pose` (7,), ahead of the last point of its path.

        The plan time of what lies between is not computed yet [US5046022]. None: the arm is at the last point. A pose
        out of reach is not shown.
        """
        path = self._trial if trial and self._has_trial else self._plan
        before = self._tips.pop(trial, None)
        if not trial:
            self._time = self.head_time
        if pose is None:
            return
        seed = path.q[-1] if before is None else before
        try:
            rest = Posture(path.rest)
            self._tips[trial] = self._kinematics.solve_path(pose.reshape(1, 7), seed, posture=rest)[0]
        except OutOfReachError:
            self._tips[trial] = seed

    def executed(self, plan_time: float) -> None:
        """Drop the points before plan time `plan_time` [s], which the robot has confirmed."""
        self._plan.drop_before(plan_time)
        self._plan_conflicts.forget()

    # --- states --------------------------------------------------------------------------------------------------

    def advance(self, now: float, ratio: float = 1.0) -> ArmState:
        """Move the simulated arm along the points up to `now` [s]; `ratio`: least plan seconds per second."""
        elapsed = 0.0 if self._now is None else max(now - self._now, 0.0)
        self._now = now
        gap = self.head_time - self._time
        run = max(ratio * elapsed, gap * -np.expm1(-elapsed / CATCH_UP))
        self._time += min(gap, run)
        tip = self._tips.get(False)
        if tip is None:
            return self.state_at(self._time)
        self._time = self.head_time
        return self._state(self._time, tip)

    def head(self) -> ArmState:
        """The arm at the last point of the plan."""
        return self._state(float(self._plan.time[-1]), self._plan.q[-1])

    def trial_head(self) -> ArmState | None:
        """The arm at the end of the trial path, or at the hand ahead of it; None if there is none."""
        if not self._has_trial:
            return None
        return self._state(float(self._trial.time[-1]), self._tips.get(True, self._trial.q[-1]))

    def state_at(self, time: float) -> ArmState:
        """The arm at plan time `time` [s], limited to the plan from the robot's confirmed state to the head."""
        held = float(np.clip(time, self._plan.time[0], self._plan.time[-1]))
        return self._state(held, self._plan.at(held))

    @property
    def head_time(self) -> float:
        """Plan time of the last point [s]."""
        return float(self._plan.time[-1])

    @property
    def at_end(self) -> bool:
        """True when the simulated arm is at the head."""
        return self._time >= self.head_time

    def lead(self, robot_time: float) -> float:
        """Plan time between the robot's confirmed state and the head [s]."""
        return max(self.head_time - robot_time, 0.0)

    # --- conflicts -----------------------------------------------------------------------------------------------

    def check(self, most: int = 100) -> int:
        """Examine up to `most` points of each path that are not examined yet, the trial's first; returns how many."""
        return self._trial_conflicts.check(most) + self._plan_conflicts.check(most)

    def check_while(self, wanted: Callable[[], bool], step: int = 100) -> int:
        """Examine points, `step` at least, until none is left or no more is `wanted`; returns how many."""
        examined = found = self.check(step)
        while found and wanted():
            found = self.check(step)
            examined += found
        return examined

    def recheck(self) -> None:
        """Examine every point again, a few with each `check`, because the world has changed."""
        self._plan_conflicts.recheck()
        self._trial_conflicts.recheck()

    def conflicts(self) -> ConflictReport:
        """Conflicts found on the plan and on the trial path; the first is the plan's, if it has one.

        Where the first collision is, and how far was examined, are the plan's.
        """
        plan, trial = self._plan_conflicts.report(), self._trial_conflicts.report("trial path: ")
        if plan.count:
            return replace(plan, count=plan.count + trial.count)
        return replace(trial, text=trial.text or plan.text, collision_seq=0, free_seq=0, examined_seq=plan.examined_seq)

    def line(self, most: int, trial: bool = False) -> PathLine:
        """The tool's path through about `most` of the points, with the last one; empty if there is no path."""
        path = self._trial if trial else self._plan
        return path_line(self.robot, path, most, len(path) if self._has_trial or not trial else 0)

    def _hints(self, posture: FloatArray, n: int) -> FloatArray:
        if posture.size and posture.shape != (n, self.robot.dof):
            raise InvalidValueError("points.posture (shape)", posture.shape, f"allowed: ({n}, {self.robot.dof})")
        return finite_array(posture, "points.posture").reshape(-1, self.robot.dof) if posture.size else NO_HINTS

    def _state(self, time: float, q: FloatArray) -> ArmState:
        return ArmState(time, np.array(q), pose_from_se3(self.robot.forward(q)))


def path_line(robot: RobotModel, path: SimulatedPath, most: int, count: int) -> PathLine:
    """The tool's path through about `most` of the first `count` points, with the last of them."""
    rows = np.arange(count, 0, -max(1, -(-count // most)))[::-1]
    spans = zip(np.append(0, rows)[:-1], rows, strict=True)
    kinds = np.array([path.conflict[first + 1 : last + 1].max() for first, last in spans], dtype=np.uint8)
    places = [robot.forward(path.q[row]).translation for row in rows]
    return PathLine(np.array(places).reshape(-1, 3), kinds)
