"""An arm behind ros2_control's topics, without the transport: feeds, commands, troubles, and a stand-in for the arm."""

from __future__ import annotations

from telerobot_nodes.hardware.ros2_control.commander import Command
from telerobot_nodes.hardware.ros2_control.options import CommandMode, Ros2ControlOptions, read_options
from telerobot_nodes.hardware.ros2_control.remote_arm import RemoteArm
from telerobot_nodes.hardware.ros2_control.stand_in import (
    PERIOD,
    JointReport,
    Order,
    StandIn,
    StandInFault,
    StandInSettings,
    WrenchReport,
)
from telerobot_nodes.hardware.ros2_control.trouble import Trouble

__all__ = [
    "PERIOD",
    "Command",
    "CommandMode",
    "JointReport",
    "Order",
    "RemoteArm",
    "Ros2ControlOptions",
    "StandIn",
    "StandInFault",
    "StandInSettings",
    "Trouble",
    "WrenchReport",
    "read_options",
]
