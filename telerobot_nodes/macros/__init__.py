"""Macros: named sequences of primitives, texts and macros, with parameters and accepted results [US5231693]."""

from __future__ import annotations

from telerobot_nodes.macros.binding import BoundStep, steps_of
from telerobot_nodes.macros.bound_values import Context
from telerobot_nodes.macros.check import check_macro, check_whole, motion_of
from telerobot_nodes.macros.learn import learn
from telerobot_nodes.macros.macro import Macro, MacroParameter, MacroStep
from telerobot_nodes.macros.macro_files import OWN, MacroFolder, NoMacroError, read_macros
from telerobot_nodes.macros.offline import OfflineRobot
from telerobot_nodes.macros.play import Ended, MacroEnd, StepEnd, play
from telerobot_nodes.macros.recorded_run import RecordedRun
from telerobot_nodes.macros.run_records import (
    NotTestedError,
    Place,
    RunRecord,
    add_record,
    records_of,
    require_test,
)
from telerobot_nodes.macros.track import Track, read_track

__all__ = [
    "OWN",
    "BoundStep",
    "Context",
    "Ended",
    "Macro",
    "MacroEnd",
    "MacroFolder",
    "MacroParameter",
    "MacroStep",
    "NoMacroError",
    "NotTestedError",
    "OfflineRobot",
    "Place",
    "RecordedRun",
    "RunRecord",
    "StepEnd",
    "Track",
    "add_record",
    "check_macro",
    "check_whole",
    "learn",
    "motion_of",
    "play",
    "read_macros",
    "read_track",
    "records_of",
    "require_test",
    "steps_of",
]
