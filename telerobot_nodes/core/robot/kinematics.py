"""Inverse kinematics of one arm: a step for servo loops, converged solutions for plans."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot.chain import chain_of, jacobians, workspace_of
from telerobot_nodes.core.robot.inverse import (
    BY_MOTION,
    CONVERGED,
    JUMPED,
    converge_path,
    inverse_step,
    middle_deviations,
)
from telerobot_nodes.core.robot.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, finite_array
from telerobot_nodes.core.values import poses as checked_poses
from telerobot_nodes.errors import OutOfReachError

TOLERANCE = 1e-8  # [m], [rad] of converged solutions
JOINT_STEP = 0.2  # [rad] largest rotation of a joint per iteration, so that the solution stays on its branch
TOOL_FREEDOM = 6  # [-] of a pose: an arm with more joints has a null space
MAX_JUMP = 0.5  # [rad] default bound of a joint's rotation between neighbours of a path
POSTURE_SPEED = 0.2  # [rad/s] of plan time: largest pull of a hint, whether points are dense or sparse
POSTURE_STEP = 0.2  # [rad] largest pull of a hint at one point, whatever its time
_NONE: FloatArray = np.empty(0)


@dataclass(frozen=True)
class Posture:
    """Pull of a redundant arm along a path of n points, in the null space: the tool follows the points exactly.

    A hint pulls by plan time, so that it acts also while the tool stands. Without hints the pull is to `rest`, by no
    more than a share of the tool's motion: the elbow does not drift on closed paths, and stands while the tool stands.
    """

    rest: FloatArray  # (dof,) [rad] where the plan began
    hints: FloatArray = field(default_factory=lambda: _NONE)  # (n, dof) [rad], or empty: the rest
    spans: FloatArray = field(default_factory=lambda: _NONE)  # (n,) [s] plan time from the point before, for hints

    @classmethod
    def of(cls, rest: FloatArray, hints: FloatArray, time: FloatArray, before: float | None) -> Posture:
        """Posture of points at plan times `time` (n,) [s], after one at `before` [s]; None: they begin the path."""
        if not hints.size:
            return cls(rest)
        return cls(rest, hints, np.diff(time, prepend=time[:1] if before is None else before))

    def rows(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Postures (n, dof) [rad] and bounds (n,) [rad] for `converge_path`."""
        if self.hints.size:
            return np.array(self.hints), np.clip(POSTURE_SPEED * self.spans, 0.0, POSTURE_STEP)
        return np.repeat(self.rest[None], n, axis=0), np.full(n, BY_MOTION)

    def from_row(self, first: int) -> Posture:
        """The same for the points from row `first` on."""
        return Posture(self.rest, self.hints[first:], self.spans[first:]) if self.hints.size else self


class Kinematics:
    """Inverse kinematics of `robot`, in the tool frame, for any number of joints from 6. One thread each.

    Damped least squares on log6, dq = J^T (J J^T + lambda^2 I)^-1 e + N pull, with lambda growing below a
    smallest singular value of 0.04 (m and rad mixed); near position limits steps shrink by a velocity damper
    and the remaining joints take over, while motion away from a limit is free.
    """

    def __init__(self, robot: RobotModel) -> None:
        self.robot = robot
        self._chain = chain_of(robot.model, robot.tool_frame_id)
        self._ws = workspace_of(robot.dof)
        self._dq = np.zeros(robot.dof)
        self._none, self._no_rows = np.empty(0), np.empty((0, robot.dof))
        # compiled code gets only these arrays: a read-only or strided argument would cause another compilation
        self._q = np.zeros(robot.dof)
        self._posture = np.zeros(robot.dof)
        self._next = np.zeros(robot.dof)
        self._position = np.zeros(3)
        self._rotation = np.zeros((3, 3))

    def step(
        self,
        q: FloatArray,
        T_world_tool: pin.SE3,
        posture: FloatArray | None = None,
        out: FloatArray | None = None,
        max_joint_step: float = JOINT_STEP,
    ) -> FloatArray:
        """Joints (dof,) [rad] one step nearer to `T_world_tool`, into `out` if given; never past a limit.

        `posture` (dof,) pulls in the null space of redundant arms. Not checked: the caller passes finite values.
        """
        self._q[:] = q
        self._rotation[:] = T_world_tool.rotation
        self._position[:] = T_world_tool.translation
        pull = self._none
        if posture is not None:
            pull = self._posture
            pull[:] = posture
        inverse_step(
            self._chain,
            self._q,
            self._rotation,
            self._position,
            pull,
            max_joint_step,
            self._ws,
            self._next,
            self._dq,
        )
        if out is None:
            return self._next.copy()
        out[:] = self._next
        return out

    def solve(
        self, T_world_tool: pin.SE3, q_seed: FloatArray, max_jump: float = np.pi, posture: Posture | None = None
    ) -> FloatArray:
        """Joints (dof,) [rad] with the tool within 1e-8 m and rad of the pose, by continuation from `q_seed`.

        `posture`: as of `solve_path`. Raises OutOfReachError when there are none on this branch, or a joint ends over
        `max_jump` [rad] away.
        """
        pose = pin.SE3ToXYZQUAT(T_world_tool).reshape(1, 7)
        q = self.follow(pose, np.array(q_seed, dtype=np.float64), MAX_JUMP, posture)[0]
        turn = np.abs(q - q_seed)
        if turn.max() > max_jump:
            raise OutOfReachError(
                f"pose {_text(pose[0])}: joint {turn.argmax()} would turn {turn.max():.2f}, over {max_jump:.2f} rad"
            )
        return q

    def solve_path(
        self, poses: object, q_seed: object, max_jump: float = MAX_JUMP, posture: Posture | None = None
    ) -> FloatArray:
        """Joints (n, dof) [rad] for poses (n, 7), each by continuation from the one before, the first from `q_seed`.

        `posture` pulls in the null space of an arm with more than six joints; the tool stays exact. Raises
        OutOfReachError naming the first pose that cannot be reached, or where a joint would turn more
        than `max_jump` [rad] from its neighbour; InvalidValueError when a value is not finite.
        """
        checked = checked_poses(poses, "poses")
        return self.follow(checked, finite_array(q_seed, "q_seed", self.robot.dof), max_jump, posture)

    def deviations(self, joints: FloatArray, poses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How far the tool leaves the straight line between neighbours when the joints go straight.

        Distances (n - 1,) [m] and angles (n - 1,) [rad], at the middle, for `joints` (n, dof) [rad] at `poses` (n, 7).
        """
        out = np.empty((len(joints) - 1, 2))
        middle_deviations(self._chain, joints, poses, self._ws, out)
        return out[:, 0], out[:, 1]

    def smallest_singular_value(self, q: FloatArray) -> float:
        """Smallest singular value of the tool Jacobian at `q` (m and rad mixed); 0 at a singularity."""
        return float(np.linalg.svd(self.robot.jacobian(q), compute_uv=False)[-1])

    def smallest_singular_values(self, path: FloatArray) -> FloatArray:
        """Smallest singular value (n,) of the tool Jacobian at each row of `path` (n, dof) [rad]."""
        rows = np.array(path, dtype=np.float64)
        found = np.empty((len(rows), 6, self.robot.dof))
        jacobians(self._chain, rows, self._ws, found)
        least = np.linalg.eigvalsh(found @ found.transpose(0, 2, 1))[:, 0]
        return np.asarray(np.sqrt(np.maximum(least, 0.0)))

    def follow(
        self, poses: FloatArray, q_seed: FloatArray, max_jump: float = MAX_JUMP, posture: Posture | None = None
    ) -> FloatArray:
        """As `solve_path`, not checked: the caller passes contiguous arrays of finite values and unit quaternions."""
        out = np.empty((len(poses), self.robot.dof))
        pulls, bounds = self._no_rows, self._none
        if posture is not None and self.robot.dof > TOOL_FREEDOM:
            pulls, bounds = posture.rows(len(poses))
        status, row = converge_path(
            self._chain, poses, q_seed, TOLERANCE, JOINT_STEP, max_jump, pulls, bounds, self._ws, out
        )
        if status == CONVERGED:
            return out
        why = f"a joint would turn more than {max_jump:g} rad" if status == JUMPED else "no joint angles inside limits"
        raise OutOfReachError(f"poses[{row}] {_text(poses[row])}: {why}")


def _text(pose: FloatArray) -> str:
    return "[" + ", ".join(f"{value:.4f}" for value in pose) + "]"
