"""The planning scene of the robot in a node of the operator's side, kept in the node's own planner.

MoveIt calls this a planning-scene monitor. The scene is received on `cspace_planner/world`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from telerobot_nodes.nodes.framework import GraphNode
from telerobot_nodes.nodes.planning import scene_from_message

if TYPE_CHECKING:
    from telerobot_nodes.cspace.service import InProcessPlanner

READY_PERIOD = 0.5  # [s] between checks whether the planner has loaded


class PlanningSceneMonitor:
    """Keeps a planner in the scene in force, and calls `changed` when its answers may have changed.

    The planner is loaded with the first obstacle: without any it is not asked.
    """

    def __init__(self, planner: InProcessPlanner, changed: Callable[[], None] = lambda: None) -> None:
        self._planner, self._changed = planner, changed
        self._stamp: Any = None  # of the scene in the planner
        self._reported = True  # `changed` was called for that scene

    def attach(self, node: GraphNode) -> None:
        """Receive scenes by `node`."""
        node.subscribe("cspace_planner/world", self.receive)
        node.every(READY_PERIOD, self.tick)

    def receive(self, message: Any) -> None:
        """Take a scene (Obstacles.msg); one that was received before has no effect."""
        if self._stamp == message.stamp:  # published again, for links that lose messages
            return
        self._planner.set_scene(scene_from_message(message))
        self._stamp, self._reported = message.stamp, False
        if self._planner.scene.entries:
            self._planner.load_later()

    def tick(self) -> None:
        """Call `changed` once the planner can answer in a new scene."""
        if not self._reported and (self._planner.ready or not self._planner.scene.entries):
            self._reported = True
            self._changed()
