"""The operator as a subsystem: tasks shown, results entered [JPL-RTC section 5, operator intervention]."""

from __future__ import annotations

from collections.abc import Mapping

from telerobot_nodes.rtc.decision.messages import Output, ShowTask
from telerobot_nodes.rtc.language import CommandError, TaskResult
from telerobot_nodes.rtc.skills import Primitive, Report


class OperatorTaskList:
    """The tasks shown to the operator, numbered. A task is a primitive that a person performs."""

    def __init__(self) -> None:
        self._shown: dict[int, Primitive] = {}
        self._last = 0

    @property
    def shown(self) -> Mapping[int, Primitive]:
        """Tasks shown now, by number."""
        return self._shown

    def show(self, primitive: Primitive) -> ShowTask:
        """Show a task."""
        self._last += 1
        self._shown[self._last] = primitive
        return ShowTask(self._last, primitive.number, primitive.text)

    def withdraw(self, primitive: int) -> list[Output]:
        """Withdraw the task of a primitive, if it is shown."""
        found = next((number for number, task in self._shown.items() if task.number == primitive), None)
        if found is None:
            return []
        return [ShowTask(found, primitive, self._shown.pop(found).text, shown=False)]

    def report_of(
        self, entered: TaskResult, joints: tuple[float, ...] = (), pose: tuple[float, ...] = (), elapsed: float = 0.0
    ) -> Report:
        """The report of a task, from what the operator entered and the arm's present joints [rad] and pose (7,).

        Raises CommandError when no such task is shown.
        """
        primitive = self._shown.get(entered.number)
        if primitive is None:
            shown = ", ".join(str(number) for number in self._shown) or "none"
            raise CommandError(f"task {entered.number} is not shown; shown: {shown}", entered.at)
        readings = {measure.kind: quantity.si for measure, quantity in entered.readings}
        outcome = "done" if entered.done else "failed"
        return Report(primitive.number, outcome, joints, pose, readings=readings, elapsed=elapsed, note=entered.reason)
