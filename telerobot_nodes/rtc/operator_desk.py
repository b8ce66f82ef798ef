"""The operator as a subsystem: tasks shown, results entered [JPL-RTC section 5, operator intervention]."""

from __future__ import annotations

from collections.abc import Mapping

from telerobot_nodes.rtc.messages import Output, ShowTask
from telerobot_nodes.rtc.primitives import Primitive, Report
from telerobot_nodes.rtc.problems import CommandError
from telerobot_nodes.rtc.syntax import TaskResult


class OperatorDesk:
    """Numbers the tasks in front of the operator; a task is a primitive whose performer is a person."""

    def __init__(self) -> None:
        self._tasks: dict[int, Primitive] = {}
        self._count = 0

    @property
    def tasks(self) -> Mapping[int, Primitive]:
        """Tasks shown now."""
        return self._tasks

    def show(self, primitive: Primitive) -> ShowTask:
        """Put a task in front of the operator."""
        self._count += 1
        self._tasks[self._count] = primitive
        return ShowTask(self._count, primitive.number, primitive.text)

    def withdraw(self, primitive: int) -> list[Output]:
        """Take the task of a primitive away, if it is shown."""
        found = next((number for number, task in self._tasks.items() if task.number == primitive), None)
        if found is None:
            return []
        return [ShowTask(found, primitive, self._tasks.pop(found).text, shown=False)]

    def result(
        self, entered: TaskResult, joints: tuple[float, ...] = (), pose: tuple[float, ...] = (), elapsed: float = 0.0
    ) -> Report:
        """The report of a task from what the operator entered and what kinematics say of the arm now.

        Raises CommandError when no such task is shown.
        """
        primitive = self._tasks.get(entered.number)
        if primitive is None:
            shown = ", ".join(str(number) for number in self._tasks) or "none"
            raise CommandError(f"task {entered.number} is not shown; shown: {shown}", entered.at)
        readings = {measure.kind: quantity.si for measure, quantity in entered.readings}
        outcome = "done" if entered.done else "failed"
        return Report(primitive.number, outcome, joints, pose, readings=readings, elapsed=elapsed, note=entered.reason)
