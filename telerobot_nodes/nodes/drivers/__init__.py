"""Drivers of arms as plug-ins of `hardware_interface`: MuJoCo, ros2_control, and those of other packages."""

from __future__ import annotations

from telerobot_nodes.nodes.drivers.plugins import DriverSetting, make_arm
from telerobot_nodes.nodes.drivers.ros2_control import Ros2ControlArm

__all__ = ["DriverSetting", "Ros2ControlArm", "make_arm"]
