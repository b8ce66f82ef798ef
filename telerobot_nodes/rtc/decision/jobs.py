"""Jobs for the workers and what they return: values only [JPL-RTC section 5].

A job carries everything its worker needs except the database and the skill files on disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from telerobot_nodes.rtc.decision.analysis import Context, Recommendation
from telerobot_nodes.rtc.elaboration import Choice, PlannedStep, Request, Results, Script
from telerobot_nodes.rtc.language import Define, Statement, Task
from telerobot_nodes.rtc.skills import Library, Primitive, Report


@dataclass(frozen=True)
class ParseText:
    """Command parser: check a text, or the statements already parsed from it."""

    text: str | bytes
    macros: Mapping[str, Define] = field(default_factory=dict)
    statements: tuple[Statement, ...] = ()  # empty: parse the text
    agent: str = "program"  # for which the sender acts
    checked: bool = False  # the statements, but for what changes with time


@dataclass(frozen=True)
class ElaborateScript:
    """Script elaborator: turn a request into a script."""

    request: Request
    results: Results = field(default_factory=dict)
    chosen: Mapping[str, Choice] | None = None  # choices of an execution under way


@dataclass(frozen=True)
class BindPrimitive:
    """Action binder: compute the numbers of one step. The result is None if the step's condition leaves it out."""

    request: Request
    planned: PlannedStep
    primitive: int  # number of the primitive to be made
    results: Results = field(default_factory=dict)
    began: tuple[float, ...] = ()  # (7,) of the tool in WORLD where this step was tried first; empty: it is now


@dataclass(frozen=True)
class OpenContext:
    """Analysis unit: mark what a primitive will disturb."""

    context: Context


@dataclass(frozen=True)
class AnalyseReport:
    """Analysis unit: evaluate a final report."""

    context: Context
    report: Report


@dataclass(frozen=True)
class AbandonPrimitive:
    """Analysis unit: settle the database after a primitive that will not be evaluated."""

    context: Context
    sent: bool


@dataclass(frozen=True)
class ObserveArm:
    """Analysis unit: enter a measured arm."""

    arm: str
    joints: tuple[float, ...]  # [rad]
    pose: tuple[float, ...]  # (7,) of the tool in WORLD


@dataclass(frozen=True)
class TryRequest:
    """Hypothesis test: run a request, then other tasks, on a copy of the database."""

    request: Request
    rest: tuple[Task, ...] = ()


@dataclass(frozen=True)
class ReloadSkills:
    """Read the skill files again, and enter what the workcell file says now."""


Work: TypeAlias = (
    ParseText
    | ElaborateScript
    | BindPrimitive
    | OpenContext
    | AnalyseReport
    | AbandonPrimitive
    | ObserveArm
    | TryRequest
    | ReloadSkills
)
DATABASE_WORK = (
    OpenContext,
    AnalyseReport,
    AbandonPrimitive,
    ObserveArm,
    ReloadSkills,
)  # these write: one at a time, in order


@dataclass(frozen=True)
class Job:
    """One piece of work for a command (0: none), with the library the command began with."""

    number: int
    command: int
    library: Library
    work: Work


@dataclass(frozen=True)
class Parsed:
    """Result of the command parser: the checked statements, and the request of the first if it is a task or a trial."""

    statements: tuple[Statement, ...]
    request: Request | None = None


@dataclass(frozen=True)
class TrialStep:
    """One step of a hypothesis test."""

    step: str
    kind: str
    subsystem: str
    ok: bool
    note: str
    duration: float = 0.0  # [s]
    target: tuple[float, ...] = ()


@dataclass(frozen=True)
class TrialReport:
    """Result of a hypothesis test: whether the command would work, and if not, why and at which step."""

    works: bool
    reason: str
    steps: tuple[TrialStep, ...] = ()
    duration: float = 0.0  # [s] of all motion


JobResult: TypeAlias = "Parsed | Script | Primitive | Context | Recommendation | TrialReport | Library | None"


@dataclass(frozen=True)
class JobDone:
    """A worker's answer: a result, or the error for which it rejects the job."""

    job: int
    result: JobResult = None
    error: str = ""
