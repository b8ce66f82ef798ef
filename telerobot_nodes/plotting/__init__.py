"""Pictures as PNG files: recorded runs, planned paths, tasks, measurements."""

from __future__ import annotations

from telerobot_nodes.plotting.contact import draw_pin, draw_reflect, draw_touch
from telerobot_nodes.plotting.delay_study import draw_delay_study
from telerobot_nodes.plotting.law_frames import draw_ring
from telerobot_nodes.plotting.planned_path import draw_planned_path
from telerobot_nodes.plotting.planner_search import draw_growth, draw_proof
from telerobot_nodes.plotting.run_events import draw_events
from telerobot_nodes.plotting.run_summary import draw_run
from telerobot_nodes.plotting.run_timeline import draw_timeline
from telerobot_nodes.plotting.task_run import draw_task
from telerobot_nodes.plotting.two_arms import CrossingTrace, draw_crossing

__all__ = [
    "CrossingTrace",
    "draw_crossing",
    "draw_delay_study",
    "draw_events",
    "draw_growth",
    "draw_pin",
    "draw_planned_path",
    "draw_proof",
    "draw_reflect",
    "draw_ring",
    "draw_run",
    "draw_task",
    "draw_timeline",
    "draw_touch",
]
