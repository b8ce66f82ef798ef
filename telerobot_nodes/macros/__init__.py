"""Macros: named sequences of primitives, texts and macros, with parameters and accepted results [US5231693]."""

from __future__ import annotations

from telerobot_nodes.macros.binding import BoundStep, steps_of
from telerobot_nodes.macros.bound_values import Context
from telerobot_nodes.macros.check import check_macro, check_whole, motion_of
from telerobot_nodes.macros.follow import Gap, MotionFollower
from telerobot_nodes.macros.from_text import from_text
from telerobot_nodes.macros.learn import learn
from telerobot_nodes.macros.macro import Macro, MacroParameter, MacroStep
from telerobot_nodes.macros.macro_files import OWN, MacroFolder, NoMacroError, check_name, read_macros
from telerobot_nodes.macros.merge import check_text, merged, replace_macro, require_fit
from telerobot_nodes.macros.offline import OfflineRobot
from telerobot_nodes.macros.play import Ended, MacroEnd, StepEnd, Stops, play, play_parts, stops_of
from telerobot_nodes.macros.recorded_run import RecordedRun
from telerobot_nodes.macros.run_records import (
    NotTestedError,
    Place,
    RunRecord,
    add_record,
    records_of,
    require_test,
)
from telerobot_nodes.macros.track import HARDWARE, JOINTS, WRENCH, Track, force_of, joints_of, read_track

__all__ = [
    "HARDWARE",
    "JOINTS",
    "OWN",
    "WRENCH",
    "BoundStep",
    "Context",
    "Ended",
    "Gap",
    "Macro",
    "MacroEnd",
    "MacroFolder",
    "MacroParameter",
    "MacroStep",
    "MotionFollower",
    "NoMacroError",
    "NotTestedError",
    "OfflineRobot",
    "Place",
    "RecordedRun",
    "RunRecord",
    "StepEnd",
    "Stops",
    "Track",
    "add_record",
    "check_macro",
    "check_name",
    "check_text",
    "check_whole",
    "force_of",
    "from_text",
    "joints_of",
    "learn",
    "merged",
    "motion_of",
    "play",
    "play_parts",
    "read_macros",
    "read_track",
    "records_of",
    "replace_macro",
    "require_fit",
    "require_test",
    "steps_of",
    "stops_of",
]
