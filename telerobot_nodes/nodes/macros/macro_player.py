"""A macro on the running graph: each step is bound and sent when the one before it has ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rclpy.serialization import deserialize_message, serialize_message

from telerobot.msg import PrimitiveParameters
from telerobot_nodes.core.protocol import PrimitiveOutcome
from telerobot_nodes.macros import BoundStep, Context, Ended, MacroEnd, StepEnd
from telerobot_nodes.motion.primitives import values_from
from telerobot_nodes.nodes.clients import Robot, RunningPrimitive, RunningText, as_texts, run_sequence
from telerobot_nodes.operator.client import CommandResult, PrimitiveEnd, PrimitiveResult


class MacroPlayer:
    """Sends the steps of a macro to one robot; `context` and `send` are what `play` and `steps_of` ask for."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot

    def context(self) -> Context:
        """Tool, joints and obstacles as received until now."""
        state = self._robot.state
        solids = {solid.thing: {"pose": solid.pose} for solid in reversed(self._robot.solids) if not solid.held}
        return Context(state.tool_pose, state.joint_position, solids)

    def send(self, step: BoundStep) -> Ended:
        """Run one step to its end. Interrupted, it stops the arm on its path."""
        if step.text:
            return self._run_text(self._robot.begin(step.text))
        return self._run_primitive(self._robot.begin_primitive(step.step.primitive, step.values))

    def _run_primitive(self, running: RunningPrimitive) -> Ended:
        try:
            result = running.wait()
        except KeyboardInterrupt:
            running.stop()
            result = running.wait()
        return primitive_ended(result)

    def _run_text(self, running: RunningText) -> Ended:
        try:
            return text_ended(running.wait())
        except KeyboardInterrupt:
            running.cancel()
            return text_ended(running.wait())


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
