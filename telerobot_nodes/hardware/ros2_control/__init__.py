"""An arm behind ros2_control's topics, without the transport: feeds, commands, troubles."""

from __future__ import annotations

from telerobot_nodes.hardware.ros2_control.commander import Command
from telerobot_nodes.hardware.ros2_control.options import CommandMode, Ros2ControlOptions, read_options
from telerobot_nodes.hardware.ros2_control.remote_arm import RemoteArm
from telerobot_nodes.hardware.ros2_control.trouble import Trouble

__all__ = ["Command", "CommandMode", "RemoteArm", "Ros2ControlOptions", "Trouble", "read_options"]
