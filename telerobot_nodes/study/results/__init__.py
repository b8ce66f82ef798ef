"""Results of a delay study: intervals, tables and picture; of one with people also its folder and its summary."""

from __future__ import annotations

from telerobot_nodes.study.results.intervals import Interval, mean_interval, ratio_interval
from telerobot_nodes.study.results.study_folder import StudyFolder, person_name, settings_of
from telerobot_nodes.study.results.summary import summarize, write_summary
from telerobot_nodes.study.results.tables import Cell, Times, draw, text, time_rows
from telerobot_nodes.study.results.trial_result import TrialResult, result_from_line

__all__ = [
    "Cell",
    "Interval",
    "StudyFolder",
    "Times",
    "TrialResult",
    "draw",
    "mean_interval",
    "person_name",
    "ratio_interval",
    "result_from_line",
    "settings_of",
    "summarize",
    "text",
    "time_rows",
    "write_summary",
]
