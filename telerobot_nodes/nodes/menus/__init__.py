"""Menus on the running graph, for console and panel: a leaf runs its primitive or its macro."""

from __future__ import annotations

from telerobot_nodes.nodes.menus.leaf_runs import LeafRun, LeafRuns, MacroRun, PrimitiveRun
from telerobot_nodes.nodes.menus.menu_runner import MenuRunner, MenuWidgets
from telerobot_nodes.nodes.menus.node_runs import NodeRuns
from telerobot_nodes.nodes.menus.simulated_run import SimulatedRun, Situation

__all__ = [
    "LeafRun",
    "LeafRuns",
    "MacroRun",
    "MenuRunner",
    "MenuWidgets",
    "NodeRuns",
    "PrimitiveRun",
    "SimulatedRun",
    "Situation",
]
