"""Drivers of arms as plug-ins of `hardware_interface`, of this package and of others; and a stand-in for an arm."""

from __future__ import annotations

from telerobot_nodes.nodes.drivers.plugins import DriverSetting, make_arm
from telerobot_nodes.nodes.drivers.ros2_control import Ros2ControlArm
from telerobot_nodes.nodes.drivers.stand_in import StandInServer

__all__ = ["DriverSetting", "Ros2ControlArm", "StandInServer", "make_arm"]
