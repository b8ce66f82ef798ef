"""The short-lived ROS node behind a shell command, a script or a probe: it spins only while its owner waits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from types import TracebackType
from typing import Any, TypeVar

import rclpy

from telerobot_nodes.nodes.framework.executors import client_executor
from telerobot_nodes.nodes.framework.leaving import leave
from telerobot_nodes.nodes.framework.wiring import NodeWiring

DISCOVERY_LIMIT = 10.0  # [s] to find a graph: nodes announce themselves every 3 s
LOOK = 0.1  # [s] longest time between two checks of what is waited for

T = TypeVar("T", bound="Foreground")


class Foreground(NodeWiring):
    """One node of the graph table. A context manager; one thread.

    Its rclpy context is its own: it works inside a program that uses rclpy itself, and beside others of its kind.
    """

    def __init__(self, name: str, namespace: str = "", ros_args: Sequence[str] = ()) -> None:
        self._context = rclpy.Context()
        self._context.init(args=list(ros_args))
        super().__init__(rclpy.create_node(name, context=self._context, namespace=namespace))
        self._executor = client_executor(self._context)
        self._executor.add_node(self.node)

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
        self._executor.shutdown()
        self.destroy_entities()
        leave(self.node)
        self._context.try_shutdown()

    def __enter__(self: T) -> T:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
