"""A ROS node that may use only what its row of the graph table lists; its callbacks never end the process.

What belongs here: names, types and QoS from the table, guards around callbacks, and the release of everything that the
middleware holds. What must never enter: lifecycle, health (`base.py`).
"""

from __future__ import annotations

import math
import re
import time
import traceback
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode
from rclpy.time import Time

from telerobot_nodes import graph
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.errors import GraphError, TelerobotError
from telerobot_nodes.nodes.framework.actions import Goal, GoalServer
from telerobot_nodes.nodes.framework.deferred import DeferredResponse, DeferredService, Send
from telerobot_nodes.nodes.framework.interfaces import interface_class, qos_profile
from telerobot_nodes.nodes.framework.services import PatientService

SAME_INSTANT = 0.002  # [s] between two readings of a clock: no stall came between
CLOCK_READINGS = 5  # most tries to read both clocks without a stall


class TableNode(LifecycleNode):  # type: ignore[misc]
    """Publishers, subscriptions, services and actions by right of the table; counts what is rejected and what fails."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options.name)
        self.options = options
        self.entry = graph.node(options.name)
        self.active = False
        self.refusals = 0
        self.errors = 0
        self.last_refusal = ""
        self._goal_servers: list[GoalServer] = []
        self._action_clients: list[ActionClient] = []
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)

    # `namespace`, without slashes, is another arm's; None: the node's own. A simulated graph reaches no arm outside its
    # own namespace, whatever workcell it was given.

    def publisher(self, name: str, namespace: str | None = None) -> Any:
        """Publisher of a topic; raises GraphError unless the table lets this node publish it."""
        self._check_right(name, self.entry.publishes, "publish")
        entry = graph.topic(name)
        where = self._within(namespace, name)
        return self.create_publisher(interface_class(entry.type), where, qos_profile(entry.qos))

    def subscribe(
        self, name: str, callback: Callable[[Any], None], namespace: str | None = None, raw: bool = False
    ) -> Any:
        """Subscription to a topic, for an active node; raises GraphError unless the table lets this node subscribe.

        `raw`: the callback gets the message as bytes.
        """
        self._check_right(name, self.entry.subscribes, "subscribe to")
        entry, where = graph.topic(name), self._within(namespace, name)
        return self.create_subscription(
            interface_class(entry.type), where, self._gated(callback), qos_profile(entry.qos), raw=raw
        )

    def subscribe_outside(self, topic: str, kind: str, callback: Callable[[Any], None], raw: bool = False) -> Any:
        """Subscription to a topic of another graph, named by a user's file; its publisher may have any QoS.

        `raw`: the callback gets the message as bytes.
        """
        return self.create_subscription(
            interface_class(kind), topic, self._gated(callback), qos_profile(graph.Qos.STATE), raw=raw
        )

    def client_outside(self, service: str, kind: str) -> Any:
        """Client of a service of another graph, named by a user's file."""
        return self.create_client(interface_class(kind), service)

    def serve(self, name: str, handler: Callable[[Any, Any], None]) -> Any:
        """Serve `node/name` of the table: `handler(request, response)` fills the response.

        A TelerobotError becomes `success = False` with its message.
        """
        self._check_right(name, tuple(entry.name for entry in self.entry.services), "serve")

        def answer(request: Any, response: Any) -> Any:
            self._answered(handler, request, response)
            return response

        return self._make_service(PatientService, name, answer)

    def serve_deferred(self, name: str, handler: Callable[[Any, Any, Send], None]) -> PatientService:
        """Serve `node/name` of the table with a deferred response: `handler(request, response, send)` returns at once.

        `send(response)` is called once, from any thread, when the response is filled. A TelerobotError of the handler
        is sent at once as `success = False` with its message.
        """
        self._check_right(name, tuple(entry.name for entry in self.entry.services), "serve")

        def answer(request: Any, response: Any) -> DeferredResponse:
            deferred = DeferredResponse()
            if not self._answered(handler, request, response, deferred.fill):
                deferred.fill(response)
            return deferred

        return self._make_service(DeferredService, name, answer)

    def _make_service(self, kind: type[PatientService], name: str, answer: Callable[[Any, Any], Any]) -> PatientService:
        service = kind.on(self, interface_class(graph.service(name).type), name, answer)
        self._services.append(service)  # rclpy's list of what is spun and destroyed with the node
        return service

    def client(self, name: str, namespace: str | None = None) -> Any:
        """Client of a service; raises GraphError unless the table lets this node call it."""
        self._check_right(name, self.entry.calls, "call")
        entry = graph.service(name)
        return self.create_client(interface_class(entry.type), self._within(namespace, self._request_name(entry)))

    def act(
        self, name: str, on_goal: Callable[[Goal], None], on_cancel: Callable[[Goal], None] = lambda goal: None
    ) -> GoalServer:
        """Serve the action `node/name` of the table. Goals are rejected while inactive, and aborted on deactivation.

        `on_goal` keeps the goal and ends it later; an error it raises aborts the goal with an empty result.
        """
        self._check_right(name, tuple(entry.name for entry in self.entry.actions), "serve")
        kind = interface_class(graph.action(name).type)

        def take(goal: Goal) -> None:
            if self._attempt(on_goal, goal) is not None:
                goal.abort(kind.Result())

        server = GoalServer(self, kind, name, lambda: self.active, take, self.guarded(on_cancel))
        self._goal_servers.append(server)
        return server

    def action_client(self, name: str, namespace: str | None = None) -> Any:
        """Client (rclpy's) of an action; raises GraphError unless the table lets this node run it."""
        self._check_right(name, self.entry.runs, "run")
        entry = graph.action(name)
        client = ActionClient(self, interface_class(entry.type), self._within(namespace, self._request_name(entry)))
        self._action_clients.append(client)
        return client

    def every(self, period: float, callback: Callable[[], None]) -> Any:
        """Call `callback` each `period` [s] of the steady clock while the node is active."""

        def tick() -> None:
            if self.active:
                self._attempt(callback)

        return self.create_timer(period, tick, clock=self._steady)

    def soon(self, callback: Callable[..., None], *arguments: Any) -> None:
        """Call `callback` on the executor's thread, its errors noted; from any thread."""
        if self.executor is not None:
            self.executor.create_task(self.guarded(callback), *arguments)

    @staticmethod
    def now() -> float:
        """Host monotonic time [s]: the only clock of the cores."""
        return time.monotonic()

    def stamp(self, at: float = math.inf) -> Any:
        """ROS time when the host's monotonic clock was `at` [s], by default now; for people and bags."""
        if at == math.inf:
            return self.get_clock().now().to_msg()
        now, stamp_now = self.both_clocks()
        return (stamp_now - Duration(nanoseconds=int(1e9 * max(now - at, 0.0)))).to_msg()

    def both_clocks(self) -> tuple[float, Time]:
        """`now` and the clock of stamps at one instant, read again after a stall between them.

        With the stall in it, a sample is older than the one before it, or newer than the one after it.
        """
        for _ in range(CLOCK_READINGS):
            before, stamp_now, after = self.now(), self.get_clock().now(), self.now()
            if after - before < SAME_INSTANT:
                break
        return after, stamp_now

    def destroy_node(self) -> None:
        """Release everything that the middleware holds for this node, so that its participant ends here.

        rclpy's own destroys neither actions nor the state machine. Each keeps the rcl node, and with it the threads of
        the middleware, alive into the static destructors of the process.
        """
        for entity in (*self._goal_servers, *self._action_clients):
            entity.destroy()
        super().destroy_node()
        self._state_machine.destroy_when_not_in_use()

    # guards --------------------------------------------------------------------------------------------------

    def note_refusal(self, error: TelerobotError) -> None:
        """Count and log a rejected input; `diagnostics` shows the last one."""
        self.refusals += 1
        self.last_refusal = str(error)
        self.get_logger().warning(f"refused: {error}", throttle_duration_sec=1.0)

    def note_error(self, error: Exception) -> None:
        """Count and log an unexpected error."""
        self.errors += 1
        self.get_logger().error("".join(traceback.format_exception(error)), throttle_duration_sec=1.0)

    def _within(self, namespace: str | None, name: str) -> str:
        """The topic of another arm's namespace, "": the root; of the node's own when None; health has one topic."""
        if name == graph.HEALTH:
            return f"/{name}"
        if namespace is None:
            return name
        around = self.get_namespace() if self.options.graph in graph.SIMULATED else ""
        return re.sub("/+", "/", f"/{around}/{namespace}/{name}")

    def _request_name(self, entry: graph.Service) -> str:
        options = self.options
        return graph.request_name(entry, options.name, options.graph, options.hosts is not None)

    def _check_right(self, name: str, allowed: tuple[str, ...], verb: str) -> None:
        if name not in allowed:
            raise GraphError(f"the table does not let node {self.options.name} {verb} {name!r}")

    def _gated(self, callback: Callable[[Any], None]) -> Callable[[Any], None]:
        """`callback`, guarded, and called only while the node is active."""

        def call(message: Any) -> None:
            if self.active:
                self._attempt(callback, message)

        return call

    def guarded(self, callback: Callable[..., None]) -> Callable[..., None]:
        """`callback` with its errors noted instead of raised."""

        def call(*arguments: Any) -> None:
            self._attempt(callback, *arguments)

        return call

    def _attempt(self, callback: Callable[..., None], *arguments: Any) -> Exception | None:
        """Call `callback`; the error that it raised, noted."""
        try:
            callback(*arguments)
        except TelerobotError as error:
            self.note_refusal(error)
            return error
        except Exception as error:  # noqa: BLE001 -- process boundary: one bad message must not end the node
            self.note_error(error)
            return error
        return None

    def _answered(self, handler: Callable[..., None], request: Any, response: Any, *others: Any) -> bool:
        """Run a service's handler; False, and `response` filled with the reason, when it raised."""
        error = self._attempt(handler, request, response, *others)
        if error is not None:
            known = isinstance(error, TelerobotError)
            response.success, response.message = False, str(error) if known else f"internal error: {error}"
        return error is None
