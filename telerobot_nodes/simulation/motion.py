"""A motion of primitives that was simulated, or is practised: its arm in the motion's own time, and its conflicts.

What belongs here: joints over time as somebody else computed or measured them. What must never enter: the plan,
messages, clocks.
"""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.robot import Kinematics, RobotModel
from telerobot_nodes.core.values import FloatArray, finite_array
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.simulation.conflicts import CollisionChecker, ConflictBounds
from telerobot_nodes.simulation.forward import PathLine, path_line
from telerobot_nodes.simulation.path_conflicts import ConflictReport, PathConflicts
from telerobot_nodes.simulation.simulated_path import SimulatedPath

CAPACITY = 100_000  # points; more are not drawn
LARGEST = 1e4  # [rad] of a joint; differences of what is near the largest number are infinite


class SimulatedMotion:
    """At most one motion, which grows while it is drawn. One thread."""

    def __init__(self, robot: RobotModel, checker: CollisionChecker | None = None, capacity: int = CAPACITY) -> None:
        self._robot, self._capacity = robot, capacity
        self._path = SimulatedPath(Kinematics(robot), robot.home, capacity)
        self._conflicts = PathConflicts(robot, self._path, checker, ConflictBounds())
        self._began = 0.0  # [s] when its first point was added

    def __len__(self) -> int:
        """Number of points."""
        return len(self._path)

    def clear(self) -> None:
        """There is no motion any more."""
        self._path.restart(np.array(self._robot.home))
        self._conflicts.clear()

    def extend(self, time: FloatArray, joints: FloatArray, now: float, new: bool = False) -> None:
        """Add points at times (n,) [s] since the motion began, joints (n, dof) [rad]; `now` [s]: of the first, shown.

        `new`: they begin another motion, which replaces what is there. What exceeds the capacity is left out.
        Raises InvalidValueError naming the field; then nothing is added.
        """
        times, dof = finite_array(time, "motion.time"), self._robot.dof
        if joints.shape != (times.size, dof):
            raise InvalidValueError("motion.joints (shape)", joints.shape, f"allowed: ({times.size}, {dof})")
        rows = finite_array(joints, "motion.joints").reshape(-1, dof)
        if rows.size and np.abs(rows).max() > LARGEST:
            raise InvalidValueError("motion.joints", float(np.abs(rows).max()), f"allowed: up to {LARGEST:g} rad")
        last = float(self._path.time[-1]) if len(self) and not new else 0.0
        if times.size and np.diff(times, prepend=last).min() < 0.0:
            raise InvalidValueError("motion.time", float(times.min()), f"allowed: from {last:g} s on, increasing")
        if new:
            self.clear()
        room = self._capacity - len(self)
        times, rows = times[:room], rows[:room]
        if not times.size:
            return
        if not len(self):
            self._path.restart(rows[0], float(times[0]))
            self._began = now - float(times[0])
        self._path.follow(times, rows)

    def at(self, now: float) -> FloatArray | None:
        """Joints (dof,) [rad] at `now` [s], held at the last point; None: there is no motion."""
        return self._path.at(now - self._began) if len(self) else None

    def line(self, most: int) -> PathLine:
        """The tool's path through about `most` of the points; empty: there is no motion."""
        return path_line(self._robot, self._path, most, len(self))

    def check(self, most: int = 100) -> int:
        """Examine up to `most` points that are not examined yet; returns how many."""
        return self._conflicts.check(most)

    def recheck(self) -> None:
        """Examine every point again, a few with each `check`, because the world has changed."""
        self._conflicts.recheck()

    def conflicts(self) -> ConflictReport:
        """Conflicts found so far."""
        return self._conflicts.report("simulated motion: ")
