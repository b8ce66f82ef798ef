"""Sub-commands of `telerobot macro`: list, show, check, test, run, runs, learn."""

from __future__ import annotations

from telerobot_nodes.cli.macro.running import run as run_macro
from telerobot_nodes.cli.macro.words import RobotName, model_of

__all__ = ["RobotName", "model_of", "run_macro"]
