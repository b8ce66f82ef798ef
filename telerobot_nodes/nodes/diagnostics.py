"""Reading what the nodes say of themselves on `diagnostics`, from outside the graph."""

from __future__ import annotations

import time

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from telerobot_nodes import graph
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.nodes.interfaces import qos_profile

LIMIT = 10.0  # [s]


def diagnostics_of(name: str, limit: float = LIMIT) -> dict[str, str]:
    """The next diagnostics of node `name`; raises TelerobotError when none comes in `limit` [s]."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node("telerobot_diagnostics")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    found: dict[str, str] = {}

    def hear(message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.rsplit("/", 1)[-1] == name:
                found.update({entry.key: entry.value for entry in status.values})

    node.create_subscription(DiagnosticArray, "/diagnostics", hear, qos_profile(graph.topic("diagnostics").qos))
    end = time.monotonic() + limit
    try:
        while not found and time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown()
    if not found:
        raise TelerobotError(f"no diagnostics of {name} in {limit:g} s")
    return found
