"""A rclpy node with the names, types and QoS of the graph table; it may use every row."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient

from telerobot_nodes import graph
from telerobot_nodes.nodes.framework.interfaces import interface_class, qos_profile


class NodeWiring:
    """Publishers, subscriptions and clients on `node`, which another program may own.

    Topics, services and actions between operator and robot have `prefix` before their names: with a link, that of the
    operator's side. `base`: namespace before every name, with a slash at its end; empty: that of the node.
    """

    def __init__(self, node: Any, base: str = "") -> None:
        self.node = node
        self.base = base
        self.prefix = ""
        self._made: list[tuple[Callable[[Any], Any], Any]] = []  # how each entity is destroyed, and the entity

    @property
    def namespace(self) -> str:
        """Namespace of the arm, without a slash at its end; empty: root."""
        return (self.base or str(self.node.get_namespace())).rstrip("/")

    def topic_name(self, name: str) -> str:
        """Name of a topic of the table as this node uses it."""
        entry = graph.topic(name)
        if name == "diagnostics":
            return "/diagnostics"
        return self._on_operators_side(name) if entry.crosses or entry.shared else self.base + name

    def request_name(self, entry: graph.Service) -> str:
        """Name of a service or action of the table as this node uses it."""
        return self._on_operators_side(entry.name) if entry.crosses else self.base + entry.name

    def _on_operators_side(self, name: str) -> str:
        return self.prefix + name if self.prefix.startswith("/") else self.base + self.prefix + name

    def publisher(self, name: str) -> Any:
        """Publisher of a topic of the table."""
        entry = graph.topic(name)
        made = self.node.create_publisher(interface_class(entry.type), self.topic_name(name), qos_profile(entry.qos))
        return self._kept(self.node.destroy_publisher, made)

    def subscribe(self, name: str, callback: Callable[[Any], None]) -> Any:
        """Subscription to a topic of the table."""
        entry = graph.topic(name)
        kind, qos = interface_class(entry.type), qos_profile(entry.qos)
        made = self.node.create_subscription(kind, self.topic_name(name), callback, qos)
        return self._kept(self.node.destroy_subscription, made)

    def client(self, name: str) -> Any:
        """Client of a service of the table."""
        entry = graph.service(name)
        made = self.node.create_client(interface_class(entry.type), self.request_name(entry))
        return self._kept(self.node.destroy_client, made)

    def action_client(self, name: str) -> ActionClient:
        """Client of an action of the table."""
        entry = graph.action(name)
        made = ActionClient(self.node, interface_class(entry.type), self.request_name(entry))
        return self._kept(lambda client: client.destroy(), made)

    @staticmethod
    def now() -> float:
        """Host monotonic time [s]."""
        return time.monotonic()

    def stamp(self) -> Any:
        """ROS time now."""
        return self.node.get_clock().now().to_msg()

    def destroy_entities(self) -> None:
        """Destroy everything made here; the node stays."""
        while self._made:
            destroy, made = self._made.pop()
            destroy(made)

    def _kept(self, destroy: Callable[[Any], Any], made: Any) -> Any:
        self._made.append((destroy, made))
        return made
