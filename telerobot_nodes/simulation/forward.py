"""Forward simulation: the arm at the plan's head and at the trial's, long before the robot gets there [US5046022].

What belongs here: joint solutions of what is laid, the simulated arm running along them, conflicts ahead. What must
never enter: the robot's reports (`estimate.py`), messages, clocks.

The simulated arm runs along the laid points in real time and catches up with points laid in bursts, so that it is at
the head when the operator looks; while the brake deletes points it runs backward along the plan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.frames import pose_from_se3
from telerobot_nodes.core.kinematics import Kinematics
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray, finite_array, poses
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.simulation.conflicts import (
    CollisionChecker,
    Conflict,
    ConflictBounds,
    limit_conflict,
    speed_conflict,
)
from telerobot_nodes.simulation.track import Track

CATCH_UP = 0.15  # [s] time constant with which the simulated arm closes on the head
CAPACITY = 1_000_000  # points per path


@dataclass(frozen=True)
class ArmState:
    """The simulated arm somewhere on a path."""

    time: float  # [s] plan time
    joint_position: FloatArray  # (dof,) [rad]
    tool_pose: FloatArray  # (7,) x y z [m], qx qy qz qw, WORLD


@dataclass(frozen=True)
class ConflictReport:
    """Conflicts of the plan not yet executed."""

    count: int
    first_seq: int  # 0: none
    text: str  # first conflict: what, where, when; empty: none


class ForwardSimulator:
    """The plan's and the trial's arm. One thread."""

    def __init__(
        self,
        robot: RobotModel,
        checker: CollisionChecker | None = None,
        bounds: ConflictBounds | None = None,
        capacity: int = CAPACITY,
    ) -> None:
        self.robot = robot
        self._kinematics = Kinematics(robot)
        self._checker = checker
        self._bounds = bounds or ConflictBounds()
        self._plan = Track(self._kinematics, robot.home, capacity)
        self._trial = Track(self._kinematics, robot.home, capacity)
        self._has_trial = False
        self._texts: dict[int, str] = {}  # seq -> what, for points in conflict, in order of seq
        self._time = 0.0  # [s] plan time of the simulated arm
        self._now: float | None = None

    # --- what is laid --------------------------------------------------------------------------------------------

    def start(self, q: FloatArray, time: float = 0.0) -> None:
        """The plan begins at joints `q` (dof,) [rad] (the robot's, at rest); ignored once points are laid."""
        if len(self._plan) == 0:
            self._plan.restart(finite_array(q, "q", self.robot.dof), time)
            self._time = time

    def append(self, first_seq: int, time: FloatArray, pose: FloatArray, trial: bool = False) -> None:
        """Points laid, numbered from `first_seq`: plan times (n,) [s], tool poses (n, 7) in WORLD.

        Raises InvalidValueError naming the field, or QueueFullError; nothing is added then.
        """
        times = finite_array(time, "points.time")
        rows = poses(pose, "points.pose")
        if len(rows) != times.size:
            raise InvalidValueError("points.pose (length)", 7 * len(rows), f"allowed: 7 for each of {times.size}")
        path = self._trial if trial else self._plan
        old = path.known(first_seq, times)
        first_seq, times, rows = first_seq + old, times[old:], rows[old:]
        if not times.size:
            return
        if trial and not self._has_trial:
            self._trial.restart(self._plan.q[-1], float(self._plan.time[-1]))
            self._has_trial = True
        path.append(first_seq, times, rows)

    def truncate(self, after_seq: int, trial: bool = False) -> None:
        """Points above `after_seq` are gone; the simulated arm goes back to the head that is left."""
        if trial:
            self._trial.truncate(after_seq)
            return
        self._plan.truncate(after_seq)
        while self._texts and next(reversed(self._texts)) > after_seq:
            self._texts.popitem()
        self._time = min(self._time, self.head_time)

    def reset(
        self, first_seq: int, time: FloatArray, pose: FloatArray, q: FloatArray | None = None, trial: bool = False
    ) -> None:
        """Forget everything of the path; the points given are the whole of it, from joints `q` (dof,) if given.

        Points that are all held already are what was told before, told again for somebody who came late: no change.
        """
        times = finite_array(time, "points.time")
        if times.size and (self._trial if trial else self._plan).known(first_seq, times) == times.size:
            return
        if trial:
            self._has_trial = False
        else:
            self._plan.restart(self._plan.q[0] if q is None else finite_array(q, "q", self.robot.dof))
            self._texts.clear()
        self.append(first_seq, time, pose, trial)
        if not trial:
            self._time = self.head_time

    def executed(self, plan_time: float) -> None:
        """The robot confirmed plan time `plan_time` [s]: what is before it is not needed any more."""
        self._plan.drop_before(plan_time)
        first = int(self._plan.seq[0])
        while self._texts and (seq := next(iter(self._texts))) <= first:
            del self._texts[seq]

    # --- what is shown -------------------------------------------------------------------------------------------

    def advance(self, now: float, ratio: float = 1.0) -> ArmState:
        """Run the simulated arm along the laid points up to `now` [s]; `ratio` plan seconds per second at least."""
        elapsed = 0.0 if self._now is None else max(now - self._now, 0.0)
        self._now = now
        gap = self.head_time - self._time
        run = max(ratio * elapsed, gap * -np.expm1(-elapsed / CATCH_UP))
        self._time += min(gap, run)
        return self.state_at(self._time)

    def head(self) -> ArmState:
        """The arm at the last point laid."""
        return self._state(float(self._plan.time[-1]), self._plan.q[-1])

    def trial_head(self) -> ArmState | None:
        """The arm at the last point of the trial path; None without one."""
        return self._state(float(self._trial.time[-1]), self._trial.q[-1]) if self._has_trial else None

    def state_at(self, time: float) -> ArmState:
        """The arm at plan time `time` [s], held to the stretch from the robot's confirmed state to the head."""
        held = float(np.clip(time, self._plan.time[0], self._plan.time[-1]))
        return self._state(held, self._plan.at(held))

    @property
    def head_time(self) -> float:
        """[s] plan time of the last point laid."""
        return float(self._plan.time[-1])

    @property
    def at_end(self) -> bool:
        """True when the simulated arm is at the head."""
        return self._time >= self.head_time

    def lead(self, robot_time: float) -> float:
        """[s] plan time between the head and the robot's confirmed state."""
        return max(self.head_time - robot_time, 0.0)

    # --- conflicts -----------------------------------------------------------------------------------------------

    def check(self, most: int = 100) -> int:
        """Examine up to `most` points not examined yet; returns how many were."""
        rows = self._plan.unchecked(most)
        for row in rows:
            kind, text = self._examine(row)
            if kind is not Conflict.NONE:
                self._plan.conflict[row] = kind
                self._texts[int(self._plan.seq[row])] = text
        return len(rows)

    def recheck(self) -> None:
        """The world has changed: examine every point held again, a few with each `check`."""
        self._plan.uncheck()
        self._texts.clear()

    def conflicts(self) -> ConflictReport:
        """Conflicts found among the points held."""
        if not self._texts:
            return ConflictReport(0, 0, "")
        seq = next(iter(self._texts))
        row = min(int(np.searchsorted(self._plan.seq, seq)), len(self._plan))
        return ConflictReport(
            len(self._texts), seq, f"{self._texts[seq]}, point {seq}, plan time {self._plan.time[row]:.2f} s"
        )

    def kinds(self) -> tuple[FloatArray, FloatArray]:
        """Plan times (n,) [s] and `Conflict` values (n,) of the points held, for displays."""
        return self._plan.time[1:], self._plan.conflict[1:].astype(np.float64)

    def _examine(self, row: int) -> tuple[Conflict, str]:
        plan = self._plan
        q = plan.q[row]
        if plan.conflict[row] == Conflict.OUT_OF_REACH:
            return Conflict.OUT_OF_REACH, "out of reach"
        touched = self._checker.collision(q) if self._checker is not None else ""
        if touched:
            return Conflict.COLLISION, f"collision: {touched}"
        sigma = self._kinematics.smallest_singular_value(q)
        if sigma < self._bounds.singular:
            return Conflict.SINGULAR, f"singularity: smallest singular value {sigma:.3f}"
        near = limit_conflict(self.robot, q, self._bounds.limit_margin)
        if near:
            return Conflict.LIMIT, near
        late = speed_conflict(self.robot, plan.q[row - 1], q, float(plan.time[row] - plan.time[row - 1])) if row else ""
        return (Conflict.SPEED, late) if late else (Conflict.NONE, "")

    def _state(self, time: float, q: FloatArray) -> ArmState:
        return ArmState(time, np.array(q), pose_from_se3(self.robot.forward(q)))
