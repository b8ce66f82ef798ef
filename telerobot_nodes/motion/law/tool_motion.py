"""Interface between a plan's nominal joints and the wanted joints, where sensor motion enters [GCMSF]."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numba import njit

from telerobot_nodes.core.robot import Chain, RobotModel, Workspace, chain_of, forward, workspace_of
from telerobot_nodes.core.transforms import pose_into
from telerobot_nodes.core.values import FloatArray


class ToolMotion(Protocol):
    """Maps the nominal joints of a plan to wanted joints, once per control period."""

    pose: FloatArray  # (7,) x y z [m], qx qy qz qw of the tool wanted, WORLD
    monitor: int  # Termination that asks for a stop since the reset; 0: none

    def measure(self, q: FloatArray) -> None:
        """Set the measured joints (dof,) [rad], finite."""

    def set_wrench(self, at: float, wrench: FloatArray) -> None:
        """Set the wrench (6,) [N], [N m] of the tool on the environment, SENSOR, received at `at` [s]."""

    def add_displacement(self, displacement: FloatArray) -> None:
        """Add a displacement of NOM (6,) [m], [rad] by another module to the next sample; finite."""

    def tare(self) -> None:
        """Take the latest wrench as no contact."""

    def reset(self, q: FloatArray) -> None:
        """Start at rest at `q` (dof,) [rad], without deviation from the nominal motion."""

    def step(self, now: float, q_nominal: FloatArray, q_wanted: FloatArray, frozen: bool) -> None:
        """Write the wanted joints of `now` [s] into `q_wanted` (dof,) [rad].

        `frozen`: the arm is being stopped; the sensor motion so far stays and none is added.
        """


class NominalTool:
    """A ToolMotion without sensors: the nominal joints inside their limits, and the tool pose by forward kinematics."""

    monitor = 0

    def __init__(self, robot: RobotModel) -> None:
        self.pose = np.zeros(7)
        self._chain = chain_of(robot.model, robot.tool_frame_id)
        self._ws = workspace_of(robot.dof)
        self._q = np.zeros(robot.dof)

    def measure(self, q: FloatArray) -> None:
        """Do nothing."""

    def set_wrench(self, at: float, wrench: FloatArray) -> None:
        """Do nothing."""

    def add_displacement(self, displacement: FloatArray) -> None:
        """Do nothing."""

    def tare(self) -> None:
        """Do nothing."""

    def reset(self, q: FloatArray) -> None:
        """Compute the tool pose at `q` (dof,) [rad]."""
        _nominal_step(self._chain, self._ws, q, self._q, self.pose)

    def step(self, now: float, q_nominal: FloatArray, q_wanted: FloatArray, frozen: bool) -> None:
        """Copy the nominal joints, inside their limits, into `q_wanted` (dof,) [rad]."""
        _nominal_step(self._chain, self._ws, q_nominal, q_wanted, self.pose)


@njit(cache=True)
def _nominal_step(chain: Chain, ws: Workspace, q_nominal: FloatArray, q_wanted: FloatArray, pose: FloatArray) -> None:
    for i in range(q_nominal.size):
        q_wanted[i] = min(max(q_nominal[i], chain.lower[i]), chain.upper[i])
    forward(chain, q_nominal, ws)
    pose_into(ws.rotation, ws.position, pose)
