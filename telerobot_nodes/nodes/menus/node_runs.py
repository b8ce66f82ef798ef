"""The leaves of menus from a node of the table: primitives by its own right, macros through a client of their own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from threading import Condition
from typing import TYPE_CHECKING, Any

from telerobot_nodes import graph
from telerobot_nodes.core.protocol import identity
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.nodes.clients import Primitives, open_robot
from telerobot_nodes.nodes.menus.leaf_runs import LIMIT, ClientRun, PrimitiveRun
from telerobot_nodes.nodes.menus.motion import Motion, MotionSender
from telerobot_nodes.nodes.menus.simulated_run import SimulatedRun, Situation

if TYPE_CHECKING:
    from telerobot_nodes.menus import Leaf
    from telerobot_nodes.nodes.framework import GraphNode
    from telerobot_nodes.operator.camera import CameraFeed
    from telerobot_nodes.operator.client import OperatorClient

PRACTICE = graph.NAMESPACES["practice"]


class NodeRuns:
    """Begins the leaves of a node's own arm."""

    def __init__(self, node: GraphNode, role: str, client: OperatorClient, feed: CameraFeed) -> None:
        """`role`: of the sender, for example console. `client`, `feed`: of the arm, for where a simulation begins."""
        goals = _Goals(node)
        self._primitives = Primitives(goals, Condition(), identity(role))
        self._join = partial(open_robot, goals.namespace, role)
        self._join_practice = partial(open_robot, PRACTICE, role)
        self._robot, self._client, self._feed = node.options.robot, client, feed
        motions = MotionSender(
            node.publisher("forward_simulator/motion").publish, load_robot(node.options.robot).joint_names
        )
        self.draw, self.clear = motions.draw, motions.clear
        self.step = self._primitives.step

    def begin(self, leaf: Leaf, values: Mapping[str, Any]) -> PrimitiveRun | ClientRun:
        """Run a leaf with checked values."""
        if leaf.entry.macro:
            return ClientRun(leaf, values, self._robot, self._join)
        return PrimitiveRun(self._primitives.begin(leaf.runs, values, LIMIT))

    def practise(self, leaf: Leaf, values: Mapping[str, Any]) -> ClientRun:
        """Run a leaf with checked values on the practice robot of this host, behind its delay."""
        return ClientRun(leaf, values, self._robot, self._join_practice, Motion())

    def simulate(self, leaf: Leaf, values: Mapping[str, Any]) -> SimulatedRun:
        """Run a leaf with checked values on an arm in physics on this host, from where the real one stands."""
        round_trip = 2.0 * self._client.link.delay if self._client.received.link is not None else 0.0
        situation = Situation(self._client.robot.joint_position, round_trip, self._feed.latest_pose)
        return SimulatedRun(leaf, values, self._robot, situation)


class _Goals:
    """What `Primitives` needs of its carrier, by right of the table."""

    def __init__(self, node: GraphNode) -> None:
        self.action_client, self.client = node.action_client, node.client
        self.now, self.guarded = node.now, node.guarded
        self.namespace = str(node.get_namespace()).rstrip("/")  # of the arm; empty: root
