"""The delay study with a person at the console: the graph of each trial, page, scripted hand, order of events."""

from __future__ import annotations

from telerobot_nodes.study.run.page import Press, StudyPage
from telerobot_nodes.study.run.session import Seat, Session, StudyError, run_study
from telerobot_nodes.study.run.trial_graph import trial_graph

__all__ = [
    "Press",
    "Seat",
    "Session",
    "StudyError",
    "StudyPage",
    "run_study",
    "trial_graph",
]
