"""From a request to a script: elaborator, places, binder [JPL-RTC script elaborator and binder]."""

from __future__ import annotations

from telerobot_nodes.rtc.elaboration.acceptance import elaborate
from telerobot_nodes.rtc.elaboration.binder import bind
from telerobot_nodes.rtc.elaboration.elaborator import Choice, ElaborationError, PlannedStep, Script
from telerobot_nodes.rtc.elaboration.environment import Environment, Results
from telerobot_nodes.rtc.elaboration.motion_parameters import STOPPING
from telerobot_nodes.rtc.elaboration.pace import joint_piece
from telerobot_nodes.rtc.elaboration.places import place_pose
from telerobot_nodes.rtc.elaboration.request import Request, Rule, make_request
from telerobot_nodes.rtc.elaboration.straight_pieces import joint_corners, pose_length, task_corners

__all__ = [
    "STOPPING",
    "Choice",
    "ElaborationError",
    "Environment",
    "PlannedStep",
    "Request",
    "Results",
    "Rule",
    "Script",
    "bind",
    "elaborate",
    "joint_corners",
    "joint_piece",
    "make_request",
    "place_pose",
    "pose_length",
    "task_corners",
]
