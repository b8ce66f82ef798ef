"""From nominal joints to wanted joints by way of the tool: the door for sensor motion [GCMSF].

The inverse step starts from the nominal joints plus the deviation kept so far. Without sensor motion the deviation
is zero and the joints pass through unchanged; with it, the nominal motion is fed forward and never lags.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numba import njit

from telerobot_nodes.core.chain import Chain, Workspace, chain_of, forward, workspace_of
from telerobot_nodes.core.inverse import inverse_step
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.validation import FloatArray

MAX_JOINT_STEP = 0.2  # [rad] per step; the setpoint limiter is far below it


class ToolMotion(Protocol):
    """What a control step asks between nominal motion and joint limits."""

    pose: FloatArray  # (7,) x y z [m], qx qy qz qw of the tool wanted, WORLD
    monitor: int  # Termination that asks for a stop since the reset; 0: none

    def measure(self, q: FloatArray) -> None:
        """Measured joints (dof,) [rad], finite."""

    def feel(self, at: float, wrench: FloatArray) -> None:
        """Wrench (6,) [N], [N m] of the tool on the environment, SENSOR, received at `at` [s]."""

    def push(self, displacement: FloatArray) -> None:
        """A force field's displacement of NOM (6,) [m], [rad] for the next sample, finite."""

    def tare(self) -> None:
        """Take the wrench felt last as no contact."""

    def reset(self, q: FloatArray) -> None:
        """At rest at `q` (dof,) [rad]: no deviation from the nominal motion."""

    def step(self, now: float, q_nominal: FloatArray, q_wanted: FloatArray, frozen: bool) -> None:
        """Joints wanted at `now` [s] into `q_wanted` (dof,) [rad]; one call per control period.

        `frozen`: the arm is being stopped, sensor motion so far stays and no more is added.
        """


class NominalTool:
    """The nominal motion and nothing else: T_world_tool by forward kinematics of the nominal joints."""

    monitor = 0

    def __init__(self, robot: RobotModel) -> None:
        self.pose = np.zeros(7)
        self._chain = chain_of(robot.model, robot.tool_frame_id)
        self._ws = workspace_of(robot.dof)
        self._goal_rotation = np.eye(3)
        self._goal_position = np.zeros(3)
        self._deviation = np.zeros(robot.dof)
        self._scratch = np.zeros((3, robot.dof))

    def measure(self, q: FloatArray) -> None:
        """Nothing depends on it."""

    def feel(self, at: float, wrench: FloatArray) -> None:
        """Nothing depends on it."""

    def push(self, displacement: FloatArray) -> None:
        """Nothing gives way."""

    def tare(self) -> None:
        """Nothing is felt."""

    def reset(self, q: FloatArray) -> None:
        """At rest at `q` (dof,) [rad]."""
        self._deviation[:] = 0.0
        forward(self._chain, q, self._ws)
        pose_into(self._ws.rotation, self._ws.position, self.pose)

    def step(self, now: float, q_nominal: FloatArray, q_wanted: FloatArray, frozen: bool) -> None:
        """Joints of the nominal tool pose into `q_wanted` (dof,) [rad]."""
        _nominal_step(
            self._chain,
            self._ws,
            q_nominal,
            self._goal_rotation,
            self._goal_position,
            self._deviation,
            self._scratch,
            q_wanted,
            self.pose,
        )


@njit(cache=True)
def _nominal_step(
    chain: Chain,
    ws: Workspace,
    q_nominal: FloatArray,
    goal_rotation: FloatArray,
    goal_position: FloatArray,
    deviation: FloatArray,
    scratch: FloatArray,
    q_wanted: FloatArray,
    pose: FloatArray,
) -> None:
    forward(chain, q_nominal, ws)
    for r in range(3):
        goal_position[r] = ws.position[r]
        for c in range(3):
            goal_rotation[r, c] = ws.rotation[r, c]
    joints_towards(chain, q_nominal, goal_rotation, goal_position, ws, deviation, scratch, q_wanted)
    pose_into(goal_rotation, goal_position, pose)


@njit(cache=True)
def joints_towards(
    chain: Chain,
    q_nominal: FloatArray,
    goal_rotation: FloatArray,
    goal_position: FloatArray,
    ws: Workspace,
    deviation: FloatArray,
    scratch: FloatArray,
    q_wanted: FloatArray,
) -> None:
    """One inverse step from nominal joints plus `deviation` [rad] to the goal, into `q_wanted`; updates both.

    The posture is the nominal one. `scratch` is (3, dof).
    """
    seed, dq = scratch[0], scratch[1]
    for i in range(q_nominal.size):
        seed[i] = min(max(q_nominal[i] + deviation[i], chain.lower[i]), chain.upper[i])
    inverse_step(chain, seed, goal_rotation, goal_position, q_nominal, MAX_JOINT_STEP, ws, q_wanted, dq)
    for i in range(q_nominal.size):
        deviation[i] = q_wanted[i] - q_nominal[i]


@njit(cache=True)
def pose_into(R: FloatArray, p: FloatArray, pose: FloatArray) -> None:
    """`x y z [m], qx qy qz qw` with qw >= 0 of a transform into `pose` (7,)."""
    for r in range(3):
        pose[r] = p[r]
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    if trace > 0.0:
        s = 2.0 * math.sqrt(1.0 + trace)
        pose[3] = (R[2, 1] - R[1, 2]) / s
        pose[4] = (R[0, 2] - R[2, 0]) / s
        pose[5] = (R[1, 0] - R[0, 1]) / s
        pose[6] = 0.25 * s
        return
    i = 0
    for k in range(3):
        if R[k, k] > R[i, i]:
            i = k
    j, k = (i + 1) % 3, (i + 2) % 3
    s = 2.0 * math.sqrt(1.0 + R[i, i] - R[j, j] - R[k, k])
    w = (R[k, j] - R[j, k]) / s
    sign = -1.0 if w < 0.0 else 1.0
    pose[3 + i] = sign * 0.25 * s
    pose[3 + j] = sign * (R[j, i] + R[i, j]) / s
    pose[3 + k] = sign * (R[k, i] + R[i, k]) / s
    pose[6] = sign * w
