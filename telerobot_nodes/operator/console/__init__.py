"""The browser console: scene, panel, keys, menus, command line [US5231693]."""

from __future__ import annotations

from telerobot_nodes.operator.console.arms import OtherArm
from telerobot_nodes.operator.console.command_line import CommandLine
from telerobot_nodes.operator.console.console import STEP_PERIOD, Console, ConsoleSetup
from telerobot_nodes.operator.console.goal import Goal
from telerobot_nodes.operator.console.inbox import Inbox, Refused
from telerobot_nodes.operator.console.menu_view import MenuView
from telerobot_nodes.operator.console.panel import Followed
from telerobot_nodes.operator.console.script_rows import script_rows, waits

__all__ = [
    "STEP_PERIOD",
    "CommandLine",
    "Console",
    "ConsoleSetup",
    "Followed",
    "Goal",
    "Inbox",
    "MenuView",
    "OtherArm",
    "Refused",
    "script_rows",
    "waits",
]
