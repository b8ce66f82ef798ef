"""A node of the graph: parameters, conversions, one core object, publish. Nothing waits inside a callback.

Nodes are managed (lifecycle) nodes that configure and activate themselves at start; while inactive, timers and inputs
rest. Each publishes its health on `diagnostics`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn

from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.nodes.framework.table_node import TableNode

DIAGNOSTICS_PERIOD = 1.0  # [s]


@dataclass(frozen=True)
class Health:
    """Report of a node on `diagnostics`."""

    level: bytes = DiagnosticStatus.OK
    message: str = "ok"
    values: dict[str, object] = field(default_factory=dict)


class GraphNode(TableNode):
    """A node of the table. Subclasses build their core and wiring in `__init__`, and override the hooks below."""

    linger = 0.0  # [s] the node still receives after it was asked to end, unless it has `finished` before

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        self.failure = ""  # why the process must end; set from any thread
        self._diagnostics = self.publisher("diagnostics")
        self.create_timer(DIAGNOSTICS_PERIOD, self.guarded(self._publish_health), clock=self._steady)

    # hooks ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to act; called on activation."""

    def stop(self) -> None:
        """Come to a safe rest; called on deactivation and before the process ends."""

    @property
    def finished(self) -> bool:
        """True when a node that was asked to end has nothing to wait for in its `linger`."""
        return False

    def health(self) -> Health:
        """State of the node for `diagnostics`."""
        return Health()

    # lifecycle -----------------------------------------------------------------------------------------------

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start acting."""
        self.start()
        self.active = True
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Come to rest."""
        self._rest()
        return super().on_deactivate(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Come to rest for good."""
        if self.active:
            self._rest()
        return super().on_shutdown(state)

    def _rest(self) -> None:
        self.active = False
        self.stop()
        for server in self._goal_servers:
            server.abort_all()

    # health --------------------------------------------------------------------------------------------------

    def _publish_health(self) -> None:
        health = self.health()
        values = {"active": self.active, "refusals": self.refusals, "errors": self.errors, **health.values}
        if self.last_refusal:
            values["last_refusal"] = self.last_refusal
        status = DiagnosticStatus(
            level=health.level if not self.errors else max(health.level, DiagnosticStatus.WARN),
            name=f"{self.get_fully_qualified_name()}",
            message=health.message,
            hardware_id=self.options.robot,
            values=[KeyValue(key=key, value=_text(value)) for key, value in values.items()],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self.stamp()
        self._diagnostics.publish(message)


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
