"""A macro on the running graph: each step is bound and sent when the one before it has ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, TypeVar

from rclpy.serialization import deserialize_message, serialize_message

from telerobot.msg import PrimitiveParameters
from telerobot_nodes.macros import BoundStep, Context, Ended, MacroEnd, MacroFolder, Place, RecordedRun, StepEnd
from telerobot_nodes.motion.primitives import values_from
from telerobot_nodes.nodes.clients import Ongoing, Robot, RunningPrimitive, RunningSequence, RunningText, as_texts
from telerobot_nodes.operator.client import (
    CommandResult,
    PrimitiveEnd,
    PrimitiveReport,
    PrimitiveResult,
    PrimitiveStep,
    SequenceResult,
)

LINK_LIMIT = 5.0  # [s] for an emulated link to report; after that it is a real one
STOPPED = "stopped"  # by a person, before the step was sent
End = TypeVar("End")


class MacroPlayer:
    """Sends the steps of a macro to one robot; `context` and `send` are what a run asks for."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._running: RunningPrimitive | RunningSequence | RunningText | None = None
        self._stopped = False

    def run(
        self,
        macros: MacroFolder,
        name: str,
        arguments: Mapping[str, object],
        robot: str,
        override: bool = False,
        show: Callable[[StepEnd], None] = lambda end: None,
    ) -> MacroEnd:
        """Run a macro step by step on the graph of `robot`, by its name; `show` gets the end of each step.

        It is recorded. Raises NotTestedError as `recorded` does.
        """
        return self.recorded(macros, name, arguments, robot, override).play(self.context, self.send, show)

    def recorded(
        self, macros: MacroFolder, name: str, arguments: Mapping[str, object], robot: str, override: bool = False
    ) -> RecordedRun:
        """A run of a macro on this graph, which begins when it is told to.

        Raises NotTestedError unless it was tested with these numbers on this robot, or `override`.
        """
        self._robot.wait_until(lambda state: state.link is not None, LINK_LIMIT)
        link = self._robot.state.link
        place, delay = (Place.REMOTE, 0.0) if link is None else (Place.PRACTICE, link.delay)
        date = datetime.now(timezone.utc).isoformat(timespec="seconds")
        recorded = RecordedRun(macros, name, arguments, robot, date, place, delay, override)
        recorded.require_test()
        return recorded

    def stop(self) -> None:
        """Bring the arm to rest on its path, and send no further step; from any thread."""
        self._stopped = True
        if self._running is not None:
            _stop(self._running)

    def context(self) -> Context:
        """Tool, joints, obstacles and the camera's place as received until now."""
        state = self._robot.state
        solids = {solid.thing: {"pose": solid.pose} for solid in reversed(self._robot.solids) if not solid.held}
        return Context(state.tool_pose, state.joint_position, solids, tuple(self._robot.camera_pose.tolist()))

    def send(self, step: BoundStep) -> Ended:
        """Run one step to its end. Interrupted, it stops the arm on its path."""
        if self._stopped:
            return Ended(STOPPED)
        if step.text:
            self._running = running = self._robot.begin(step.text)
            return text_ended(self._wait(running))
        self._running = primitive = self._robot.begin_primitive(step.step.primitive, step.values)
        return primitive_ended(self._wait(primitive))

    def send_whole(
        self, name: str, steps: Sequence[BoundStep], limit: float, show: Callable[[StepEnd], None]
    ) -> MacroEnd:
        """Run steps as one sequence at the robot, within `limit` [s]. Interrupted, it stops the arm on its path.

        `show` gets the end of each step; those whose reports were lost on the way at the end of all.
        """
        if self._stopped:
            return MacroEnd((), False)
        sent = [PrimitiveStep(step.step.primitive, step.values, tuple(step.step.accept)) for step in steps]
        self._running = running = self._robot.sequence(sent, name, limit)
        ends = _SequenceEnds(steps, show)
        try:
            for report in running:
                ends.take(report.step, report.primitive)
        except KeyboardInterrupt:
            _stop(running)
        return ends.close(self._wait(running))

    def _wait(self, running: Ongoing[Any, End]) -> End:
        if self._stopped:  # since the step was begun
            _stop(running)
        try:
            return running.wait()
        except KeyboardInterrupt:
            _stop(running)
            return running.wait()


class _SequenceEnds:
    """The ends of a sequence's steps, from its reports, of which some may be lost on a link."""

    def __init__(self, steps: Sequence[BoundStep], show: Callable[[StepEnd], None]) -> None:
        self._steps, self._show = steps, show
        self._ends: dict[int, StepEnd] = {}

    def take(self, number: int, report: PrimitiveReport) -> None:
        """A report of step `number`, from 1."""
        if report.state is not PrimitiveEnd.RUNNING and number not in self._ends:
            step = self._steps[number - 1]
            result = report.reason or report.state.value
            accepted = step.step.accepts(result)
            self._ends[number] = StepEnd(step.label, result, accepted, report.detail, report.elapsed)
            self._show(self._ends[number])

    def close(self, result: SequenceResult) -> MacroEnd:
        """The end of all."""
        failed = result.done + 1
        if failed <= len(self._steps):
            if result.report is not None:
                self.take(failed, result.report)
            if failed not in self._ends:  # it did not begin, or its end is not known
                self._ends[failed] = StepEnd(self._steps[result.done].label, result.end.value, False, result.reason)
        for number, step in enumerate(self._steps[: result.done], 1):
            self._ends.setdefault(number, StepEnd(step.label, "accepted", True, "its report was lost on the way"))
        return MacroEnd(tuple(self._ends[number] for number in sorted(self._ends)), result.ok)


def _stop(running: object) -> None:
    if isinstance(running, RunningPrimitive | RunningSequence):
        running.stop()
    elif isinstance(running, RunningText):
        running.cancel()


def primitive_ended(result: PrimitiveResult) -> Ended:
    """The reason of a primitive that ran; else what became of it."""
    ran = result.end in (PrimitiveEnd.SUCCEEDED, PrimitiveEnd.STOPPED)
    report = result.report
    detail = report.detail if report is not None else result.reason
    return Ended(result.reason if ran else result.end.value, detail, report.elapsed if report is not None else 0.0)


def text_ended(result: CommandResult) -> Ended:
    """The end of a text."""
    return Ended(result.end.value, result.answer, result.report.elapsed if result.report is not None else 0.0)


def as_received(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a primitive as the robot's host reads them from the message that carries them."""
    texts = as_texts(values)
    message = PrimitiveParameters(name=name, agent="", keys=list(texts), values=list(texts.values()))
    received = deserialize_message(serialize_message(message), PrimitiveParameters)
    return values_from(received.keys, received.values)
