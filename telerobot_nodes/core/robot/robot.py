"""The robot model: an arm from any URDF as Pinocchio model, with limits, tool frame, home and workspace.

Rules for a URDF without a profile: tool frame `tool`, `tool0` or `tcp`, else the last link of the longest chain;
acceleration limits 5 /s times the velocity limit (the velocity limit is reached in 0.2 s); home halfway between
the position limits, zero where zero lies well inside; rotor inertias 0.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.robot import description
from telerobot_nodes.core.robot.limits import JointLimits
from telerobot_nodes.core.robot.profiles import Driver, Gripper, Hand, RobotProfile
from telerobot_nodes.core.robot.srdf import Srdf, find_srdf, read_srdf
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import ModelError

ACCELERATION_RATIO = 5.0  # [1/s] acceleration limit per velocity limit where nothing is published


@dataclass(frozen=True)
class Box:
    """An axis-parallel box in WORLD."""

    center: FloatArray  # (3,) [m]
    size: FloatArray  # (3,) [m]

    def contains(self, point: FloatArray) -> bool:
        """True when `point` (3,) [m] lies inside or on the box."""
        return bool(np.all(np.abs(point - self.center) <= 0.5 * self.size))


@dataclass(frozen=True)
class RobotModel:
    """One arm, base to tool. `forward` and `jacobian` use `data`, so they belong to one thread."""

    name: str
    urdf_path: Path
    model: pin.Model
    joint_names: tuple[str, ...]
    limits: JointLimits
    tool_frame: str
    tool_frame_id: int
    home: FloatArray  # (dof,) [rad] read-only
    T_world_base: pin.SE3
    urdf: str  # checked XML text the model was made from
    gripper: Gripper | None = None
    sensor_frame: str = ""  # body carrying the wrist force-torque sensor; empty: the tool frame
    wrist_sensor: bool = True  # whether there is one
    workspace_size: tuple[float, float, float] = (0.3, 0.3, 0.3)
    hand: Hand | None = None  # what hangs on the wrist sensor
    driver: Driver = Driver()  # noqa: RUF009 -- frozen
    srdf: Srdf | None = None
    continuous: frozenset[str] = frozenset()  # joints without end stops: q and q + 2 pi are one place
    data: pin.Data = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", self.model.createData())

    @property
    def dof(self) -> int:
        """Number of arm joints."""
        return int(self.model.nv)

    @property
    def simulated(self) -> RobotModel:
        """The same arm in physics, whatever its driver."""
        return replace(self, driver=Driver())

    @property
    def workspace(self) -> Box:
        """Box around home's tool position in which every point is reached with home's orientation."""
        return Box(self.forward(self.home).translation.copy(), np.array(self.workspace_size))

    def forward(self, q: FloatArray) -> pin.SE3:
        """T_world_tool at `q` (dof,) [rad]."""
        pin.forwardKinematics(self.model, self.data, q)
        return pin.updateFramePlacement(self.model, self.data, self.tool_frame_id).copy()

    def jacobian(self, q: FloatArray) -> FloatArray:
        """Jacobian (6, dof), linear then angular velocity of the tool in the tool frame."""
        return pin.computeFrameJacobian(self.model, self.data, q, self.tool_frame_id, pin.LOCAL)

    def new_data(self) -> pin.Data:
        """Fresh Pinocchio data for another thread."""
        return self.model.createData()


def load_urdf(
    name_or_path: str = "arm", tool_frame: str | None = None, T_world_base: pin.SE3 | None = None
) -> RobotModel:
    """The robot of a known name (`arm`, `panda`, `ur5`) or URDF file, with the SRDF beside it; raises ModelError."""
    path, profile = description.locate(name_or_path)
    xml = description.read_urdf(path)
    tool = tool_frame or (profile.tool_frame if profile else description.default_tool_frame(path, xml))
    model = description.build_arm(path, xml, tool)
    if T_world_base is not None:
        description.place_base(model, T_world_base)
    if profile is not None:
        model.armature = np.array(profile.armature)
    home = _home(model, profile)
    return RobotModel(
        name=name_or_path if profile else path.stem,
        urdf_path=path,
        model=model,
        joint_names=tuple(model.names[1:]),
        limits=_limits(path, model, profile),
        tool_frame=tool,
        tool_frame_id=model.getFrameId(tool),
        home=home,
        T_world_base=T_world_base or pin.SE3.Identity(),
        urdf=ET.tostring(xml, encoding="unicode"),
        gripper=profile.gripper if profile else None,
        sensor_frame=profile.sensor_frame if profile else "",
        workspace_size=profile.workspace_size if profile else (0.3, 0.3, 0.3),
        srdf=find_srdf(path),
        continuous=description.continuous_joints(path) & frozenset(model.names[1:]),
    )


def with_srdf(robot: RobotModel, path: Path) -> RobotModel:
    """The robot with another SRDF; raises ModelError when it does not fit the URDF."""
    return replace(robot, srdf=read_srdf(path, ET.fromstring(robot.urdf)))


def _limits(path: Path, model: pin.Model, profile: RobotProfile | None) -> JointLimits:
    velocity = np.array(model.velocityLimit)
    acceleration = np.array(profile.acceleration) if profile else ACCELERATION_RATIO * velocity
    if acceleration.size != model.nv:
        raise ModelError(f"{path}: {model.nv} joints, but accelerations for {acceleration.size}")
    return JointLimits(
        model.lowerPositionLimit, model.upperPositionLimit, velocity, acceleration, np.array(model.effortLimit)
    )


def _home(model: pin.Model, profile: RobotProfile | None) -> FloatArray:
    low, high = np.array(model.lowerPositionLimit), np.array(model.upperPositionLimit)
    middle = 0.5 * (low + high)
    margin = 0.2 * (high - low)
    home = np.where((low + margin < 0.0) & (high - margin > 0.0), 0.0, middle)
    home = np.array(profile.home) if profile else home
    home.setflags(write=False)
    return home
