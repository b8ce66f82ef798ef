"""A sequence of primitives as one request: checked whole, then run in order, each step once [US5231693 claim 1].

What belongs here: the steps, which of them runs, and how the sequence ends. What must never enter: messages, clocks,
threads. Each step is a primitive of the scheduler, before those of others that wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum

from telerobot_nodes.core.protocol import PrimitiveOutcome, next_state
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.primitives import PrimitiveRequest, check_request, values_from
from telerobot_nodes.motion.scheduling.primitive_scheduler import PrimitiveScheduler, SchedulerReport

MOST_STEPS = 5000


class SequenceState(Enum):
    """Where a sequence is."""

    CHECKING = "its steps are checked; none has begun"
    RUNNING = "one of its steps runs or is prepared"
    ENDED = "no further step begins"


class SequenceEvent(Enum):
    """What happens to a sequence."""

    FITS = "every step fits the robot"
    REFUSED = "a step does not fit, or it was stopped before it began"
    ACCEPTED = "a step ended with an accepted result; it was not the last"
    COMPLETED = "the last step ended with an accepted result"
    NOT_ACCEPTED = "a step ended with another result"


_S, _E = SequenceState, SequenceEvent

TABLE: dict[tuple[SequenceState, SequenceEvent], SequenceState] = {
    (_S.CHECKING, _E.FITS): _S.RUNNING,
    (_S.CHECKING, _E.REFUSED): _S.ENDED,
    (_S.RUNNING, _E.ACCEPTED): _S.RUNNING,
    (_S.RUNNING, _E.COMPLETED): _S.ENDED,
    (_S.RUNNING, _E.NOT_ACCEPTED): _S.ENDED,
}


@dataclass(frozen=True)
class SequenceStep:
    """One step as a message carries it."""

    name: str  # of the primitive
    keys: Sequence[str]
    texts: Sequence[str]  # YAML scalars or lists, one per key
    accept: str = ""  # results after which the sequence goes on, separated by spaces; empty: the successful ones


def check_steps(robot: RobotModel, steps: Sequence[SequenceStep]) -> tuple[PrimitiveRequest, ...]:
    """The primitives of a sequence that fits `robot`; pure, callable from any thread.

    Poses out of reach are found when a step begins. Raises InvalidValueError naming step and field.
    """
    if not 0 < len(steps) <= MOST_STEPS:
        raise InvalidValueError("steps", len(steps), f"allowed: 1 .. {MOST_STEPS}")
    return tuple(_checked(robot, number, step) for number, step in enumerate(steps, 1))


def _checked(robot: RobotModel, number: int, step: SequenceStep) -> PrimitiveRequest:
    try:
        accept = tuple(word.upper() for word in step.accept.split())
        if Termination.EXTERNAL_STOP.name in accept:
            raise InvalidValueError("accept", step.accept, "allowed: results; a stop from outside ends every sequence")
        request = PrimitiveRequest(number, step.name, values_from(step.keys, step.texts), accept)
        check_request(robot, request)
    except InvalidValueError as error:
        raise InvalidValueError(f"steps[{number}].{error.field}", error.value, error.allowed) from None
    return request


class PrimitiveSequence:
    """One sequence at one scheduler; `update` and `take` move it on, in this order with the scheduler's own."""

    def __init__(
        self, scheduler: PrimitiveScheduler, agent: str, checked: Future[tuple[PrimitiveRequest, ...]]
    ) -> None:
        """`checked`: the result of `check_steps`, on its way."""
        self.state = SequenceState.CHECKING
        self.done = 0  # steps that ended with an accepted result
        self.last: SchedulerReport | None = None  # of a step
        self.why = ""  # none began
        self._scheduler, self._agent, self._checked = scheduler, agent, checked
        self._stops = scheduler.stops
        self._steps: tuple[PrimitiveRequest, ...] = ()
        self._id = 0  # of the step that runs
        self._cancelled = ""

    @property
    def ended(self) -> bool:
        """Whether no further step begins."""
        return self.state is SequenceState.ENDED

    @property
    def completed(self) -> bool:
        """Whether every step ended with an accepted result."""
        return self.ended and 0 < self.done == len(self._steps)

    def cancel(self, reason: str) -> None:
        """Stop the arm on its path; no further step begins."""
        self._cancelled = self._cancelled or reason
        if self.state is SequenceState.RUNNING:
            self._scheduler.stop(self._id, reason)

    def update(self) -> None:
        """Begin when the check is done."""
        if self.state is not SequenceState.CHECKING or not self._checked.done():
            return
        try:
            self._steps = self._checked.result()
            if self._cancelled or self._scheduler.stops != self._stops:
                raise InvalidValueError("sequence", self._cancelled or "stopped", "it was stopped before it began")
        except TelerobotError as error:
            self.why = str(error)
            self._advance(SequenceEvent.REFUSED)
            return
        self._advance(SequenceEvent.FITS)
        self._submit()

    def take(self, report: SchedulerReport) -> bool:
        """Take a report of the scheduler; whether it is of this sequence."""
        if self.state is not SequenceState.RUNNING or report.id != self._id:
            return False
        self.last = report
        if report.outcome is PrimitiveOutcome.RUNNING:
            return True
        if self._cancelled or not self._accepts(report):
            self._advance(SequenceEvent.NOT_ACCEPTED)
            return True
        self.done += 1
        if self.done == len(self._steps):
            self._advance(SequenceEvent.COMPLETED)
        else:
            self._advance(SequenceEvent.ACCEPTED)
            self._submit()
        return True

    def _accepts(self, report: SchedulerReport) -> bool:
        ran = report.outcome is not PrimitiveOutcome.REFUSED
        return ran and self._steps[self.done].accepts(Termination[report.reason.upper()])

    def _submit(self) -> None:
        step = self._steps[self.done]
        self._id = self._scheduler.submit(step.name, self._agent, step.values, step.accept, first=True)

    def _advance(self, event: SequenceEvent) -> None:
        self.state = next_state("sequence", TABLE, self.state, event)
