"""A bare agent on the graph: sends plan operations, hears the executor's reports. For benchmarks and tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from telerobot_nodes import graph
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.nodes import convert
from telerobot_nodes.nodes.interfaces import interface_class, qos_profile
from telerobot_nodes.plan.operations import ExecutorReport, Operation


class PlanProbe:
    """One agent beside the robot, with no link between. A context manager."""

    def __init__(self, namespace: str = "") -> None:
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        self._node = rclpy.create_node("plan_probe", namespace=namespace)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._link = convert.LinkCounter("plan_probe")
        self.state: ExecutorReport | None = None
        self.tool_pose: FloatArray = np.empty(0)
        operations, reports = graph.topic("plan_executor/operations"), graph.topic("plan_executor/state")
        self._operations = self._node.create_publisher(
            interface_class(operations.type), operations.name, qos_profile(operations.qos)
        )
        self._node.create_subscription(
            interface_class(reports.type), reports.name, self._hear, qos_profile(reports.qos)
        )

    def send(self, operations: list[Operation]) -> None:
        """Publish operations in one message."""
        stamp = self._node.get_clock().now().to_msg()
        self._operations.publish(convert.operations_to_message(self._link.next(stamp), operations))

    def spin(self, seconds: float) -> None:
        """Hear what comes within `seconds`."""
        self._executor.spin_once(timeout_sec=seconds)

    def wait(self, ready: Callable[[ExecutorReport | None], bool], limit: float) -> ExecutorReport:
        """The first report that is `ready`; raises TelerobotError after `limit` [s]."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            self.spin(0.05)
            if self.state is not None and ready(self.state) and self._operations.get_subscription_count():
                return self.state
        raise TelerobotError(f"no such report in {limit:g} s; the last: {self.state}")

    def _hear(self, message: Any) -> None:
        self.state = convert.report_from_message(message)
        self.tool_pose = np.array(message.tool_pose)

    def __enter__(self) -> PlanProbe:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.try_shutdown()
