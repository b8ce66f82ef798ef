"""What URDF cannot express about the robots known by name: accelerations, home, rotor inertias, gripper, workspace.

A robot given by a URDF path has no profile; `core/robot/robot.py` states the rules used instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Gripper:
    """A parallel gripper; its joints move together, each by half the opening."""

    joints: tuple[str, ...]  # of the URDF; empty: it has none
    max_opening: float  # [m]


@dataclass(frozen=True)
class Hand:
    """What hangs on the wrist sensor at all times."""

    mass: float  # [kg]
    center: tuple[float, float, float]  # [m] of mass, in SENSOR


@dataclass(frozen=True)
class Driver:
    """The driver of an arm by name, with the driver's own options as an arm file gives them."""

    name: str = "mujoco"
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def feels(self) -> bool:
        """Whether the arm has a wrist sensor, as far as the options tell: behind `ros2_control` it needs a topic."""
        return self.name != "ros2_control" or self.options.get("wrench") is not None


@dataclass(frozen=True)
class RobotProfile:
    """One known robot. `urdf` is relative to the package's share folder or, with `example`, to the wheel's."""

    urdf: str
    tool_frame: str
    home: tuple[float, ...]  # [rad]
    acceleration: tuple[float, ...]  # [rad/s^2]
    armature: tuple[float, ...]  # [kg m^2] rotor inertia seen at the joint
    example: bool = False
    sensor_frame: str = ""  # body whose frame the wrist force-torque sensor measures in; empty: tool frame's body
    gripper: Gripper | None = None
    workspace_size: tuple[float, float, float] = (0.3, 0.3, 0.3)  # [m] box around home's tool position


PROFILES: dict[str, RobotProfile] = {
    # accelerations: below what the published torques give at full reach; armature: rotor inertia times ratio^2
    "arm": RobotProfile(
        urdf="urdf/telerobot_arm.urdf",
        tool_frame="tool",
        sensor_frame="ft_sensor",
        home=(0.276321116925, 1.070453526438, -3.324727797076, 0.0, -0.887318382952, 0.276321116925),
        acceleration=(8.0, 6.0, 12.0, 20.0, 20.0, 25.0),
        armature=(0.784, 2.325, 0.577, 0.191, 0.171, 0.194),
        gripper=Gripper(("left_finger_joint", "right_finger_joint"), 0.08),
        workspace_size=(0.38, 0.6, 0.35),
    ),
    # accelerations: published by the maker (FCI documentation); armature: identified values of the order of 0.1 .. 0.6
    "panda": RobotProfile(
        urdf="panda_description/urdf/panda_collision.urdf",
        example=True,
        tool_frame="panda_hand_tcp",
        sensor_frame="panda_hand",
        home=(0.0, -0.7853981633974483, 0.0, -2.356194490192345, 0.0, 1.5707963267948966, 0.7853981633974483),
        acceleration=(15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0),
        armature=(0.3, 0.3, 0.3, 0.3, 0.1, 0.1, 0.1),
        gripper=Gripper(("panda_finger_joint1", "panda_finger_joint2"), 0.08),
        workspace_size=(0.3, 0.4, 0.3),
    ),
    # no published limit per joint: values its published torques and payload allow with room to spare
    "ur5": RobotProfile(
        urdf="ur_description/urdf/ur5_joint_limited_robot.urdf",
        example=True,
        tool_frame="tool0",
        sensor_frame="wrist_3_link",
        home=(0.0, -1.3, 1.9, -2.1707963267948966, -1.5707963267948966, 0.0),
        acceleration=(8.0, 8.0, 8.0, 12.0, 12.0, 12.0),
        armature=(0.3, 0.3, 0.3, 0.1, 0.1, 0.1),
        workspace_size=(0.4, 0.5, 0.3),
    ),
}
