"""The compliant-motion law: the sources of motion, one file each, and their fusion [GCMSF]."""

from __future__ import annotations

from telerobot_nodes.motion.law.fusion import FusedTool, Fusion
from telerobot_nodes.motion.law.law_records import (
    GUARD_COLUMNS,
    InputJoint,
    InputSix,
    InputValue,
    Law,
    LawSix,
    Nominal,
    State,
    StateFrame,
    StateSix,
    StateValue,
    law_of,
    sensor_in_tool,
)
from telerobot_nodes.motion.law.monitors import Termination
from telerobot_nodes.motion.law.teleoperation import LAGS, release_increments
from telerobot_nodes.motion.law.tool_motion import NominalTool, ToolMotion

__all__ = [
    "GUARD_COLUMNS",
    "LAGS",
    "FusedTool",
    "Fusion",
    "InputJoint",
    "InputSix",
    "InputValue",
    "Law",
    "LawSix",
    "Nominal",
    "NominalTool",
    "State",
    "StateFrame",
    "StateSix",
    "StateValue",
    "Termination",
    "ToolMotion",
    "law_of",
    "release_increments",
    "sensor_in_tool",
]
