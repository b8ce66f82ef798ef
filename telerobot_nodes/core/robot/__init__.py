"""A robot from any URDF: model, limits, kinematics, inverse kinematics, workspace."""

from __future__ import annotations

from telerobot_nodes.core.robot.arm_file import is_arm_file, load_robot
from telerobot_nodes.core.robot.arm_load import ArmLoad, JointLoad
from telerobot_nodes.core.robot.chain import (
    SIGMA_SAFE,
    Chain,
    Workspace,
    chain_of,
    forward,
    jacobian,
    log6_error,
    workspace_of,
)
from telerobot_nodes.core.robot.description import read_urdf
from telerobot_nodes.core.robot.hand_weight import HandWeight
from telerobot_nodes.core.robot.inverse import inverse_step, smallest_singular
from telerobot_nodes.core.robot.kinematics import Kinematics, Posture
from telerobot_nodes.core.robot.limits import JointLimits, SetpointLimiter, brake_velocity
from telerobot_nodes.core.robot.link_frames import LinkFrames
from telerobot_nodes.core.robot.link_shapes import LinkShape, link_shapes
from telerobot_nodes.core.robot.profiles import PROFILES, Driver, Gripper, Hand, RobotProfile
from telerobot_nodes.core.robot.reach import Reach
from telerobot_nodes.core.robot.robot import RobotModel, with_srdf
from telerobot_nodes.core.robot.srdf import EndEffector, Srdf, find_srdf, read_srdf

__all__ = [
    "PROFILES",
    "SIGMA_SAFE",
    "ArmLoad",
    "Chain",
    "Driver",
    "EndEffector",
    "Gripper",
    "Hand",
    "HandWeight",
    "JointLimits",
    "JointLoad",
    "Kinematics",
    "LinkFrames",
    "LinkShape",
    "Posture",
    "Reach",
    "RobotModel",
    "RobotProfile",
    "SetpointLimiter",
    "Srdf",
    "Workspace",
    "brake_velocity",
    "chain_of",
    "find_srdf",
    "forward",
    "inverse_step",
    "is_arm_file",
    "jacobian",
    "link_shapes",
    "load_robot",
    "log6_error",
    "read_srdf",
    "read_urdf",
    "smallest_singular",
    "with_srdf",
    "workspace_of",
]
