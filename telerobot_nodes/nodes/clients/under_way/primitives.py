"""Primitives of one robot under way: what was sent, what was reported, how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Condition
from typing import Any

from telerobot.action import ExecutePrimitive
from telerobot.msg import PrimitiveParameters
from telerobot.srv import ChangePrimitive
from telerobot_nodes.core.protocol import PrimitiveOutcome, StopCause
from telerobot_nodes.core.values import FloatArray, finite_array
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.clients.under_way.goal_sender import GoalCarrier, GoalSender, RunningGoal
from telerobot_nodes.nodes.clients.under_way.ongoing import Ongoing
from telerobot_nodes.operator.client import Outcome, PrimitiveEnd, PrimitiveReport, PrimitiveResult, Result

ACTION = "gcmsf_control/execute"
CHANGE = "gcmsf_control/change"
CHANGE_LIMIT = 10.0  # [s]

Asked = Ongoing[None, Outcome]


class RunningPrimitive(RunningGoal[PrimitiveReport, PrimitiveResult]):
    """A primitive that the control node runs, or that waits for its turn there."""

    def __init__(self, changed: Condition, limit: float, change: Callable[[Mapping[str, str]], Asked]) -> None:
        super().__init__(changed, PrimitiveResult(PrimitiveEnd.RUNNING, f"not ended in {limit:g} s"), limit)
        self._change = change

    def change(self, **values: object) -> Outcome:
        """Change parameters while it runs: all of them smoothly, or none."""
        return self.begin_change(**values).wait()

    def begin_change(self, **values: object) -> Asked:
        """Change parameters while it runs; does not wait."""
        return self._change(as_texts(values))

    def not_served(self, why: str) -> None:
        """End it: nobody has taken the goal."""
        self.finish(PrimitiveResult(PrimitiveEnd.NOT_SERVED, why))

    def receive(self, message: Any) -> None:
        """Take a message of feedback."""
        self.tell(primitive_from_message(message.report))

    def ended_with(self, result: Any) -> None:
        """Take the result; None: the end was not reported."""
        if result is None:
            self.finish(PrimitiveResult(PrimitiveEnd.NO_ANSWER, "the end was not reported", self.report))
            return
        report = primitive_from_message(result.report)
        self.finish(PrimitiveResult(report.state, report.reason, report))


class Primitives:
    """The primitives of one sender."""

    def __init__(self, carrier: GoalCarrier, changed: Condition, agent: str) -> None:
        self._carrier, self._changed, self._agent = carrier, changed, agent
        self._goals, self._changes = carrier.action_client(ACTION), carrier.client(CHANGE)
        self._sender = GoalSender(carrier, changed)

    def begin(self, name: str, values: Mapping[str, object], limit: float) -> RunningPrimitive:
        """Send a goal, as soon as the control node is found."""
        running = RunningPrimitive(self._changed, limit, self.change)
        goal = ExecutePrimitive.Goal(parameters=parameters_message(name, values, self._agent))
        self._sender.send(self._goals, ACTION, goal, running)
        return running

    def change(self, values: Mapping[str, str]) -> Asked:
        """Change parameters of the primitive that runs."""
        late = Outcome(Result.NO_ANSWER, f"no answer in {CHANGE_LIMIT:g} s")
        asked: Asked = Ongoing(self._changed, late, CHANGE_LIMIT)
        request = ChangePrimitive.Request(keys=list(values), values=list(values.values()))

        def answered(future: Any) -> None:
            done = future.result()
            asked.finish(Outcome(Result.DONE if done.success else Result.REFUSED, done.message))

        def send() -> bool:
            if not self._changes.service_is_ready():
                return False
            self._changes.call_async(request).add_done_callback(self._carrier.guarded(answered))
            return True

        with self._changed:
            if not send():
                self._sender.later(send, lambda: asked.finish(Outcome(Result.NOT_SERVED, f"no node serves {CHANGE}")))
        return asked

    def step(self, now: float) -> None:
        """Send what could not be sent before."""
        self._sender.step(now)


def parameters_message(name: str, values: Mapping[str, object], agent: str = "") -> Any:
    """A primitive with its parameters as PrimitiveParameters.msg."""
    texts = as_texts(values)
    return PrimitiveParameters(name=name, agent=agent, keys=list(texts), values=list(texts.values()))


def as_texts(values: Mapping[str, object]) -> dict[str, str]:
    """Parameters as YAML texts: numbers, texts, truth values, and sequences or arrays of them."""
    return {name: _yaml(name, value) for name, value in values.items()}


def _yaml(name: str, value: object) -> str:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_yaml(name, entry) for entry in value)}]"
    raise InvalidValueError(name, value, "allowed: numbers, texts, truth values, and sequences of them")


def primitive_from_message(message: Any) -> PrimitiveReport:
    """Value of PrimitiveReport.msg; raises InvalidValueError naming the field."""

    def array(name: str) -> FloatArray:
        return finite_array(getattr(message, name), name)

    return PrimitiveReport(
        number=message.id,
        name=message.name,
        state=PrimitiveEnd[PrimitiveOutcome(message.state).name],
        phase=message.phase,
        reason=message.reason,
        detail=message.detail,
        cause=StopCause(message.cause),
        joint_position=array("joint_position"),
        tool_pose=array("tool_pose"),
        wrench=array("wrench"),
        gripper=message.gripper,
        elapsed=message.elapsed,
        sensor_distance=message.sensor_distance,
        sensor_angle=message.sensor_angle,
        readings=dict(zip(message.reading_names, message.readings, strict=True)),
    )
