"""A macro on the running graph: each step is bound and sent when the one before it has ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any, TypeVar

from rclpy.serialization import deserialize_message, serialize_message

from telerobot.msg import PrimitiveParameters
from telerobot_nodes.macros import BoundStep, Context, Ended, MacroEnd, MacroFolder, Place, RecordedRun, StepEnd
from telerobot_nodes.motion.primitives import values_from
from telerobot_nodes.nodes.clients import Ongoing, Robot, RunningPrimitive, RunningText, as_texts
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
        """Run a macro on the graph of `robot`, by its name, and record it; `show` gets the end of each step.

        Raises NotTestedError unless it was tested with these numbers on this robot, or `override`.
        """
        self._robot.wait_until(lambda state: state.link is not None, LINK_LIMIT)
        link = self._robot.state.link
        place, delay = (Place.REMOTE, 0.0) if link is None else (Place.PRACTICE, link.delay)
        date = datetime.now(timezone.utc).isoformat(timespec="seconds")
        recorded = RecordedRun(macros, name, arguments, robot, date, place, delay, override)
        recorded.require_test()
        return recorded.play(self.context, self.send, show)

    def stop(self) -> None:
        """Bring the arm to rest on its path, and send no further step; from any thread."""
        self._stopped = True
        if self._running is not None:
            _stop(self._running)

    def context(self) -> Context:
        """Tool, joints and obstacles as received until now."""
        state = self._robot.state
        solids = {solid.thing: {"pose": solid.pose} for solid in reversed(self._robot.solids) if not solid.held}
        return Context(state.tool_pose, state.joint_position, solids)

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
