"""What goes into the decision unit and what comes out: values only [JPL-RTC section 5]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from telerobot_nodes.rtc.analysis import Context, Recommendation
from telerobot_nodes.rtc.elaborator import PlannedStep, Script
from telerobot_nodes.rtc.environment import Results
from telerobot_nodes.rtc.primitives import Primitive, Report
from telerobot_nodes.rtc.request import Request
from telerobot_nodes.rtc.skills import Library
from telerobot_nodes.rtc.syntax import Define, Statement


class Work(Enum):
    """The kinds of worker."""

    PARSE = "command parser"
    ELABORATE = "script elaborator"
    BIND = "action binder"
    OPEN = "analysis unit, context"
    ANALYSE = "analysis unit"
    ABANDON = "analysis unit, abandoned primitive"
    OBSERVE = "analysis unit, observation"
    TRY = "hypothesis test"
    RELOAD = "reload of the skill files"


@dataclass(frozen=True)
class Job:
    """A job for a worker: everything it needs is inside, but for database and files."""

    number: int
    command: int
    work: Work
    library: Library | None = None  # of the command, even when files are reloaded meanwhile
    text: str | bytes = ""
    statement: Statement | None = None
    macros: Mapping[str, Define] = field(default_factory=dict)
    request: Request | None = None
    results: Results = field(default_factory=dict)
    chosen: Mapping[str, Mapping[str, object]] | None = None
    planned: PlannedStep | None = None
    primitive: int = 0  # number for a primitive to bind
    context: Context | None = None
    report: Report | None = None
    sent: bool = False
    arm: str = ""
    joints: tuple[float, ...] = ()
    pose: tuple[float, ...] = ()


@dataclass(frozen=True)
class Parsed:
    """Result of the command parser: statements, and the request of the first task among them."""

    statements: tuple[Statement, ...]
    request: Request | None = None


@dataclass(frozen=True)
class TrialStep:
    """One step of a hypothesis test, numbers included."""

    step: str
    kind: str
    subsystem: str
    ok: bool
    note: str
    duration: float = 0.0  # [s]
    target: tuple[float, ...] = ()


@dataclass(frozen=True)
class TrialReport:
    """Answer of a hypothesis test: would it work, and if not, why and at which step."""

    works: bool
    reason: str
    steps: tuple[TrialStep, ...] = ()
    duration: float = 0.0  # [s] of all motion


JobResult: TypeAlias = "Parsed | Script | Primitive | Context | Recommendation | TrialReport | Library | None"


@dataclass(frozen=True)
class JobDone:
    """A worker's answer; `error` instead of a result when it refused."""

    job: int
    result: JobResult = None
    error: str = ""
    nothing: bool = False  # BIND: the step's condition leaves it out


# Outputs


@dataclass(frozen=True)
class Dispatch:
    """Give this job to a worker."""

    job: Job


@dataclass(frozen=True)
class Send:
    """Send this primitive to its subsystem."""

    primitive: Primitive


@dataclass(frozen=True)
class HaltSubsystem:
    """Stop a subsystem now. Comes before any other output of the same message."""

    subsystem: str
    reason: str
    primitive: int = 0  # 0: whatever it does


@dataclass(frozen=True)
class HoldSubsystem:
    """Stop on the path and keep the rest, or go on."""

    primitive: int
    subsystem: str
    hold: bool


@dataclass(frozen=True)
class ShowTask:
    """Show the operator a task, or take it away."""

    task: int
    primitive: int
    text: str
    shown: bool = True


@dataclass(frozen=True)
class Reply:
    """Answer to a question or a word to the decision unit."""

    sender: str
    text: str
    ok: bool = True
    command: int = 0


@dataclass(frozen=True)
class CommandReport:
    """The one report every command ends with."""

    command: int
    sender: str
    outcome: str  # succeeded, failed, halted, cancelled, refused
    reason: str
    step: str = ""
    steps_done: int = 0
    trims: tuple[str, ...] = ()
    elapsed: float = 0.0  # [s]
    text: str = ""
    label: str = ""
    notes: tuple[str, ...] = ()
    trial: TrialReport | None = None
    origin: int = 0  # first command of the same message
    more: bool = False  # another statement of the message goes on after this one


@dataclass(frozen=True)
class Progress:
    """Something happened in a command that goes on."""

    command: int
    step: str
    text: str


Output: TypeAlias = Dispatch | Send | HaltSubsystem | HoldSubsystem | ShowTask | Reply | CommandReport | Progress
