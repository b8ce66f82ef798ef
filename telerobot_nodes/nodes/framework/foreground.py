"""The short-lived ROS node behind a shell command, a script or a probe: it spins only while its owner waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from types import TracebackType
from typing import Any, TypeVar

import rclpy
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor

from telerobot_nodes import graph
from telerobot_nodes.nodes.framework.interfaces import interface_class, qos_profile

DISCOVERY_LIMIT = 10.0  # [s] to find a graph: nodes announce themselves every 3 s
LOOK = 0.1  # [s] longest time between two checks of what is waited for

T = TypeVar("T", bound="Foreground")


class Foreground:
    """One node with names, types and QoS of the graph table. A context manager; one thread.

    Its rclpy context is its own: it works inside a program that uses rclpy itself, and beside others of its kind.

    It may use every row of the table. Topics between operator and robot have `prefix` before their names: with an
    emulated link, the operator's side of it.
    """

    def __init__(self, name: str, namespace: str = "", ros_args: Sequence[str] = ()) -> None:
        self._context = rclpy.Context()
        self._context.init(args=list(ros_args))
        self.node = rclpy.create_node(name, context=self._context, namespace=namespace)
        self.prefix = ""
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._action_clients: list[ActionClient] = []

    @property
    def namespace(self) -> str:
        """Namespace of the node, without a slash at its end; empty: root."""
        return str(self.node.get_namespace()).rstrip("/")

    def publisher(self, name: str) -> Any:
        """Publisher of a topic of the table."""
        entry = graph.topic(name)
        return self.node.create_publisher(interface_class(entry.type), self._where(entry), qos_profile(entry.qos))

    def subscribe(self, name: str, callback: Callable[[Any], None]) -> Any:
        """Subscription to a topic of the table."""
        entry = graph.topic(name)
        kind, qos = interface_class(entry.type), qos_profile(entry.qos)
        return self.node.create_subscription(kind, self._where(entry), callback, qos)

    def client(self, name: str) -> Any:
        """Client of a service of the table."""
        return self.node.create_client(interface_class(graph.service(name).type), name)

    def action_client(self, name: str) -> ActionClient:
        """Client of an action of the table."""
        client = ActionClient(self.node, interface_class(graph.action(name).type), name)
        self._action_clients.append(client)
        return client

    @staticmethod
    def now() -> float:
        """Host monotonic time [s]."""
        return time.monotonic()

    def stamp(self) -> Any:
        """ROS time now."""
        return self.node.get_clock().now().to_msg()

    def spin(self, seconds: float) -> None:
        """Receive for `seconds`."""
        self.wait(lambda: False, seconds)

    def wait(self, ready: Callable[[], object], limit: float, look: float = LOOK) -> bool:
        """Receive until `ready`, checked at least every `look` [s]; False after `limit` [s]."""
        end = self.now() + limit
        while not ready():
            left = end - self.now()
            if left <= 0.0:
                return False
            self._executor.spin_once(timeout_sec=min(look, left))
        return True

    def result(self, future: Any, limit: float) -> Any:
        """Result of a future of rclpy; None after `limit` [s]."""
        return future.result() if self.wait(future.done, limit) else None

    def diagnostics(self, names: Collection[str], limit: float) -> dict[str, dict[str, str]]:
        """Next values on `diagnostics` of nodes of this namespace, by name; those that came within `limit` [s]."""
        found: dict[str, dict[str, str]] = {}

        def receive(message: Any) -> None:
            for status in message.status:
                namespace, _, name = status.name.rpartition("/")
                if namespace == self.namespace and name in names:
                    found[name] = {entry.key: entry.value for entry in status.values}

        subscription = self.subscribe("diagnostics", receive)
        self.wait(lambda: len(found) == len(names), limit)
        self.node.destroy_subscription(subscription)
        return found

    def close(self) -> None:
        """Leave the graph."""
        for client in self._action_clients:
            client.destroy()
        self._executor.shutdown()
        self.node.destroy_node()
        self._context.try_shutdown()

    def __enter__(self: T) -> T:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _where(self, entry: graph.Topic) -> str:
        if entry.name == "diagnostics":
            return "/diagnostics"
        return self.prefix + entry.name if entry.crosses or entry.shared else entry.name
