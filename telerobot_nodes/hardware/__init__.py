"""Hardware interface of one arm, simulated in MuJoCo or real: joint servo, watchdog, e-stop."""

from __future__ import annotations

from telerobot_nodes.hardware.arm import Hardware, HardwareStatus
from telerobot_nodes.hardware.fixtures import Coupling, Fixture, furnish
from telerobot_nodes.hardware.interface import ArmHardware, Measured, SeesLoose, SeesScene, ServoReference
from telerobot_nodes.hardware.kept_pose import ArmPose, KeptPose
from telerobot_nodes.hardware.mujoco_arm import MujocoArm
from telerobot_nodes.hardware.realism import Realism
from telerobot_nodes.hardware.reference import Reference
from telerobot_nodes.hardware.scene import ARM, ARM_BITS, SCENE_BITS, build_scene
from telerobot_nodes.hardware.servo import JointServo
from telerobot_nodes.hardware.setpoint import Setpoint

__all__ = [
    "ARM",
    "ARM_BITS",
    "SCENE_BITS",
    "ArmHardware",
    "ArmPose",
    "Coupling",
    "Fixture",
    "Hardware",
    "HardwareStatus",
    "JointServo",
    "KeptPose",
    "Measured",
    "MujocoArm",
    "Realism",
    "Reference",
    "SeesLoose",
    "SeesScene",
    "ServoReference",
    "Setpoint",
    "build_scene",
    "furnish",
]
