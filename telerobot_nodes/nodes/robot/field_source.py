"""The force field as a source of motion: from the world's obstacles and the measured joints to a velocity of NOM."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import FieldSettings, ForceField, Scene, arm_geometry


class FieldSource:
    """Repulsion of one arm from the obstacles in force. One thread."""

    def __init__(self, robot: RobotModel, settings: FieldSettings) -> None:
        self._robot = robot
        self._field = ForceField([arm_geometry(robot)], [], settings)
        self.obstacles = 0
        self.twist(robot.home, pin.SE3.Identity())  # compiles

    @property
    def least(self) -> float:
        """[m] to the nearest obstacle at the last call, at most the field's influence."""
        return float(self._field.least[0])

    def set_world(self, scene: Scene) -> None:
        """Use other obstacles. Raises InvalidValueError, changing nothing."""
        self._field.set_obstacles(scene.obstacles)
        self.obstacles = len(scene.obstacles)

    def twist(self, q: FloatArray, T_nom: pin.SE3) -> FloatArray:
        """Velocity (6,) [m/s], [rad/s] of NOM, given in TN by `T_nom`, with the arm at `q` (dof,) [rad]."""
        velocity = self._field.step([q])[0]
        jacobian = pin.computeFrameJacobian(
            self._robot.model, self._robot.data, q, self._robot.tool_frame_id, pin.ReferenceFrame.LOCAL
        )
        out: FloatArray = np.array(T_nom.actInv(pin.Motion(jacobian @ velocity)).vector)
        return out
