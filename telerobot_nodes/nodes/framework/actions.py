"""Actions of the graph, event by event: a goal is accepted, begun, reported, ended; nothing waits for it.

What belongs here: rclpy's goal handles, fit for nodes that never wait. What must never enter: what a goal means.
rclpy runs a goal as a coroutine, and its EventsExecutor polls one that waits as fast as it can (a whole core).
Therefore the coroutine of a goal begins when its result is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node

RESULT_KEPT = 10  # [s] for clients that ask late; rclpy's 900 s would fill the memory with short goals


class Goal:
    """One goal of a client. `succeed`, `abort` or `cancel` ends it once; later calls have no effect."""

    def __init__(self, server: GoalServer, handle: ServerGoalHandle) -> None:
        self.request = handle.request  # the action's Goal message
        self.cancel_requested = False
        self.over = False
        self._server = server
        self._handle = handle
        self._begun = False

    def begin(self) -> None:
        """Set the status EXECUTING, unless a cancel was requested before."""
        if not self._begun:
            self._begun = True
            self._handle.execute()

    def feedback(self, message: Any) -> None:
        """Send feedback to the client (the action's Feedback message)."""
        if not self.over:
            self._handle.publish_feedback(message)

    def succeed(self, result: Any) -> None:
        """End as SUCCEEDED."""
        self._finish(self._handle.succeed, result)

    def abort(self, result: Any) -> None:
        """End as ABORTED: rejected, stopped, or failed."""
        self._finish(self._handle.abort, result)

    def cancel(self, result: Any) -> None:
        """End as CANCELED; as ABORTED when the client did not request it."""
        self._finish(self._handle.canceled if self._handle.is_cancel_requested else self._handle.abort, result)

    def _finish(self, end: Callable[[], None], result: Any) -> None:
        if self.over:
            return
        self.begin()
        self.over = True
        end()
        self._server.answer(self._handle, result)


class GoalServer(ActionServer):  # type: ignore[misc]
    """Server of one action. All callbacks run on the executor's thread.

    While `is_open()` goals are accepted and passed to `on_goal`; `on_cancel` is called for every cancel, after the
    goal's status has become CANCELING.
    """

    def __init__(
        self,
        node: Node,
        action_type: Any,
        name: str,
        is_open: Callable[[], bool],
        on_goal: Callable[[Goal], None],
        on_cancel: Callable[[Goal], None],
    ) -> None:
        self._goals: dict[bytes, Goal] = {}  # those not over, oldest first
        self._host, self._kind = node, action_type
        self._on_goal, self._on_cancel = on_goal, on_cancel
        super().__init__(
            node,
            action_type,
            name,
            lambda _: action_type.Result(),
            goal_callback=lambda _: GoalResponse.ACCEPT if is_open() else GoalResponse.REJECT,
            handle_accepted_callback=self._accepted,
            cancel_callback=self._cancel_requested,
            result_timeout=RESULT_KEPT,
        )

    def abort_all(self) -> None:
        """End every goal that is not over, with an empty result."""
        for goal in tuple(self._goals.values()):
            goal.abort(self._kind.Result())

    def notify_execute(self, goal_handle: ServerGoalHandle, execute_callback: Any) -> None:
        """rclpy's: start the goal's coroutine; here only when its result is known."""
        if execute_callback is not None:
            super().notify_execute(goal_handle, execute_callback)

    def answer(self, handle: ServerGoalHandle, result: Any) -> None:
        """Send the result of a goal that is over."""
        self._goals.pop(bytes(handle.goal_id.uuid), None)
        if self._host.executor is not None:  # at the process's end no executor is left to send it
            self.notify_execute(handle, lambda _: result)

    def _accepted(self, handle: ServerGoalHandle) -> None:
        goal = self._goals[bytes(handle.goal_id.uuid)] = Goal(self, handle)
        self._on_goal(goal)

    def _cancel_requested(self, handle: ServerGoalHandle) -> CancelResponse:
        goal = self._goals.get(bytes(handle.goal_id.uuid))
        if goal is None:
            return CancelResponse.REJECT
        goal.cancel_requested = True
        self._host.executor.create_task(self._on_cancel, goal)  # once the status is CANCELING
        return CancelResponse.ACCEPT
