"""The browser console: 3-D scene, panel, keys [US5231693]."""

from __future__ import annotations

from telerobot_nodes.operator.console import palette
from telerobot_nodes.operator.console.arm_geometry import Detail, Shape, load_shapes
from telerobot_nodes.operator.console.command_line import CommandLine
from telerobot_nodes.operator.console.console import STEP_PERIOD, Console, ConsoleSetup
from telerobot_nodes.operator.console.inbox import Inbox, Refused
from telerobot_nodes.operator.console.menu_view import MenuView, RunLeaf, StopLeaf
from telerobot_nodes.operator.console.panel import Followed
from telerobot_nodes.operator.console.scene_geometry import surroundings
from telerobot_nodes.operator.console.script_rows import script_rows, waits
from telerobot_nodes.operator.console.stage import StageShapes

__all__ = [
    "STEP_PERIOD",
    "CommandLine",
    "Console",
    "ConsoleSetup",
    "Detail",
    "Followed",
    "Inbox",
    "MenuView",
    "Refused",
    "RunLeaf",
    "Shape",
    "StageShapes",
    "StopLeaf",
    "load_shapes",
    "palette",
    "script_rows",
    "surroundings",
    "waits",
]
