"""Rehearsal: the real decision unit, workers and database with simulated arms and given faults, in simulated time."""

from __future__ import annotations

from telerobot_nodes.rtc.rehearsal.cell import Cell
from telerobot_nodes.rtc.rehearsal.executor import KinematicExecutor
from telerobot_nodes.rtc.rehearsal.faults import Faults, read_faults
from telerobot_nodes.rtc.rehearsal.slide_arms import Obstacles, SlideChecks, SlideExecutive, SlideKinematics

__all__ = [
    "Cell",
    "Faults",
    "KinematicExecutor",
    "Obstacles",
    "SlideChecks",
    "SlideExecutive",
    "SlideKinematics",
    "read_faults",
]
