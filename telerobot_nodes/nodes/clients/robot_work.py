"""Texts and primitives of one robot under way: what was sent, what was reported, how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Condition
from typing import Any, Protocol

from action_msgs.msg import GoalStatus

from telerobot.action import ExecutePrimitive
from telerobot.msg import PrimitiveParameters
from telerobot.srv import ChangePrimitive
from telerobot_nodes.core.protocol import PrimitiveOutcome, StopCause
from telerobot_nodes.core.values import FloatArray, finite_array
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.clients.carrier import Carrier
from telerobot_nodes.nodes.clients.ongoing import Ongoing
from telerobot_nodes.nodes.clients.text_sender import REPORTS, TASKS, TextSender
from telerobot_nodes.operator.client import (
    CommandEnd,
    CommandReport,
    CommandResult,
    Outcome,
    PrimitiveEnd,
    PrimitiveReport,
    PrimitiveResult,
    ReportKind,
    Result,
    TrialStep,
)

ACTION = "gcmsf_control/execute"
CHANGE = "gcmsf_control/change"
FOUND_LIMIT = 5.0  # [s] for the control node to be found
CHANGE_LIMIT = 10.0  # [s]
GONE = 10.0  # [s] without a publisher of reports

Asked = Ongoing[None, Outcome]
Attempt = tuple[float, Callable[[], bool], Callable[[], None]]  # until [s], send if it can be sent, give up


class RunningText(Ongoing[CommandReport, CommandResult]):
    """A text that the decision unit executes."""

    def __init__(self, changed: Condition, limit: float, cancel: Callable[[str], object]) -> None:
        super().__init__(changed, CommandResult(CommandEnd.RUNNING, f"not ended in {limit:g} s"), limit)
        self.command = 0  # number; 0: none yet
        self._cancel = cancel

    def cancel(self) -> None:
        """Ask for its end; `wait` returns it."""
        if self.command and not self.ended:
            self._cancel(f"cancel command {self.command}")

    def receive(self, report: CommandReport) -> None:
        """Take a report of this text, on the graph's side."""
        self.command = self.command or report.command
        self.tell(report)
        if report.kind is ReportKind.REPLY and not report.command:
            end = CommandEnd.ANSWERED if report.ok else CommandEnd.REFUSED
            self.finish(CommandResult(end, "" if report.ok else report.text, report))
        elif report.kind is ReportKind.ENDED and not report.more and report.end is not None:
            self.finish(CommandResult(report.end, report.reason, report))


class Texts:
    """The texts of one sender."""

    def __init__(self, carrier: Carrier, changed: Condition, sender: str) -> None:
        self._carrier, self._changed = carrier, changed
        self._sender = TextSender(carrier, sender)
        self._running: dict[int, RunningText] = {}
        self._alive = carrier.now()  # [s] when reports were published last
        self.tasks: dict[int, str] = {}  # shown to the operator now
        carrier.subscribe(REPORTS, self._on_report)
        carrier.subscribe(TASKS, self._on_task)

    def begin(self, text: str, limit: float) -> RunningText:
        """Send a text."""
        with self._changed:
            running = RunningText(self._changed, limit, lambda words: self.begin(words, limit))
            self._running[self._sender.send(text, self._carrier.now())] = running
            return running

    def step(self, now: float) -> None:
        """Send again what is due; end what is not answered."""
        late = [sent.number for sent in self._sender.step(now)]
        if self._carrier.node.count_publishers(self._carrier.topic_name(REPORTS)) or not self._running:
            self._alive = now
        gone = list(self._running) if now - self._alive > GONE else []
        for number in (*late, *gone):
            running = self._running.pop(number, None)
            if running is not None:
                running.finish(CommandResult(CommandEnd.NO_ANSWER, "the decision unit has gone" if gone else ""))

    def _on_report(self, message: Any) -> None:
        if not self._sender.take(message, self._carrier.now()):
            return
        running = self._running.get(message.text_number)
        if running is not None:
            running.receive(report_from_message(message))
            if running.ended:
                del self._running[message.text_number]

    def _on_task(self, message: Any) -> None:
        if message.shown:
            self.tasks[message.task] = message.text
        else:
            self.tasks.pop(message.task, None)


class RunningPrimitive(Ongoing[PrimitiveReport, PrimitiveResult]):
    """A primitive that the control node runs, or that waits for its turn there."""

    def __init__(self, changed: Condition, limit: float, change: Callable[[Mapping[str, str]], Asked]) -> None:
        super().__init__(changed, PrimitiveResult(PrimitiveEnd.RUNNING, f"not ended in {limit:g} s"), limit)
        self._change = change
        self._handle: Any = None
        self._stop = False

    def change(self, **values: object) -> Outcome:
        """Change parameters while it runs: all of them smoothly, or none."""
        return self.begin_change(**values).wait()

    def begin_change(self, **values: object) -> Asked:
        """Change parameters while it runs; does not wait."""
        return self._change(as_texts(values))

    def stop(self) -> None:
        """Bring the arm to rest on its path; `wait` returns the end."""
        with self._changed:
            self._stop = True
            if self._handle is not None and not self.ended:
                self._handle.cancel_goal_async()

    def accepted(self, handle: Any) -> None:
        """Take the answer to the goal, on the graph's side."""
        self._handle = handle
        if self._stop:
            self.stop()

    def ended_with(self, answer: Any) -> None:
        """Take the answer to the request for the result."""
        if answer.status == GoalStatus.STATUS_UNKNOWN:
            self.finish(PrimitiveResult(PrimitiveEnd.NO_ANSWER, "the end was not reported", self.report))
            return
        report = primitive_from_message(answer.result.report)
        self.finish(PrimitiveResult(report.state, report.reason, report))


class GoalCarrier(Protocol):
    """What the primitives need of what carries them: a `Carrier`, or a node of the graph table."""

    @property
    def namespace(self) -> str:
        """Namespace of the arm, without a slash at its end; empty: root."""

    def action_client(self, name: str) -> Any:
        """Client of an action of the table."""

    def client(self, name: str) -> Any:
        """Client of a service of the table."""

    def guarded(self, callback: Callable[..., None]) -> Callable[..., None]:
        """`callback` with its errors logged."""

    def now(self) -> float:
        """Host monotonic time [s]."""


class Primitives:
    """The primitives of one sender."""

    def __init__(self, carrier: GoalCarrier, changed: Condition, agent: str) -> None:
        self._carrier, self._changed, self._agent = carrier, changed, agent
        self._goals, self._changes = carrier.action_client(ACTION), carrier.client(CHANGE)
        self._waiting: list[
            tuple[float, Callable[[], bool], Callable[[], None]]
        ] = []  # until [s], ready and send, late

    def begin(self, name: str, values: Mapping[str, object], limit: float) -> RunningPrimitive:
        """Send a goal, as soon as the control node is found."""
        running = RunningPrimitive(self._changed, limit, self.change)
        texts = as_texts(values)
        parameters = PrimitiveParameters(name=name, agent=self._agent, keys=list(texts), values=list(texts.values()))

        def send() -> bool:
            if not self._goals.server_is_ready():
                return False
            feedback = self._carrier.guarded(lambda m: running.tell(primitive_from_message(m.feedback.report)))
            sent = self._goals.send_goal_async(ExecutePrimitive.Goal(parameters=parameters), feedback)
            sent.add_done_callback(self._carrier.guarded(lambda future: self._answered(running, future)))
            return True

        missing = PrimitiveResult(PrimitiveEnd.NOT_SERVED, f"no node serves {self._carrier.namespace}/{ACTION}")
        # On the graph's side: rclpy loses an answer that its thread takes before this one has noted the question.
        self._later(send, lambda: running.finish(missing))
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

        self._try(send, lambda: asked.finish(Outcome(Result.NOT_SERVED, f"no node serves {CHANGE}")))
        return asked

    def step(self, now: float) -> None:
        """Send what could not be sent before."""
        self._waiting, waiting = [], self._waiting
        for until, send, late in waiting:
            if not send():
                if now < until:
                    self._waiting.append((until, send, late))
                else:
                    late()

    def _try(self, send: Callable[[], bool], late: Callable[[], None]) -> None:
        with self._changed:
            if not send():
                self._later(send, late)

    def _later(self, send: Callable[[], bool], late: Callable[[], None]) -> None:
        with self._changed:
            self._waiting.append((self._carrier.now() + FOUND_LIMIT, send, late))

    def _answered(self, running: RunningPrimitive, future: Any) -> None:
        handle = future.result()
        if handle is None or not handle.accepted:
            running.finish(PrimitiveResult(PrimitiveEnd.NOT_SERVED, "the goal was not accepted: not active"))
            return
        running.accepted(handle)
        ended = self._carrier.guarded(lambda result: running.ended_with(result.result()))
        handle.get_result_async().add_done_callback(ended)


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


def report_from_message(message: Any) -> CommandReport:
    """Value of CommandReport.msg."""
    steps = (TrialStep(t.step, t.kind, t.ok, t.note, t.duration, tuple(t.target)) for t in message.trial)
    return CommandReport(
        kind=ReportKind(message.kind),
        text=message.text,
        ok=message.ok,
        command=message.command,
        end=CommandEnd(message.outcome) if message.outcome else None,
        reason=message.reason,
        step=message.step,
        steps_done=message.steps_done,
        trims=tuple(message.trims),
        notes=tuple(message.notes),
        trial=tuple(steps),
        elapsed=message.elapsed,
        more=message.more,
    )


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
