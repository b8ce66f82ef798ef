"""The force field as a source of motion: from obstacles, other arms and measured joints to a velocity of NOM.

[US5347459]: the field pushes arms apart, and away from obstacles, by their predicted configurations. What tools hold
belongs to the arms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import (
    ArmGeometry,
    ArmPredictor,
    Attachment,
    FieldSettings,
    ForceField,
    Scene,
    arm_geometry,
)
from telerobot_nodes.nodes.planning import joints_from_message

HORIZON = 0.02  # [s] from the measurement of joints until a push moves the arm
STALE = 0.5  # [s] joints of another arm that are older are reported, and count as at rest
OWN = ""  # name of the arm that is pushed


@dataclass
class _Arm:
    """One arm as the field knows it."""

    robot: RobotModel
    geometry: ArmGeometry
    predictor: ArmPredictor
    q: FloatArray = field(default_factory=lambda: np.empty(0))  # (dof,) [rad] as measured; empty: never heard of
    v: FloatArray = field(default_factory=lambda: np.empty(0))  # [rad/s]
    at: float = -np.inf  # [s] when they were received

    def predicted(self, now: float) -> FloatArray:
        """(dof,) [rad] in a moment."""
        speed = self.v if now - self.at <= STALE else np.zeros_like(self.v)
        return self.predictor.predict(self.q, speed, None, HORIZON)


class FieldSource:
    """Repulsion of one arm from the obstacles in force and from other arms. One thread, but for `with_held`.

    `robot`: not used elsewhere. `others`: arms by name, their bases in the WORLD of this one. An arm pushes once its
    joints are known; it goes on from where it was when they come no more.
    """

    def __init__(
        self, robot: RobotModel, settings: FieldSettings, others: Mapping[str, RobotModel] | None = None
    ) -> None:
        self._settings, self._data = settings, robot.new_data()
        self._arms = {name: _arm_of(one) for name, one in {OWN: robot, **(others or {})}.items()}
        self._own = self._arms[OWN]
        self._scene = Scene()
        compiled = ForceField([arm.geometry for arm in self._arms.values()], (), settings)
        compiled.step([arm.robot.home for arm in self._arms.values()])  # now, and not in the first motion
        self._build()

    @property
    def active(self) -> bool:
        """True when there is anything that can push."""
        return bool(self.obstacles or len(self._field.arms) > 1)

    @property
    def obstacles(self) -> int:
        """Number of solids around the arm."""
        return len(self._scene.obstacles)

    @property
    def least(self) -> float:
        """[m] to the nearest obstacle or other arm at the last call, at most the field's influence."""
        return float(self._field.least[0])

    def unknown(self, now: float) -> list[str]:
        """Names of the other arms of which no joints were received for STALE [s]."""
        return [name for name, arm in self._arms.items() if name != OWN and now - arm.at > STALE]

    def with_held(self, name: str, held: Sequence[Attachment]) -> ArmGeometry:
        """An arm, OWN too, with what its tool holds. Takes up to seconds; for one other thread.

        Raises InvalidValueError.
        """
        arm = self._arms[name]
        geometry = arm.geometry
        return geometry if tuple(held) == geometry.attachments else arm_geometry(arm.robot, held)

    def set_world(self, scene: Scene, own: ArmGeometry) -> None:
        """Use other obstacles, and the arm with what it holds. Raises InvalidValueError, changing nothing."""
        if scene != self._scene:
            self._field.set_obstacles(scene.obstacles)
            self._scene = scene
        self.set_arm(OWN, own)

    def set_arm(self, name: str, geometry: ArmGeometry) -> None:
        """Use an arm with what it holds."""
        arm = self._arms[name]
        if geometry is not arm.geometry:
            arm.geometry = geometry
            self._build()

    def receive_joints(self, name: str, message: Any, now: float) -> None:
        """Take measured joints (JointState) of another arm. Raises InvalidValueError when one is missing."""
        arm = self._arms[name]
        q = joints_from_message(message, arm.robot)
        first = not arm.q.size
        arm.q, arm.v, arm.at = q, _velocity(message, arm.robot), now
        if first:
            self._build()

    def twist(self, now: float, q: FloatArray, v: FloatArray, T_nom: pin.SE3) -> FloatArray:
        """Velocity (6,) [m/s], [rad/s] of NOM, given in TN by `T_nom`; joints `q` (dof,) [rad] and `v` [rad/s]."""
        self._own.q, self._own.v, self._own.at = q, v, now
        velocity = self._field.step([arm.predicted(now) for arm in self._known()])[0]
        robot = self._own.robot
        jacobian = pin.computeFrameJacobian(robot.model, self._data, q, robot.tool_frame_id, pin.ReferenceFrame.LOCAL)
        out: FloatArray = np.array(T_nom.actInv(pin.Motion(jacobian @ velocity)).vector)
        return out

    def _known(self) -> list[_Arm]:
        return [arm for name, arm in self._arms.items() if name == OWN or arm.q.size]

    def _build(self) -> None:
        geometries = [arm.geometry for arm in self._known()]
        self._field = ForceField(geometries, self._scene.obstacles, self._settings)


def _arm_of(robot: RobotModel) -> _Arm:
    return _Arm(robot, arm_geometry(robot), ArmPredictor(robot))


def _velocity(message: Any, robot: RobotModel) -> FloatArray:
    """(dof,) [rad/s] of a JointState that may have none, or one that is no number."""
    speeds = dict(zip(message.name, message.velocity, strict=False))
    v = np.array([speeds.get(name, 0.0) for name in robot.joint_names])
    return np.clip(np.nan_to_num(v, posinf=0.0, neginf=0.0), -robot.limits.velocity, robot.limits.velocity)
