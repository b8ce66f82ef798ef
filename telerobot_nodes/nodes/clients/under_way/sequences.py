"""Sequences of primitives under way: the robot checks all steps before the first, and runs them in order by itself."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Condition
from typing import Any

from telerobot.action import RunSequence
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.clients.under_way.goal_sender import GoalCarrier, GoalSender, RunningGoal
from telerobot_nodes.nodes.clients.under_way.primitives import parameters_message, primitive_from_message
from telerobot_nodes.operator.client import PrimitiveEnd, PrimitiveStep, SequenceReport, SequenceResult

ACTION = "gcmsf_control/run_sequence"


class RunningSequence(RunningGoal[SequenceReport, SequenceResult]):
    """A sequence that the control node runs."""

    def __init__(self, changed: Condition, steps: int, limit: float) -> None:
        super().__init__(changed, SequenceResult(PrimitiveEnd.RUNNING, f"not ended in {limit:g} s"), limit)
        self._steps = steps

    def not_served(self, why: str) -> None:
        """End it: nobody has taken the goal."""
        self.finish(SequenceResult(PrimitiveEnd.NOT_SERVED, why))

    def receive(self, message: Any) -> None:
        """Take a message of feedback."""
        self.tell(SequenceReport(int(message.step), primitive_from_message(message.report)))

    def ended_with(self, result: Any) -> None:
        """Take the result; None: the end was not reported."""
        last = self.report
        if result is None:
            done = last.step - 1 if last else 0
            self.finish(SequenceResult(PrimitiveEnd.NO_ANSWER, "the end was not reported", done))
            return
        report = primitive_from_message(result.report)
        why = report.detail if report.state is PrimitiveEnd.REFUSED else report.reason
        end = PrimitiveEnd.SUCCEEDED if result.done == self._steps else report.state
        self.finish(SequenceResult(end, why, int(result.done), report))


class Sequences:
    """The sequences of one sender."""

    def __init__(self, carrier: GoalCarrier, changed: Condition, agent: str) -> None:
        self._changed, self._agent = changed, agent
        self._goals = carrier.action_client(ACTION)
        self._sender = GoalSender(carrier, changed)

    def begin(self, name: str, steps: Sequence[PrimitiveStep], limit: float) -> RunningSequence:
        """Send a goal, as soon as the control node is found. Raises InvalidValueError without a step."""
        if not steps:
            raise InvalidValueError("steps", [], "allowed: at least one")
        running = RunningSequence(self._changed, len(steps), limit)
        messages = [parameters_message(step.name, step.values) for step in steps]
        accept = [" ".join(step.accept) for step in steps]
        goal = RunSequence.Goal(name=name, agent=self._agent, steps=messages, accept=accept)
        self._sender.send(self._goals, ACTION, goal, running)
        return running

    def step(self, now: float) -> None:
        """Send what could not be sent before."""
        self._sender.step(now)
