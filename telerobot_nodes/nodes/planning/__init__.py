"""The planner's node, its worker process, and the messages of planning and scenes."""

from __future__ import annotations

from telerobot_nodes.nodes.planning.arm_names import arm_name, attachments_of
from telerobot_nodes.nodes.planning.convert_planning import check_path_message, joints_from_message, scene_from_message
from telerobot_nodes.nodes.planning.moveit_plugin import moveit_plugins
from telerobot_nodes.nodes.planning.planner_markers import path_markers, scene_markers

__all__ = [
    "arm_name",
    "attachments_of",
    "check_path_message",
    "joints_from_message",
    "moveit_plugins",
    "path_markers",
    "scene_from_message",
    "scene_markers",
]
