"""Scenes and problems as MoveIt has them: messages or YAML files, to scenes and requests of the planner."""

from __future__ import annotations

from telerobot_nodes.cspace.scenes.cloud import NAME as CLOUD
from telerobot_nodes.cspace.scenes.cloud import CloudSettings, CloudVoxels, cloud_voxels
from telerobot_nodes.cspace.scenes.cloud_frames import add_frames, frame_rows
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
from telerobot_nodes.cspace.scenes.point_cloud import points_of
from telerobot_nodes.cspace.scenes.robot_points import RobotPoints
from telerobot_nodes.cspace.scenes.scene_files import MotionPlanRequest, PlanningScene, read_request, read_scene

__all__ = [
    "CLOUD",
    "CloudSettings",
    "CloudVoxels",
    "Frames",
    "LoadedScene",
    "MotionPlanRequest",
    "PlanningProblem",
    "PlanningScene",
    "RobotPoints",
    "add_frames",
    "allowed_contacts",
    "cloud_voxels",
    "fingers_of",
    "frame_rows",
    "load_problem",
    "load_scene",
    "planning_problem",
    "points_of",
    "read_request",
    "read_scene",
    "scene_after",
]
