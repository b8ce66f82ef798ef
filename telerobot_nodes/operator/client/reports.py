"""Reports and results of commands and primitives as values: what a program gets instead of messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from telerobot_nodes.core.protocol import StopCause
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError


class ReportKind(Enum):
    """What a report of the decision unit is about; values of CommandReport.msg."""

    REPLY = 0
    PROGRESS = 1
    ENDED = 2


class CommandEnd(Enum):
    """How a text to the decision unit ended; the first seven are words of CommandReport.msg."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    HALTED = "halted"
    CANCELLED = "cancelled"
    REFUSED = "refused"
    WORKS = "works"  # of a `try`
    FAILS = "fails"  # of a `try`
    ANSWERED = "answered"  # a query or a word of control: there is nothing to wait for
    RUNNING = "running"  # not ended within the limit of the wait
    NO_ANSWER = "no answer"  # what became of it is not known


@dataclass(frozen=True)
class TrialStep:
    """One step of a `try`. `target`: joints [rad] or pose x y z [m], qx qy qz qw."""

    step: str
    kind: str
    ok: bool
    note: str
    duration: float  # [s]
    target: tuple[float, ...]


@dataclass(frozen=True)
class CommandReport:
    """A report about a text: its answer, progress, or an end (CommandReport.msg)."""

    kind: ReportKind
    text: str  # of the command, or of the answer
    ok: bool = True
    command: int = 0  # number; 0: none
    end: CommandEnd | None = None
    reason: str = ""
    step: str = ""
    steps_done: int = 0
    trims: tuple[str, ...] = ()  # recoveries that ran
    notes: tuple[str, ...] = ()
    trial: tuple[TrialStep, ...] = ()
    elapsed: float = 0.0  # [s]
    more: bool = False  # another command of the same text follows


@dataclass(frozen=True)
class CommandResult:
    """End of a text; `report`: the last one received, None: none."""

    end: CommandEnd
    reason: str = ""
    report: CommandReport | None = None

    @property
    def ok(self) -> bool:
        """True when it was executed, works, or was answered."""
        return self.end in (CommandEnd.SUCCEEDED, CommandEnd.WORKS, CommandEnd.ANSWERED)

    @property
    def answer(self) -> str:
        """The answer of a query; else the reason."""
        return self.report.text if self.end is CommandEnd.ANSWERED and self.report else self.reason


class PrimitiveEnd(Enum):
    """State or end of a primitive; the first four are those of PrimitiveReport.msg."""

    RUNNING = "running"  # or waiting for its turn; not ended within the limit of the wait
    SUCCEEDED = "succeeded"
    STOPPED = "stopped"
    REFUSED = "refused"
    NOT_SERVED = "not served"  # the control node was not found, or is not active
    NO_ANSWER = "no answer"  # its end was not reported


@dataclass(frozen=True)
class PrimitiveReport:
    """State of a primitive (PrimitiveReport.msg)."""

    number: int
    name: str
    state: PrimitiveEnd
    phase: str
    reason: str  # one of a finite list
    detail: str = ""
    cause: StopCause = StopCause.NONE  # of a stop from outside
    joint_position: FloatArray = field(default_factory=lambda: np.empty(0), compare=False)  # [rad]
    tool_pose: FloatArray = field(default_factory=lambda: np.empty(0), compare=False)  # x y z [m], qx qy qz qw, WORLD
    wrench: FloatArray = field(default_factory=lambda: np.empty(0), compare=False)  # [N], [N m], SENSE
    gripper: float = 0.0  # [m]
    elapsed: float = 0.0  # [s]
    sensor_distance: float = 0.0  # [m]
    sensor_angle: float = 0.0  # [rad]
    readings: Mapping[str, float] = field(default_factory=dict)  # SI units


@dataclass(frozen=True)
class PrimitiveResult:
    """End of a primitive; `report`: the last one received, None: none."""

    end: PrimitiveEnd
    reason: str = ""
    report: PrimitiveReport | None = None

    @property
    def ok(self) -> bool:
        """True when it ended as it should."""
        return self.end is PrimitiveEnd.SUCCEEDED


@dataclass(frozen=True)
class PrimitiveStep:
    """One step of a sequence: a primitive with its parameters in SI units."""

    name: str
    values: Mapping[str, object] = field(default_factory=dict)
    accept: tuple[str, ...] = ()  # results after which the sequence goes on; empty: the successful ones


@dataclass(frozen=True)
class SequenceReport:
    """State of a sequence."""

    step: int  # the one that runs or has ended, from 1
    primitive: PrimitiveReport


@dataclass(frozen=True)
class SequenceResult:
    """End of a sequence; of a refusal `reason` names the step, the field and what is allowed."""

    end: PrimitiveEnd  # SUCCEEDED: every step ended with an accepted result; else that of the last step that began
    reason: str = ""
    done: int = 0  # steps that ended with an accepted result
    report: PrimitiveReport | None = None  # of the last step that began

    @property
    def ok(self) -> bool:
        """True when every step ended with an accepted result."""
        return self.end is PrimitiveEnd.SUCCEEDED


def pairs(words: Sequence[str]) -> dict[str, str]:
    """Parse key=value words into a mapping. Raises InvalidValueError."""
    values: dict[str, str] = {}
    for word in words:
        key, mark, value = word.partition("=")
        if not mark or not key or key in values:
            raise InvalidValueError("value", word, "allowed: key=value, each key once")
        values[key] = value
    return values
