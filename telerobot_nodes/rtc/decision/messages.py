"""Outputs of the decision unit: values only [JPL-RTC section 5]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from telerobot_nodes.rtc.decision.jobs import Job, TrialReport
from telerobot_nodes.rtc.decision.script_trace import ScriptState
from telerobot_nodes.rtc.skills import Primitive

CommandOutcome: TypeAlias = Literal["succeeded", "failed", "halted", "cancelled", "refused"]


@dataclass(frozen=True)
class Dispatch:
    """Hand this job to a worker."""

    job: Job


@dataclass(frozen=True)
class Send:
    """Send this primitive to its subsystem."""

    primitive: Primitive


@dataclass(frozen=True)
class HaltSubsystem:
    """Stop a subsystem now. Precedes every other output of the same message."""

    subsystem: str
    reason: str
    primitive: int = 0  # 0: whatever it does
    latch: bool = True  # a halt: nothing moves the arm before a reset; False: only this motion ends


@dataclass(frozen=True)
class ResumeSubsystems:
    """End the halts of all arms."""

    reason: str


@dataclass(frozen=True)
class HoldSubsystem:
    """Stop on the path and keep the rest, or continue."""

    primitive: int
    subsystem: str
    hold: bool


@dataclass(frozen=True)
class ShowTask:
    """Show a task to the operator, or withdraw it."""

    task: int
    primitive: int
    text: str
    shown: bool = True


@dataclass(frozen=True)
class Reply:
    """Answer to a text."""

    sender: str
    text: str
    ok: bool = True
    command: int = 0


@dataclass(frozen=True)
class CommandReport:
    """The one report that ends every command."""

    command: int
    sender: str
    outcome: CommandOutcome
    reason: str
    step: str = ""
    steps_done: int = 0
    trims: tuple[str, ...] = ()  # recoveries used
    elapsed: float = 0.0  # [s]
    text: str = ""
    label: str = ""
    notes: tuple[str, ...] = ()
    trial: TrialReport | None = None
    origin: int = 0  # first command of the same message
    more: bool = False  # another statement of the message follows


@dataclass(frozen=True)
class Progress:
    """A command reached a point on the way."""

    command: int
    step: str
    text: str
    origin: int = 0  # first command of the same message; 0: this one
    shown: bool = True  # False: the live script shows it; only the client of an action receives it


Output: TypeAlias = (
    Dispatch
    | Send
    | HaltSubsystem
    | ResumeSubsystems
    | HoldSubsystem
    | ShowTask
    | Reply
    | CommandReport
    | Progress
    | ScriptState
)
