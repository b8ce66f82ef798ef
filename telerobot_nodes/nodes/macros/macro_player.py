"""A macro on the running graph: each step is bound and sent when the one before it has ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, TypeVar

from rclpy.serialization import deserialize_message, serialize_message

from telerobot.msg import PrimitiveParameters
from telerobot_nodes.core.protocol import PrimitiveOutcome
from telerobot_nodes.macros import BoundStep, Context, Ended, MacroEnd, MacroFolder, Place, RecordedRun, StepEnd
from telerobot_nodes.motion.primitives import values_from
from telerobot_nodes.nodes.clients import Ongoing, Robot, RunningPrimitive, RunningText, as_texts, run_sequence
from telerobot_nodes.operator.client import CommandResult, PrimitiveEnd, PrimitiveResult

LINK_LIMIT = 5.0  # [s] for an emulated link to report; after that it is a real one
STOPPED = "stopped"  # by a person, before the step was sent
End = TypeVar("End")


class MacroPlayer:
    """Sends the steps of a macro to one robot; `context` and `send` are what a run asks for."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._running: RunningPrimitive | RunningText | None = None
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

    def _wait(self, running: Ongoing[Any, End]) -> End:
        if self._stopped:  # since the step was begun
            _stop(running)
        try:
            return running.wait()
        except KeyboardInterrupt:
            _stop(running)
            return running.wait()


def _stop(running: object) -> None:
    if isinstance(running, RunningPrimitive):
        running.stop()
    elif isinstance(running, RunningText):
        running.cancel()


def send_whole(
    name: str, steps: Sequence[BoundStep], namespace: str, limit: float, show: Callable[[StepEnd], None]
) -> MacroEnd:
    """Run steps as one sequence at the robot. Interrupted, it stops the arm on its path. `show` gets each end."""
    ends: dict[int, StepEnd] = {}

    def note(number: int, report: Any) -> None:
        if report.state != PrimitiveOutcome.RUNNING and number not in ends:
            step = steps[number - 1]
            accepted = step.step.accepts(report.reason)
            ends[number] = StepEnd(step.label, report.reason, accepted, report.detail, report.elapsed)
            show(ends[number])

    sent = [(step.step.primitive, as_texts(step.values), step.step.accept) for step in steps]
    result = run_sequence(name, sent, namespace, limit, note)
    if result.done < len(steps):
        note(result.done + 1, result.report)
    for number in range(1, result.done + 1):
        lost = StepEnd(steps[number - 1].label, "accepted", True, "its report was lost on the way")
        ends.setdefault(number, lost)
    return MacroEnd(tuple(ends[number] for number in sorted(ends)), result.done == len(steps))


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
