"""Primitives on topics, services and the action of `gcmsf_control`: messages to the desk and its reports back."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np

from telerobot.action import ExecutePrimitive
from telerobot.msg import PrimitiveReport
from telerobot_nodes.core.validation import FloatArray, finite_array
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.motion.desk import DeskReport, Outcome, PrimitiveDesk, values_from
from telerobot_nodes.nodes import convert
from telerobot_nodes.nodes.actions import Goal
from telerobot_nodes.nodes.base import GraphNode
from telerobot_nodes.nodes.later import serve_later

HAND_GAP = 0.1  # [s] a velocity of the hand is believed this long


class PrimitiveGoals:
    """The goals of one arm. Its desk reports to `say`."""

    def __init__(self, node: GraphNode) -> None:
        self._node = node
        self._goals: dict[int, Goal] = {}
        self._link = convert.LinkCounter(f"robot/{node.options.name}")
        self._report = node.publisher("gcmsf_control/report")
        self._last: Any = None
        self.desk: PrimitiveDesk  # set by the node, whose loop it orders
        node.act("gcmsf_control/execute", self._on_goal, self._on_cancel)
        node.serve("gcmsf_control/stop", self._on_stop)
        serve_later(node, "gcmsf_control/change", self._on_change)

    def say(self, report: DeskReport) -> None:
        """Publish a report; feed it back to its goal, or end it."""
        self._last = message = self._message(report)
        self._report.publish(message)
        goal = self._goals.get(report.id)
        if goal is None:
            return
        if report.outcome is Outcome.RUNNING:
            if report.phase != "queued":
                goal.begin()
            goal.feedback(ExecutePrimitive.Feedback(report=message))
            return
        del self._goals[report.id]
        result = ExecutePrimitive.Result(report=message)
        if report.outcome is Outcome.SUCCEEDED:
            goal.succeed(result)
        elif goal.cancel_requested:
            goal.cancel(result)
        else:
            goal.abort(result)

    def _on_goal(self, goal: Goal) -> None:
        asked = goal.request.parameters
        try:
            number = self.desk.submit(asked.name, asked.agent, values_from(asked.keys, asked.values))
        except TelerobotError as error:
            self._node.note_refusal(error)
            goal.abort(ExecutePrimitive.Result(report=self._refusal(asked, str(error))))
            return
        self._goals[number] = goal
        goal.feedback(ExecutePrimitive.Feedback(report=self._last))

    def _on_cancel(self, goal: Goal) -> None:
        for number, held in self._goals.items():
            if held is goal:
                self.desk.stop(number, "cancelled by its client")
                return

    def _on_stop(self, _request: Any, response: Any) -> None:
        count = len(self.desk)
        self.desk.stop(0, "stop service")
        response.success, response.message = True, f"{count} primitives told to stop" if count else "none was there"

    def _on_change(self, request: Any, response: Any, send: Callable[[Any], None]) -> None:
        def done(answer: Future[None]) -> None:
            error = answer.exception()
            response.success, response.message = error is None, str(error or "in force")
            send(response)

        self.desk.change(values_from(request.keys, request.values)).add_done_callback(done)

    def _message(self, report: DeskReport) -> Any:
        message = PrimitiveReport(
            link=self._link.next(self._node.stamp()),
            id=report.id,
            name=report.name,
            agent=report.agent,
            state=int(report.outcome),
            phase=report.phase,
            reason=report.reason,
            detail=report.detail,
        )
        state = report.state
        if state is not None:
            message.joint_position = convert.doubles(state.q)
            message.tool_pose = convert.doubles(state.tool_pose)
            message.wrench = convert.doubles(state.wrench)
            message.gripper = state.gripper
            message.elapsed = state.elapsed
            message.sensor_distance, message.sensor_angle = state.distance, state.angle
            message.reading_names = list(state.readings)
            message.readings = convert.doubles(list(state.readings.values()))
        return message

    def _refusal(self, asked: Any, why: str) -> Any:
        return PrimitiveReport(
            link=self._link.next(self._node.stamp()),
            name=asked.name,
            agent=asked.agent,
            state=int(Outcome.REFUSED),
            phase="ended",
            reason="refused",
            detail=why,
        )


class Hand:
    """The operator's device in a primitive: velocities in, increments out."""

    def __init__(self) -> None:
        self._at = -np.inf

    def increment(self, now: float, message: Any, mode: str) -> FloatArray:
        """Motion (6,) [m], [rad] since the last message. Raises InvalidValueError when its axes are not `mode`."""
        frame = message.header.frame_id
        if frame != mode:
            raise InvalidValueError(
                "teleop_cmds.header.frame_id", frame, f"allowed: {mode}, tele_mode of the primitive"
            )
        v, w = message.twist.linear, message.twist.angular
        velocity = finite_array((v.x, v.y, v.z, w.x, w.y, w.z), "teleop_cmds.twist", 6)
        gap, self._at = now - self._at, now
        return velocity * min(gap, HAND_GAP) if gap < np.inf else np.zeros(6)
