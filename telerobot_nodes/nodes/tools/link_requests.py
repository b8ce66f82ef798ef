"""Services and actions of the robot over the emulated link: requests one delay later there, answers one later back.

What belongs here: which callback is carried which way. What must never enter: delays and losses, which are the line's;
what a request means. All callbacks run on the executor's thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient

from telerobot_nodes import graph
from telerobot_nodes.nodes.framework import DeferredResponse, DeferredService, Goal, GoalServer, GraphNode
from telerobot_nodes.nodes.framework import interface_class as class_of

Call = Callable[[], None]


class Carry(Protocol):
    """The way over the link."""

    def __call__(self, upward: bool, call: Call, kept: bool = True) -> None:
        """Run `call` one delay later, once; a lost one is carried again if it is `kept`."""


def once(call: Call) -> Call:
    """`call`, which a link that duplicates may run twice, run the first time only."""
    left = [call]
    return lambda: left.pop()() if left else None


class ServiceRelay:
    """One service of the robot, served on the operator's side."""

    def __init__(self, node: GraphNode, entry: graph.Service, carry: Carry) -> None:
        self._name, self._carry = entry.name, carry
        self._client = node.create_client(class_of(entry.type), entry.name)
        self.service = DeferredService.on(node, class_of(entry.type), graph.OPERATOR_SIDE + entry.name, self._ask)

    def _ask(self, request: Any, response: Any) -> DeferredResponse:
        deferred = DeferredResponse()
        self._carry(True, partial(self._arrive, request, response, deferred))
        return deferred

    def _arrive(self, request: Any, response: Any, deferred: DeferredResponse) -> None:
        if not self._client.service_is_ready():
            response.success, response.message = False, f"no node serves {self._name}"
            self._carry(False, partial(deferred.fill, response))
            return
        back = partial(self._carry, False)
        self._client.call_async(request).add_done_callback(lambda done: back(partial(deferred.fill, done.result())))


class ActionRelay:
    """One action of the robot, served on the operator's side. A goal is accepted at once and begins one delay later."""

    def __init__(self, node: GraphNode, entry: graph.Service, carry: Carry) -> None:
        kind = class_of(entry.type)
        self._result, self._carry = kind.Result, carry
        self.client = ActionClient(node, kind, entry.name)
        ready = self.client.server_is_ready
        self.server = GoalServer(
            node,
            kind,
            graph.OPERATOR_SIDE + entry.name,
            lambda: node.active and ready(),
            lambda goal: carry(True, partial(self._arrive, goal)),
            lambda goal: carry(True, partial(self._cancel, goal)),
        )
        self._handles: dict[int, Any] = {}  # of goals at the robot, by the goal's identity
        self._cancelled: set[int] = set()  # before the robot has accepted them

    def _arrive(self, goal: Goal) -> None:
        def feedback(message: Any) -> None:
            self._carry(False, partial(goal.feedback, message.feedback), kept=False)

        self.client.send_goal_async(goal.request, feedback).add_done_callback(partial(self._accepted, goal))

    def _accepted(self, goal: Goal, answer: Any) -> None:
        handle = answer.result()
        if not handle.accepted:
            self._cancelled.discard(id(goal))
            self._carry(False, partial(goal.abort, self._result()))
            return
        self._handles[id(goal)] = handle
        self._carry(False, goal.begin)
        handle.get_result_async().add_done_callback(partial(self._ended, goal))
        if id(goal) in self._cancelled:
            handle.cancel_goal_async()

    def _cancel(self, goal: Goal) -> None:
        handle = self._handles.get(id(goal))
        if handle is not None:
            handle.cancel_goal_async()
        elif not goal.over:
            self._cancelled.add(id(goal))

    def _ended(self, goal: Goal, answer: Any) -> None:
        end = {GoalStatus.STATUS_SUCCEEDED: goal.succeed, GoalStatus.STATUS_CANCELED: goal.cancel}
        status, result = answer.result().status, answer.result().result
        self._handles.pop(id(goal), None)
        self._cancelled.discard(id(goal))
        self._carry(False, partial(end.get(status, goal.abort), result))
