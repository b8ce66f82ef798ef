"""Scheduler of primitive goals: queues them, prepares each off the control thread and reports its outcome.

What belongs here: the queue, preparation, orders to the loop, reports. What must never enter: messages, clocks, threads
(`executor` brings its own). The last report of every accepted primitive, and only that one, is final.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from telerobot_nodes.core.protocol import ControlState, PrimitiveOutcome
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.loop import Begin, Change, ControlOutput, Order, PrimitiveState, Stop
from telerobot_nodes.motion.parameters import GcmsfParameters, kind_named
from telerobot_nodes.motion.primitives import Executive, Prepared, PreparedChange, PrimitiveQueue, PrimitiveRequest

MAX_PREPARE_ATTEMPTS = 20  # a primitive is prepared again when the loop rejects it, because the arm had moved


@dataclass(frozen=True)
class SchedulerReport:
    """Progress of one primitive; its last report has another outcome than RUNNING."""

    id: int
    name: str
    agent: str
    outcome: PrimitiveOutcome
    phase: str  # queued, nominal, ending, stopping, ended
    reason: str  # Termination in lower case, or refused
    detail: str
    state: PrimitiveState | None = None  # None: not begun


class WorkExecutor(Protocol):
    """Computes outside the calling thread, as an Executor of concurrent.futures."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Start `function(*arguments)`."""


@dataclass
class ActivePrimitive:
    """The primitive that is prepared or runs."""

    request: PrimitiveRequest
    agent: str
    prepared: Future[Prepared] | None = None
    order: int = 0  # number of the order to begin; 0: not sent yet
    base: GcmsfParameters | None = None  # the set in force
    attempts: int = 0
    cancelled: str = ""  # why it must not begin any more


@dataclass
class _Change:
    """A requested change of parameters."""

    values: dict[str, Any]
    answer: Future[None] = field(default_factory=Future)
    prepared: Future[PreparedChange] | None = None
    order: int = 0


class PrimitiveScheduler:
    """The primitives of one arm, one after the other. One thread.

    `send_order` passes an order to the loop; `on_report` receives every report; `executor` prepares.
    """

    def __init__(
        self,
        robot: RobotModel,
        period: float,
        send_order: Callable[[Order], None],
        on_report: Callable[[SchedulerReport], None],
        executor: WorkExecutor,
    ) -> None:
        self._executive = Executive(robot, period)  # only prepares; the loop runs its own
        self._queue = PrimitiveQueue(self._executive)
        self._agents: dict[int, str] = {}
        self._send_order, self._on_report, self._executor = send_order, on_report, executor
        self._active: ActivePrimitive | None = None
        self._changes: deque[_Change] = deque()
        self.stops = 0  # times that all were stopped
        self._last_id = 0
        self._order = 0

    def __len__(self) -> int:
        return len(self._queue) + (self._active is not None)

    @property
    def running(self) -> PrimitiveRequest | None:
        """The primitive that the loop was ordered to begin and that has not ended."""
        active = self._active
        return active.request if active is not None and active.order else None

    @property
    def parameters(self) -> GcmsfParameters | None:
        """The running primitive's set in force."""
        return None if self._active is None else self._active.base

    def submit(
        self, name: str, agent: str, values: Mapping[str, Any], accept: tuple[str, ...] = (), first: bool = False
    ) -> int:
        """Queue a primitive, `first`: before those that wait; returns its id. Raises InvalidValueError, QueueFullError.

        `accept`: Terminations after which those that wait go on; none: the successful ones.
        """
        request = PrimitiveRequest(self._last_id + 1, name, values, accept)
        if first:
            self._queue.submit_first(request)
        else:
            self._queue.submit([request])
        self._last_id += 1
        self._agents[request.id] = agent
        self._on_report(self._report(request, PrimitiveOutcome.RUNNING, "queued", "running", ""))
        return request.id

    def stop(self, number: int, reason: str) -> None:
        """Stop the primitive `number`, active or waiting; 0: all."""
        active = self._active
        if active is not None and number in (0, active.request.id):
            active.cancelled = reason
            self._send_order(Stop(active.request.id, reason))
        if number == 0:
            self.stops += 1
            self._reject_all(self._queue.clear(), reason)
        elif (waiting := self._queue.remove(number)) is not None:
            self._reject_all((waiting,), reason)

    def change(self, values: Mapping[str, Any]) -> Future[None]:
        """Change the running primitive's parameters; the future ends when the loop did or rejected it.

        Raises InvalidValueError.
        """
        active = self._active
        if active is None or active.base is None:
            raise InvalidValueError("change", sorted(values), "allowed: while a primitive runs")
        allowed = kind_named(active.request.name).allowed
        for name in values:
            if name not in allowed:
                raise InvalidValueError(name, values[name], f"allowed for {active.request.name}: {', '.join(allowed)}")
        change = _Change(dict(values))
        self._changes.append(change)
        return change.answer

    def update(self, now: float, output: ControlOutput, state: PrimitiveState | None, gripper: float) -> None:
        """Advance by the loop's output, the status of its primitive (None: no new one) and the measured opening [m]."""
        if state is not None:
            self._on_status(state)
        if self._active is None and len(self._queue):
            request = self._queue.next()
            if request is not None:
                self._active = ActivePrimitive(request, self._agents[request.id])
        if self._active is not None:
            self._advance(self._active, output, gripper)
            self._advance_changes(self._active, output)

    # helpers --------------------------------------------------------------------------------------------------

    def _on_status(self, state: PrimitiveState) -> None:
        active = self._active
        if active is None or active.request.id != state.id:
            return
        reason = state.reason.name.lower()
        if state.running:
            self._on_report(
                self._report(active.request, PrimitiveOutcome.RUNNING, state.phase, reason, state.detail, state)
            )
            return
        outcome = PrimitiveOutcome.SUCCEEDED if state.reason.succeeded else PrimitiveOutcome.STOPPED
        detail = active.cancelled or state.detail
        self._end(self._report(active.request, outcome, state.phase, reason, detail, state), state.reason)

    def _advance(self, active: ActivePrimitive, output: ControlOutput, gripper: float) -> None:
        if active.order and output.begun >= active.order:
            if output.begin_refusal and active.base is not None:
                self._retry(active, output.begin_refusal)
            return
        if active.order:
            return
        if active.cancelled:
            self._reject(active, active.cancelled)
        elif output.halted:
            halt = f"halt {output.halt_count}: {output.halt_reason}"
            self._reject(active, f"{halt}; allowed: after RESUME of halt {output.halt_count}")
        elif output.state == ControlState.FAULT:
            self._reject(active, f"control is FAULT: {output.reason}")
        elif active.prepared is not None:
            self._begin(active, active.prepared)
        elif _ready(output):
            active.prepared = self._executor.submit(self._executive.prepare, active.request, output.q.copy(), gripper)

    def _begin(self, active: ActivePrimitive, prepared: Future[Prepared]) -> None:
        if not prepared.done():
            return
        try:
            motion = prepared.result()
        except TelerobotError as error:
            self._reject(active, str(error))
            return
        self._order += 1
        active.order, active.base = self._order, motion.motion.parameters
        self._send_order(Begin(self._order, motion))

    def _retry(self, active: ActivePrimitive, refusal: str) -> None:
        """Prepare it again: the loop rejected it, because of a window, a halt or a motion of the arm."""
        active.attempts += 1
        if active.attempts >= MAX_PREPARE_ATTEMPTS:
            self._reject(active, refusal)
            return
        active.prepared, active.order, active.base = None, 0, None

    def _advance_changes(self, active: ActivePrimitive, output: ControlOutput) -> None:
        """Handle one change after the other: prepare, order, answer."""
        if not self._changes or active.base is None:
            return
        change = self._changes[0]
        if change.prepared is None:
            prepare = self._executive.prepare_change
            change.prepared = self._executor.submit(prepare, active.base, change.values, output.q.copy())
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
            self._send_order(Change(self._order, prepared))
        elif output.changed >= change.order:
            if output.change_refusal:
                self._answer_change(InvalidValueError("change", sorted(change.values), output.change_refusal))
            else:
                active.base = prepared.parameters
                self._answer_change(None)

    def _answer_change(self, error: TelerobotError | None) -> None:
        answer = self._changes.popleft().answer
        if error is None:
            answer.set_result(None)
        else:
            answer.set_exception(error)

    def _reject(self, active: ActivePrimitive, why: str) -> None:
        report = self._report(active.request, PrimitiveOutcome.REFUSED, "ended", "refused", why)
        self._end(report, Termination.EXTERNAL_STOP)

    def _end(self, report: SchedulerReport, reason: Termination) -> None:
        active, self._active = self._active, None
        self._agents.pop(report.id, None)
        while self._changes:
            self._answer_change(InvalidValueError("change", report.id, "allowed: while the primitive runs"))
        self._on_report(report)
        if active is not None and not active.request.accepts(reason):
            self._reject_all(self._queue.clear(), f"primitive {report.id} ended: {report.reason}")

    def _reject_all(self, requests: Sequence[PrimitiveRequest], why: str) -> None:
        for request in requests:
            self._on_report(self._report(request, PrimitiveOutcome.REFUSED, "ended", "refused", why))
            self._agents.pop(request.id, None)

    def _report(
        self,
        request: PrimitiveRequest,
        outcome: PrimitiveOutcome,
        phase: str,
        reason: str,
        detail: str,
        state: PrimitiveState | None = None,
    ) -> SchedulerReport:
        agent = self._agents.get(request.id, "")
        return SchedulerReport(request.id, request.name, agent, outcome, phase, reason, detail, state)


def _ready(output: ControlOutput) -> bool:
    resting = output.state in (ControlState.HOLDING, ControlState.STOPPED)
    return resting and not output.primitive and not np.abs(output.qd).max() > 0.0
