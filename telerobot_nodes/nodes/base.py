"""What every node shares: names and QoS from the graph table, guarded callbacks, parameters, diagnostics, lifecycle.

A node is parameters, conversions, one core object, publish. Nothing waits inside a callback. Nodes are managed
(lifecycle) nodes that configure and activate themselves at start; while inactive, timers and inputs rest.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.action import ActionClient
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from telerobot_nodes import graph
from telerobot_nodes.core.options import NodeOptions
from telerobot_nodes.errors import GraphError, TelerobotError
from telerobot_nodes.nodes.actions import Goal, GoalServer
from telerobot_nodes.nodes.interfaces import interface_class, qos_profile

DIAGNOSTICS_PERIOD = 1.0  # [s]


@dataclass(frozen=True)
class Health:
    """What a node says of itself on `diagnostics`."""

    level: bytes = DiagnosticStatus.OK
    message: str = "ok"
    values: dict[str, object] = field(default_factory=dict)


class GraphNode(LifecycleNode):  # type: ignore[misc]
    """A node of the table. Subclasses build their core and wiring in `__init__`, and override the hooks below."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options.name)
        self.options = options
        self.entry = graph.node(options.name)
        self.active = False
        self.refusals = 0
        self.errors = 0
        self.last_refusal = ""
        self.failure = ""  # why the process must end; set from any thread
        self._goal_servers: list[tuple[GoalServer, Any]] = []
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._diagnostics = self.publisher("diagnostics")
        self.create_timer(DIAGNOSTICS_PERIOD, self._guarded(self._publish_health), clock=self._steady)

    linger = 0.0  # [s] the node goes on hearing after it was told to end

    # hooks ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to act; called on activation."""

    def stop(self) -> None:
        """Come to a safe rest; called on deactivation and before the process ends."""

    def health(self) -> Health:
        """State of the node for `diagnostics`."""
        return Health()

    # wiring --------------------------------------------------------------------------------------------------

    # `namespace`, without slashes, is another arm's; None: the node's own

    def publisher(self, name: str, namespace: str | None = None) -> Any:
        """Publisher of a topic the table lets this node publish; raises GraphError otherwise."""
        self._check_right(name, self.entry.publishes, "publish")
        entry = graph.topic(name)
        where = f"/{name}" if name == "diagnostics" else _within(namespace, name)
        return self.create_publisher(interface_class(entry.type), where, qos_profile(entry.qos))

    def subscribe(self, name: str, callback: Callable[[Any], None], namespace: str | None = None) -> Any:
        """Subscription to a topic the table lets this node hear; `callback` never ends the node."""
        self._check_right(name, self.entry.subscribes, "subscribe to")
        entry, where = graph.topic(name), _within(namespace, name)
        return self.create_subscription(
            interface_class(entry.type), where, self._gated(callback), qos_profile(entry.qos)
        )

    def serve(self, name: str, handler: Callable[[Any, Any], None]) -> Any:
        """Serve `node/name` of the table: `handler(request, response)` fills the response.

        A TelerobotError becomes `success = False` with its message.
        """
        if name not in {entry.name for entry in self.entry.services}:
            raise GraphError(f"the table does not give service {name!r} to node {self.options.name}")

        def answer(request: Any, response: Any) -> Any:
            try:
                handler(request, response)
            except TelerobotError as error:
                self.note_refusal(error)
                response.success, response.message = False, str(error)
            except Exception as error:  # noqa: BLE001 -- process boundary: a caller's trouble is not the node's
                self.note_error(error)
                response.success, response.message = False, f"internal error: {error}"
            return response

        return self.create_service(interface_class(graph.service(name).type), name, answer)

    def client(self, name: str, namespace: str | None = None) -> Any:
        """Client of a service the table lets this node call."""
        self._check_right(name, self.entry.calls, "call")
        return self.create_client(interface_class(graph.service(name).type), _within(namespace, name))

    def act(
        self, name: str, on_goal: Callable[[Goal], None], on_cancel: Callable[[Goal], None] = lambda goal: None
    ) -> GoalServer:
        """Serve the action `node/name` of the table. Goals are refused while inactive, and aborted on deactivation.

        `on_goal` keeps the goal and ends it later; an error it raises aborts the goal with an empty result.
        """
        if name not in {entry.name for entry in self.entry.actions}:
            raise GraphError(f"the table does not give action {name!r} to node {self.options.name}")
        kind = interface_class(graph.action(name).type)

        def take(goal: Goal) -> None:
            errors = self.refusals + self.errors
            self._guarded(on_goal)(goal)
            if self.refusals + self.errors > errors:
                goal.abort(kind.Result())

        server = GoalServer(self, kind, name, lambda: self.active, take, self._guarded(on_cancel))
        self._goal_servers.append((server, kind))
        return server

    def action_client(self, name: str, namespace: str | None = None) -> Any:
        """Client (rclpy's) of an action the table lets this node run."""
        self._check_right(name, self.entry.runs, "run")
        return ActionClient(self, interface_class(graph.action(name).type), _within(namespace, name))

    def every(self, period: float, callback: Callable[[], None]) -> Any:
        """Call `callback` each `period` [s] of the steady clock while the node is active."""

        def tick() -> None:
            if self.active:
                callback()

        return self.create_timer(period, self._guarded(tick), clock=self._steady)

    @staticmethod
    def now() -> float:
        """Host monotonic time [s]: the only clock the cores see."""
        return time.monotonic()

    def stamp(self) -> Any:
        """ROS time now, for people and bags."""
        return self.get_clock().now().to_msg()

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

    def destroy_node(self) -> None:
        """Let go of everything the middleware holds for this node."""
        for server, _ in self._goal_servers:
            server.destroy()
        super().destroy_node()

    def _rest(self) -> None:
        self.active = False
        self.stop()
        for server, kind in self._goal_servers:
            for goal in server.goals:
                goal.abort(kind.Result())

    # guards --------------------------------------------------------------------------------------------------

    def _check_right(self, name: str, allowed: tuple[str, ...], verb: str) -> None:
        if name not in allowed:
            raise GraphError(f"the table does not let node {self.options.name} {verb} {name!r}")

    def _gated(self, callback: Callable[[Any], None]) -> Callable[[Any], None]:
        def call(message: Any) -> None:
            if self.active:
                callback(message)

        return self._guarded(call)

    def _guarded(self, callback: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: Any) -> None:
            try:
                callback(*arguments)
            except TelerobotError as error:
                self.note_refusal(error)
            except Exception as error:  # noqa: BLE001 -- process boundary: one bad message must not end the node
                self.note_error(error)

        return call

    def note_refusal(self, error: TelerobotError) -> None:
        """Count and log a refusal; `diagnostics` tells the last one."""
        self.refusals += 1
        self.last_refusal = str(error)
        self.get_logger().warning(f"refused: {error}", throttle_duration_sec=1.0)

    def note_error(self, error: Exception) -> None:
        """Count and log an error that is not of our making."""
        self.errors += 1
        self.get_logger().error("".join(traceback.format_exception(error)), throttle_duration_sec=1.0)

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


def _within(namespace: str | None, name: str) -> str:
    """The topic of another arm's namespace, "": the root; of the node's own when None."""
    return name if namespace is None else f"/{namespace}/{name}".replace("//", "/")


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
