"""Scenes and problems as MoveIt has them: messages or YAML files, to scenes and requests of the planner."""

from __future__ import annotations

from telerobot_nodes.cspace.scenes.frames import Frames
from telerobot_nodes.cspace.scenes.motion_request import (
    LoadedScene,
    PlanningProblem,
    fingers_of,
    load_problem,
    load_scene,
    planning_problem,
)
from telerobot_nodes.cspace.scenes.planning_scene import allowed_contacts, scene_after
from telerobot_nodes.cspace.scenes.scene_files import MotionPlanRequest, PlanningScene, read_request, read_scene

__all__ = [
    "Frames",
    "LoadedScene",
    "MotionPlanRequest",
    "PlanningProblem",
    "PlanningScene",
    "allowed_contacts",
    "fingers_of",
    "load_problem",
    "load_scene",
    "planning_problem",
    "read_request",
    "read_scene",
    "scene_after",
]
