"""Primitives on topics, services and the action of `gcmsf_control`: messages to the scheduler and its reports back."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from telerobot.action import ExecutePrimitive
from telerobot.msg import PrimitiveReport
from telerobot_nodes.core.protocol import PrimitiveOutcome
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.motion.primitives import values_from
from telerobot_nodes.motion.scheduling import PrimitiveScheduler, SchedulerReport
from telerobot_nodes.nodes.framework import Goal, GraphNode
from telerobot_nodes.nodes.messages import convert
from telerobot_nodes.nodes.robot.sequence_goals import SequenceGoals


class PrimitiveGoals:
    """The goals of one arm. Its scheduler calls `report`."""

    def __init__(self, node: GraphNode) -> None:
        self._node = node
        self._goals: dict[int, Goal] = {}
        self._link = convert.LinkCounter(f"robot/{node.options.name}")
        self._reports = node.publisher("gcmsf_control/report")
        self._last: Any = None
        self.scheduler: PrimitiveScheduler  # set by the node, whose loop it commands
        self.sequences: SequenceGoals  # set by the node
        node.act("gcmsf_control/execute", self._on_goal, self._on_cancel)
        node.serve("gcmsf_control/stop", self._on_stop)
        node.serve_deferred("gcmsf_control/change", self._on_change)

    def report(self, report: SchedulerReport) -> None:
        """Publish a report; feed it back to its goal, or end it."""
        self._last = message = self._message(report)
        self._reports.publish(message)
        self.sequences.report(report, message)
        goal = self._goals.get(report.id)
        if goal is None:
            return
        if report.outcome is PrimitiveOutcome.RUNNING:
            if report.phase != "queued":
                goal.begin()
            goal.feedback(ExecutePrimitive.Feedback(report=message))
            return
        del self._goals[report.id]
        result = ExecutePrimitive.Result(report=message)
        if report.outcome is PrimitiveOutcome.SUCCEEDED:
            goal.succeed(result)
        elif goal.cancel_requested:
            goal.cancel(result)
        else:
            goal.abort(result)

    def _on_goal(self, goal: Goal) -> None:
        asked = goal.request.parameters
        try:
            number = self.scheduler.submit(asked.name, asked.agent, values_from(asked.keys, asked.values))
        except TelerobotError as error:
            self._node.note_refusal(error)
            goal.abort(ExecutePrimitive.Result(report=self._refusal(asked, str(error))))
            return
        self._goals[number] = goal
        goal.feedback(ExecutePrimitive.Feedback(report=self._last))

    def _on_cancel(self, goal: Goal) -> None:
        for number, held in self._goals.items():
            if held is goal:
                self.scheduler.stop(number, "cancelled by its client")
                return

    def _on_stop(self, _request: Any, response: Any) -> None:
        count = len(self.scheduler)
        self.scheduler.stop(0, "stop service")
        response.success, response.message = True, f"{count} primitives stopped" if count else "there was none"

    def _on_change(self, request: Any, response: Any, send: Callable[[Any], None]) -> None:
        def done(answer: Future[None]) -> None:
            error = answer.exception()
            response.success, response.message = error is None, str(error or "in force")
            send(response)

        self.scheduler.change(values_from(request.keys, request.values)).add_done_callback(done)

    def _message(self, report: SchedulerReport) -> Any:
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
            message.cause = int(state.cause)
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
            state=int(PrimitiveOutcome.REFUSED),
            phase="ended",
            reason="refused",
            detail=why,
        )
