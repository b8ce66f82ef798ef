"""The desk before the loop: primitives asked for, one after the other, and what is said of each.

What belongs here: the queue, preparation away from the loop, orders, reports. What must never enter: messages, clocks,
threads (`work` brings its own). Exactly one end is reported of every primitive taken.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
import yaml

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.motion.control_records import ControlOutput
from telerobot_nodes.motion.control_state import ControlState
from telerobot_nodes.motion.executive import Executive, Prepared, PrimitiveRequest
from telerobot_nodes.motion.executive_queue import PrimitiveQueue
from telerobot_nodes.motion.monitors import Termination
from telerobot_nodes.motion.orders import Begin, Change, Order, Stop
from telerobot_nodes.motion.parameters import GcmsfParameters
from telerobot_nodes.motion.preparation import PreparedChange
from telerobot_nodes.motion.primitive_kinds import kind_named
from telerobot_nodes.motion.status_records import PrimitiveState

PATIENCE = 20  # times a primitive is prepared again because the arm was not where it was prepared


class Outcome(IntEnum):
    """Values equal the constants of `PrimitiveReport.msg`."""

    RUNNING = 0
    SUCCEEDED = 1
    STOPPED = 2
    REFUSED = 3


@dataclass(frozen=True)
class DeskReport:
    """What is said of one primitive; the last of it has another outcome than RUNNING."""

    id: int
    name: str
    agent: str
    outcome: Outcome
    phase: str  # queued, nominal, ending, stopping, ended
    reason: str  # Termination in lower case, or refused
    detail: str
    state: PrimitiveState | None = None  # None: it has not begun


class Work(Protocol):
    """Computes away from the calling thread, as an Executor of concurrent.futures."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Begin `function(*arguments)`."""


@dataclass
class _Turn:
    """The primitive whose turn it is."""

    request: PrimitiveRequest
    agent: str
    prepared: Future[Prepared] | None = None
    order: int = 0  # of the order to begin; 0: not given yet
    base: GcmsfParameters | None = None  # the set in force
    attempts: int = 0
    given_up: str = ""  # it shall not begin any more


@dataclass
class _Change:
    """A change asked for."""

    values: dict[str, Any]
    answer: Future[None] = field(default_factory=Future)
    prepared: Future[PreparedChange] | None = None
    order: int = 0


class PrimitiveDesk:
    """One arm's primitives. `give` hands orders to the loop; `say` hears every report. One thread."""

    def __init__(
        self,
        robot: RobotModel,
        period: float,
        give: Callable[[Order], None],
        say: Callable[[DeskReport], None],
        work: Work,
    ) -> None:
        self._executive = Executive(robot, period)  # prepares; the loop's own runs
        self._queue = PrimitiveQueue(self._executive)
        self._agents: dict[int, str] = {}
        self._give, self._say, self._work = give, say, work
        self._turn: _Turn | None = None
        self._changes: deque[_Change] = deque()
        self._last_id = 0
        self._order = 0

    def __len__(self) -> int:
        return len(self._queue) + (self._turn is not None)

    @property
    def running(self) -> PrimitiveRequest | None:
        """The primitive the loop was told to begin and whose end is not there yet."""
        turn = self._turn
        return turn.request if turn is not None and turn.order else None

    @property
    def parameters(self) -> GcmsfParameters | None:
        """The set in force of the one that runs."""
        return None if self._turn is None else self._turn.base

    def submit(self, name: str, agent: str, values: Mapping[str, Any]) -> int:
        """Take a primitive into the queue; its id. Raises InvalidValueError naming the field, or QueueFullError."""
        request = PrimitiveRequest(self._last_id + 1, name, values)
        self._queue.submit([request])
        self._last_id += 1
        self._agents[request.id] = agent
        self._say(self._report(request, Outcome.RUNNING, "queued", "running", ""))
        return request.id

    def stop(self, number: int, reason: str) -> None:
        """Stop the primitive `number`, running or waiting; 0: all."""
        turn = self._turn
        if turn is not None and number in (0, turn.request.id):
            turn.given_up = reason
            self._give(Stop(turn.request.id, reason))
        if number == 0:
            self._give_up(self._queue.clear(), reason)
        elif (waiting := self._queue.remove(number)) is not None:
            self._give_up((waiting,), reason)

    def change(self, values: Mapping[str, Any]) -> Future[None]:
        """Change the running primitive's parameters; done when the loop has, or refuses. Raises InvalidValueError."""
        turn = self._turn
        if turn is None or turn.base is None:
            raise InvalidValueError("change", sorted(values), "allowed: while a primitive runs")
        allowed = kind_named(turn.request.name).allowed
        for name in values:
            if name not in allowed:
                raise InvalidValueError(name, values[name], f"allowed for {turn.request.name}: {', '.join(allowed)}")
        change = _Change(dict(values))
        self._changes.append(change)
        return change.answer

    def update(self, now: float, output: ControlOutput, state: PrimitiveState | None, gripper: float) -> None:
        """Go on: what the loop says of itself, of its primitive (when new), and the measured opening [m]."""
        if state is not None:
            self._hear(state)
        if self._turn is None and len(self._queue):
            request = self._queue.next()
            if request is not None:
                self._turn = _Turn(request, self._agents[request.id])
        if self._turn is not None:
            self._advance(self._turn, output, gripper)
            self._advance_changes(self._turn, output)

    # helpers --------------------------------------------------------------------------------------------------

    def _hear(self, state: PrimitiveState) -> None:
        turn = self._turn
        if turn is None or turn.request.id != state.id:
            return
        reason = state.reason.name.lower()
        if state.running:
            self._say(self._report(turn.request, Outcome.RUNNING, state.phase, reason, state.detail, state))
            return
        outcome = Outcome.SUCCEEDED if state.reason.succeeded else Outcome.STOPPED
        detail = turn.given_up or state.detail
        self._end(self._report(turn.request, outcome, state.phase, reason, detail, state), state.reason)

    def _advance(self, turn: _Turn, output: ControlOutput, gripper: float) -> None:
        if turn.order and output.begun >= turn.order:
            if output.begin_refusal and turn.base is not None:
                self._not_begun(turn, output.begin_refusal)
            return
        if turn.order:
            return
        if turn.given_up:
            self._refuse(turn, turn.given_up)
        elif output.state == ControlState.FAULT:
            self._refuse(turn, f"control is FAULT: {output.reason}")
        elif turn.prepared is not None:
            self._begin(turn, turn.prepared)
        elif _ready(output):
            turn.prepared = self._work.submit(self._executive.prepare, turn.request, output.q.copy(), gripper)

    def _begin(self, turn: _Turn, prepared: Future[Prepared]) -> None:
        if not prepared.done():
            return
        try:
            motion = prepared.result()
        except TelerobotError as error:
            self._refuse(turn, str(error))
            return
        self._order += 1
        turn.order, turn.base = self._order, motion.motion.parameters
        self._give(Begin(self._order, motion))

    def _not_begun(self, turn: _Turn, refusal: str) -> None:
        """The loop would not: a window came first, a halt, or the arm was moved. It is tried again."""
        turn.attempts += 1
        if turn.attempts >= PATIENCE:
            self._refuse(turn, refusal)
            return
        turn.prepared, turn.order, turn.base = None, 0, None

    def _advance_changes(self, turn: _Turn, output: ControlOutput) -> None:
        """One change after the other: prepared, given to the loop, answered."""
        if not self._changes or turn.base is None:
            return
        change = self._changes[0]
        if change.prepared is None:
            prepare = self._executive.prepare_change
            change.prepared = self._work.submit(prepare, turn.base, change.values, output.q.copy())
        if not change.prepared.done():
            return
        try:
            prepared = change.prepared.result()
        except TelerobotError as error:
            self._answer_change(error)
            return
        if not change.order:
            self._order += 1
            change.order = self._order
            self._give(Change(self._order, prepared))
        elif output.changed >= change.order:
            if output.change_refusal:
                self._answer_change(InvalidValueError("change", sorted(change.values), output.change_refusal))
            else:
                turn.base = prepared.parameters
                self._answer_change(None)

    def _answer_change(self, error: TelerobotError | None) -> None:
        answer = self._changes.popleft().answer
        if error is None:
            answer.set_result(None)
        else:
            answer.set_exception(error)

    def _refuse(self, turn: _Turn, why: str) -> None:
        report = self._report(turn.request, Outcome.REFUSED, "ended", "refused", why)
        self._end(report, Termination.EXTERNAL_STOP)

    def _end(self, report: DeskReport, reason: Termination) -> None:
        turn, self._turn = self._turn, None
        self._agents.pop(report.id, None)
        while self._changes:
            self._answer_change(InvalidValueError("change", report.id, "allowed: while the primitive runs"))
        self._say(report)
        if turn is not None and not turn.request.accepts(reason):
            self._give_up(self._queue.clear(), f"primitive {report.id} ended: {report.reason}")

    def _give_up(self, requests: Sequence[PrimitiveRequest], why: str) -> None:
        for request in requests:
            self._say(self._report(request, Outcome.REFUSED, "ended", "refused", why))
            self._agents.pop(request.id, None)

    def _report(
        self,
        request: PrimitiveRequest,
        outcome: Outcome,
        phase: str,
        reason: str,
        detail: str,
        state: PrimitiveState | None = None,
    ) -> DeskReport:
        agent = self._agents.get(request.id, "")
        return DeskReport(request.id, request.name, agent, outcome, phase, reason, detail, state)


def _ready(output: ControlOutput) -> bool:
    resting = output.state in (ControlState.HOLDING, ControlState.STOPPED)
    return resting and not output.primitive and not np.abs(output.qd).max() > 0.0


def values_from(keys: Sequence[str], texts: Sequence[str]) -> dict[str, Any]:
    """Parameters of a message: YAML scalars or lists by name. Raises InvalidValueError naming the key."""
    if len(keys) != len(texts):
        raise InvalidValueError("values (length)", len(texts), f"allowed: {len(keys)}, one for each key")
    values: dict[str, Any] = {}
    for key, text in zip(keys, texts, strict=True):
        if key in values:
            raise InvalidValueError(key, text, "allowed: once")
        try:
            values[key] = _numbers(yaml.safe_load(text))
        except yaml.YAMLError as error:
            raise InvalidValueError(key, text, f"allowed: a YAML scalar or list ({error})") from None
    return values


def _numbers(value: Any) -> Any:
    """YAML 1.1 takes 1e-3 for a word; here it is a number."""
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value
