"""Another arm's graph, seen from a node of the table: its states and plans are received, halts and e-stops sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from telerobot_nodes.nodes.clients.operator_client import StopPort, connect

if TYPE_CHECKING:
    from telerobot_nodes.nodes.framework import GraphNode
    from telerobot_nodes.operator.client import OperatorClient


class OtherArmWiring:
    """Wiring of `node` in another namespace, by the same rights and on the same side of the link as its own."""

    def __init__(self, node: GraphNode, namespace: str) -> None:
        """`namespace` without slashes at its ends; empty: root."""
        self._node, self._namespace = node, namespace
        self.client, self.now, self.stamp = node.client, node.now, node.stamp

    def publisher(self, name: str) -> Any:
        """Publisher of a topic of the table."""
        return self._node.publisher(name, self._beside(name))

    def subscribe(self, name: str, callback: Callable[[Any], None]) -> Any:
        """Subscription to a topic of the table."""
        return self._node.subscribe(name, callback, self._beside(name))

    def _beside(self, name: str) -> str:
        resolved = self._node.resolve_topic_name(name)
        return namespace_beside(self._node.get_namespace(), resolved, name, self._namespace)


def namespace_beside(own: str, resolved: str, name: str, other: str) -> str:
    """Namespace of the topic `name` of another arm's graph, without slashes at its ends.

    `resolved`: the same topic of the node's own arm, in the namespace `own`. What a remapping put between the two, the
    operator's side of an emulated link, is put into the namespace `other` as well.
    """
    own = f"{own.rstrip('/')}/"
    between = resolved.removeprefix(own).removesuffix(name) if resolved.startswith(own) else ""
    return f"{other}/{between}".strip("/")


def other_arm(node: GraphNode, namespace: str, agent: str) -> OperatorClient:
    """A client that sees and stops the arm of another namespace; `agent`: who stops it."""
    wiring = OtherArmWiring(node, namespace)
    return connect(wiring, StopPort(wiring, "", agent))
