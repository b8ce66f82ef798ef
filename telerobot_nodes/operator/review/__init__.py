"""Review of a recorded run: path error, limits, control timeline and report."""

from __future__ import annotations

from telerobot_nodes.operator.review.command_log import as_text, command_log
from telerobot_nodes.operator.review.control_timeline import holders, requests, spans, trial_paths
from telerobot_nodes.operator.review.foxglove import write_foxglove
from telerobot_nodes.operator.review.history import laid_over_time
from telerobot_nodes.operator.review.page import html_page
from telerobot_nodes.operator.review.report import review_bag, summary_lines
from telerobot_nodes.operator.review.review import Review, RunSummary
from telerobot_nodes.operator.review.run_reader import arm_prefix, read_events, robot_of
from telerobot_nodes.operator.review.run_record import Ended, Event, EventKind, Rows, RunRecord
from telerobot_nodes.operator.review.sides import Side, read_sides
from telerobot_nodes.operator.review.tables import write_tables

__all__ = [
    "Ended",
    "Event",
    "EventKind",
    "Review",
    "Rows",
    "RunRecord",
    "RunSummary",
    "Side",
    "arm_prefix",
    "as_text",
    "command_log",
    "holders",
    "html_page",
    "laid_over_time",
    "read_events",
    "read_sides",
    "requests",
    "review_bag",
    "robot_of",
    "spans",
    "summary_lines",
    "trial_paths",
    "write_foxglove",
    "write_tables",
]
