"""Reachability of a path, checked pose by pose by continuation on one branch of the inverse kinematics."""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.robot.kinematics import MAX_JUMP, Kinematics, Posture
from telerobot_nodes.core.robot.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, se3_from_pose
from telerobot_nodes.errors import OutOfReachError

MARGIN = 0.05  # [rad] distance of a plan from the joint limits
SINGULAR = 0.02  # [-] smallest singular value of the tool Jacobian along a plan
NEAR_SINGULAR = 0.1  # [-] smallest singular value below which a large step may have no solution that a small one has
SLOWER = "move slower here"  # for people


class Reach:
    """Called with a tool pose (7,) in WORLD; raises OutOfReachError when the arm cannot follow the path there.

    `pass_singularities`: let the path come as near to singularities as it likes, as long as `step` allows its points.
    """

    def __init__(self, robot: RobotModel) -> None:
        self.pass_singularities = False
        self._kinematics = Kinematics(robot)
        self._limits = robot.limits
        self._seed = np.array(robot.home)
        self._arm = np.array(robot.home)
        self._posture = Posture(np.array(robot.home))
        self._point: tuple[FloatArray, FloatArray] | None = None  # pose (7,) and joints (dof,) of the latest step
        self._kinematics.solve(robot.forward(self._seed), self._seed)  # compiles before the first motion

    def arm_at(self, q: FloatArray) -> None:
        """Set the arm's joints (dof,) [rad], where a new path begins."""
        self._arm[:] = np.clip(q, self._limits.lower, self._limits.upper)

    def begin(self) -> None:
        """Begin a new path where the arm is: on its branch, with its posture."""
        self._seed[:] = self._arm
        self._posture = Posture(self._arm.copy())
        self._point = None

    @property
    def joints(self) -> FloatArray:
        """Joints (dof,) [rad] at the last pose that was accepted; the arm's home before."""
        return self._seed.copy()

    @property
    def posture(self) -> Posture:
        """Where the path began, which pulls a redundant arm."""
        return self._posture

    def __call__(self, pose: FloatArray) -> None:
        """Raise OutOfReachError when `pose` has no joint solution near the one before."""
        self._accept(self._solve(pose), self._seed)

    def step(self, before: FloatArray, pose: FloatArray) -> None:
        """Raise OutOfReachError when a plan cannot have `pose` (7,) as its next point after `before` (7,).

        The joints are those that the executor finds; what it refuses, a large turn of a joint, is refused here.
        """
        q = self._next(before, pose)
        self._point = pose.copy(), q

    def _next(self, before: FloatArray, pose: FloatArray) -> FloatArray:
        if self._point is not None and np.array_equal(self._point[0], before):
            start = self._point[1]
        else:
            start = self._solve(before)
        try:
            q = self._kinematics.solve(se3_from_pose(pose), start, posture=self._posture)
        except OutOfReachError as error:
            if self.pass_singularities and self._kinematics.smallest_singular_value(start) < NEAR_SINGULAR:
                raise OutOfReachError(f"out of reach: singularity, no joint angles in one step: {SLOWER}") from error
            raise
        turn = np.abs(q - start)
        if turn.max() > MAX_JUMP:
            text = f"joint {turn.argmax()} would turn {turn.max():.2f} rad in one step, over {MAX_JUMP:g}"
            raise OutOfReachError(f"out of reach: {text}: {SLOWER}")
        self._accept(q, start)
        return q

    def _accept(self, q: FloatArray, before: FloatArray) -> None:
        """Take joints `q` (dof,) [rad] after those `before`; motion away from a limit or a singularity is allowed."""
        room = self._room(q)
        bad = np.flatnonzero((room < MARGIN) & (room < self._room(before)))
        if bad.size:
            raise OutOfReachError(f"out of reach: joint {bad[0]} would come within {MARGIN:g} rad of its limit")
        sigma = SINGULAR if self.pass_singularities else self._kinematics.smallest_singular_value(q)
        if sigma < SINGULAR and sigma <= self._kinematics.smallest_singular_value(before):
            raise OutOfReachError(f"out of reach: singularity, smallest singular value under {SINGULAR:g}")
        self._seed[:] = q

    def _solve(self, pose: FloatArray) -> FloatArray:
        T_world_tool = se3_from_pose(pose)
        try:
            return self._kinematics.solve(T_world_tool, self._seed, posture=self._posture)
        except OutOfReachError:
            q = self._kinematics.solve(T_world_tool, self._arm)
            self._posture = Posture(self._arm.copy())
            return q

    def _room(self, q: FloatArray) -> FloatArray:
        """Distance (dof,) [rad] of each joint of `q` (dof,) [rad] from its nearer limit."""
        return np.minimum(q - self._limits.lower, self._limits.upper - q)
