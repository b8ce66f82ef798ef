"""Nodes of the operator's host: queue, forward simulator, input, console."""

from __future__ import annotations

from telerobot_nodes.nodes.operator.planning_scene_monitor import PlanningSceneMonitor
from telerobot_nodes.nodes.operator.transforms import ArmTransforms

__all__ = [
    "ArmTransforms",
    "PlanningSceneMonitor",
]
