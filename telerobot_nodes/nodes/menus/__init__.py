"""Menus on the running graph, for console and panel: a leaf runs its primitive or its macro."""

from __future__ import annotations

from telerobot_nodes.nodes.menus.leaf_runs import ClientRun, LeafRun, LeafRuns, PrimitiveRun
from telerobot_nodes.nodes.menus.menu_runner import MenuRunner, MenuWidgets
from telerobot_nodes.nodes.menus.motion import Motion, MotionSender
from telerobot_nodes.nodes.menus.node_runs import PRACTICE, NodeRuns
from telerobot_nodes.nodes.menus.simulated_run import SimulatedRun, Situation

__all__ = [
    "PRACTICE",
    "ClientRun",
    "LeafRun",
    "LeafRuns",
    "MenuRunner",
    "MenuWidgets",
    "Motion",
    "MotionSender",
    "NodeRuns",
    "PrimitiveRun",
    "SimulatedRun",
    "Situation",
]
