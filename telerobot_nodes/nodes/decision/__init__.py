"""The decision unit's node, and its requests to the other nodes."""

from __future__ import annotations

from telerobot_nodes.nodes.decision.contact_limits import ContactLimits
from telerobot_nodes.nodes.decision.executive_check import ExecutiveChecks
from telerobot_nodes.nodes.decision.executive_goals import goals_of, report_of
from telerobot_nodes.nodes.decision.rtc_messages import ended_message, progress_message, reply_message, task_message

__all__ = [
    "ContactLimits",
    "ExecutiveChecks",
    "ended_message",
    "goals_of",
    "progress_message",
    "reply_message",
    "report_of",
    "task_message",
]
