"""Sequences of primitives on the action of `gcmsf_control`: one at a time, checked on a thread of their own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from telerobot.action import RunSequence
from telerobot.msg import PrimitiveReport
from telerobot_nodes.core.protocol import PrimitiveOutcome
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.loop import schedule
from telerobot_nodes.motion.scheduling import (
    PrimitiveScheduler,
    PrimitiveSequence,
    SchedulerReport,
    SequenceStep,
    check_steps,
)
from telerobot_nodes.nodes.framework import Goal, GraphNode

ACTION = "gcmsf_control/run_sequence"


class SequenceGoals:
    """The sequence of one arm."""

    def __init__(self, node: GraphNode, robot: RobotModel, scheduler: PrimitiveScheduler, priority: int) -> None:
        """`priority`: of the thread that checks (SCHED_FIFO); 0: ordinary."""
        self._node, self._robot, self._scheduler = node, robot, scheduler
        self._check = ThreadPoolExecutor(1, "check", lambda: schedule(priority))
        self._goal: Goal | None = None
        self._sequence: PrimitiveSequence | None = None
        node.act(ACTION, self._on_goal, self._on_cancel)

    def update(self) -> None:
        """Begin what was checked; before the scheduler's own update."""
        if self._sequence is not None:
            self._sequence.update()
            self._finish(None)

    def report(self, report: SchedulerReport, message: Any) -> None:
        """Take a report of the scheduler, and the message that was published of it."""
        sequence, goal = self._sequence, self._goal
        if sequence is None or goal is None:
            return
        number = sequence.done + 1
        if sequence.take(report):
            goal.begin()
            goal.feedback(RunSequence.Feedback(step=number, report=message))
            self._finish(message)

    def _on_goal(self, goal: Goal) -> None:
        asked = goal.request
        if self._sequence is not None:
            self._refuse(goal, "another sequence is under way; allowed: after its end")
            return
        try:
            steps = _steps(asked)
        except InvalidValueError as error:
            self._refuse(goal, str(error))
            return
        checked = self._check.submit(check_steps, self._robot, steps)
        self._goal, self._sequence = goal, PrimitiveSequence(self._scheduler, asked.agent, checked)

    def _on_cancel(self, goal: Goal) -> None:
        if goal is self._goal and self._sequence is not None:
            self._sequence.cancel("cancelled by its client")

    def _finish(self, last: Any) -> None:
        """End the goal when the sequence has ended; `last`: the message of its last report, None: no step began."""
        sequence, goal = self._sequence, self._goal
        if sequence is None or goal is None or not sequence.ended:
            return
        self._sequence = self._goal = None
        if last is None:
            self._refuse(goal, sequence.why)
            return
        end: Callable[[Any], None] = goal.abort
        if sequence.completed:
            end = goal.succeed
        elif goal.cancel_requested:
            end = goal.cancel
        end(RunSequence.Result(done=sequence.done, report=last))

    def _refuse(self, goal: Goal, why: str) -> None:
        asked = goal.request
        self._node.get_logger().warning(f"sequence {asked.name} refused: {why}")
        refused = PrimitiveReport(
            name=asked.name,
            agent=asked.agent,
            state=int(PrimitiveOutcome.REFUSED),
            phase="ended",
            reason="refused",
            detail=why,
        )
        end = goal.cancel if goal.cancel_requested else goal.abort
        end(RunSequence.Result(report=refused))


def _steps(asked: Any) -> list[SequenceStep]:
    if len(asked.accept) != len(asked.steps):
        raise InvalidValueError("accept (length)", len(asked.accept), f"allowed: {len(asked.steps)}, one for each step")
    return [
        SequenceStep(step.name, step.keys, step.values, accept)
        for step, accept in zip(asked.steps, asked.accept, strict=True)
    ]
