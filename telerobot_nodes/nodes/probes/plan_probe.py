"""A bare agent on the graph: sends plan operations, receives the executor's reports. For benchmarks and tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.nodes.framework import Foreground
from telerobot_nodes.nodes.messages import convert
from telerobot_nodes.plan.log import ExecutorReport, Operation


class PlanProbe(Foreground):
    """One agent beside the robot, with no link between."""

    def __init__(self, namespace: str = "") -> None:
        super().__init__("plan_probe", namespace)
        self._link = convert.LinkCounter("plan_probe")
        self.state: ExecutorReport | None = None
        self.tool_pose: FloatArray = np.empty(0)
        self._operations = self.publisher("plan_executor/operations")
        self.subscribe("plan_executor/state", self._on_report)

    def send(self, operations: list[Operation]) -> None:
        """Publish operations in one message."""
        self._operations.publish(convert.operations_to_message(self._link.next(self.stamp()), operations))

    def report(self, ready: Callable[[ExecutorReport], bool], limit: float) -> ExecutorReport:
        """The first report that is `ready`; raises TelerobotError after `limit` [s]."""

        def found() -> bool:
            return self.state is not None and ready(self.state) and self._operations.get_subscription_count() > 0

        if not self.wait(found, limit, look=0.05) or self.state is None:
            raise TelerobotError(f"no such report in {limit:g} s; the last: {self.state}")
        return self.state

    def _on_report(self, message: Any) -> None:
        self.state = convert.report_from_message(message)
        self.tool_pose = np.array(message.tool_pose)
