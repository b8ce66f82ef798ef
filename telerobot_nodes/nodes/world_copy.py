"""The robot's world in a node of the operator's side: heard, kept in an own copy of the planner."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from telerobot_nodes.nodes.base import GraphNode
from telerobot_nodes.nodes.convert_planning import scene_from_message

if TYPE_CHECKING:
    from telerobot_nodes.cspace.planner_copy import PlannerCopy

READY_PERIOD = 0.5  # [s] until a change heard while the planner loaded is told


def arm_name(node: GraphNode) -> str:
    """What `cspace_planner` calls the arm of this node's namespace."""
    return str(node.get_namespace()).strip("/").replace("/", "_") or "arm"


def hear_world(node: GraphNode, planner: PlannerCopy, changed: Callable[[], None] = lambda: None) -> None:
    """Keep `planner` in the world in force; `changed` is called when answers may have changed.

    The planner is loaded with the first obstacle: without any it is not asked.
    """
    last: list[Any] = [None]  # stamp of the world taken
    told: list[bool] = [True]

    def take(message: Any) -> None:
        if last[0] == message.stamp:  # said again, for links that lose
            return
        planner.set_scene(scene_from_message(message))
        last[0], told[0] = message.stamp, False
        if planner.scene.entries:
            planner.load_later()

    def tell() -> None:
        if not told[0] and (planner.ready or not planner.scene.entries):
            told[0] = True
            changed()

    node.subscribe("cspace_planner/world", take)
    node.every(READY_PERIOD, tell)
