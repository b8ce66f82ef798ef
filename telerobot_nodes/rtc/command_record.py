"""Everything the decision unit keeps of one command [JPL-RTC section 5]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from telerobot_nodes.rtc.analysis import Context
from telerobot_nodes.rtc.command_states import Event, State, step
from telerobot_nodes.rtc.elaborator import PlannedStep, Script
from telerobot_nodes.rtc.primitives import Primitive
from telerobot_nodes.rtc.request import Request
from telerobot_nodes.rtc.skills import Library, Then, Trial
from telerobot_nodes.rtc.syntax import Statement


@dataclass
class Ending:
    """Why a command is being stopped."""

    outcome: str
    reason: str


@dataclass
class CommandRecord:
    """One command from text to report. Changed only by the decision unit."""

    number: int
    sender: str
    text: str
    started: float  # [s]
    library: Library
    state: State = State.PARSING
    request: Request | None = None
    script: Script | None = None
    stack: list[PlannedStep] = field(default_factory=list)  # action stack, next step last
    replan: tuple[str, str] | None = None  # (prefix, step) to go on from when the trial's steps are done
    results: dict[str, Mapping[str, object]] = field(default_factory=dict)
    trims_used: dict[str, int] = field(default_factory=dict)
    trims: list[str] = field(default_factory=list)
    retries_used: int = 0
    irreversible: list[str] = field(default_factory=list)  # steps that cannot be undone and were sent
    planned: PlannedStep | None = None
    primitive: Primitive | None = None
    context: Context | None = None
    job: int = 0  # outstanding; 0: none
    sent_at: float = 0.0  # [s]
    stop_by: float = float("inf")  # [s] confirmation of a halt
    paused: bool = False
    paused_at: float = 0.0  # [s]
    ending: Ending | None = None
    steps_done: int = 0
    rest: tuple[Statement, ...] = ()  # of the same message, to run when this has succeeded
    is_trial: bool = False
    origin: int = 0  # first command of the same message; 0: itself

    @property
    def in_trial(self) -> bool:
        """The step it is at is one of a trial, not of the nominal script."""
        if self.planned is None or self.script is None:
            return False
        return all(planned.name != self.planned.name for planned in self.script.steps)

    @property
    def label(self) -> str:
        """Name given by `as`."""
        return self.request.label if self.request else ""

    @property
    def step_name(self) -> str:
        """The step it is at."""
        return self.planned.name if self.planned else ""

    @property
    def deadline(self) -> float:
        """When the command's own timeout ends it [s]."""
        limit = self.request.timeout if self.request else 0.0
        return self.started + limit if limit > 0.0 and not self.is_trial else float("inf")

    def go(self, event: Event) -> None:
        """Take an event through the table; raises TransitionError and changes nothing for an unknown pair."""
        self.state = step(self.state, event)

    def begin(self, script: Script) -> None:
        """Take over a script: from its start, or from where a trial goes on."""
        first = 0
        if self.replan is not None:
            first = script.index(*self.replan)
            self.results = self.results_before(script)
        self.script = script
        self.stack = list(reversed(script.steps[first:]))
        self.replan = None

    def results_before(self, script: Script) -> dict[str, Mapping[str, object]]:
        """Results that stay true after a trial: of the steps before the one from which the script goes on."""
        if self.replan is None:
            return dict(self.results)
        kept = {planned.name for planned in script.steps[: script.index(*self.replan)]}
        return {name: result for name, result in self.results.items() if name in kept}

    def next_trial(self) -> tuple[Trial, tuple[PlannedStep, ...]] | None:
        """The next entry of the step's trial stack, or None when it is empty; counts it as used."""
        if self.planned is None or self.script is None or self.in_trial:
            return None
        name = self.planned.name
        used = self.trims_used.get(name, 0)
        if used >= len(self.planned.step.trims):
            return None
        self.trims_used[name] = used + 1
        return self.script.trials[self.planned.frame.prefix, self.planned.step.trims[used]]

    def repeats_irreversible(self, trial: Trial) -> str:
        """The irreversible step a trial would do again, or an empty text."""
        if self.planned is None or self.script is None or trial.then is Then.CONTINUE:
            return ""
        first = self.resume_point(trial)
        again = {planned.name for planned in self.script.steps[self.script.index(*first) :]}
        return next((name for name in self.irreversible if name in again), "")

    def resume_point(self, trial: Trial) -> tuple[str, str]:
        """(prefix, step) from which the script goes on after a trial."""
        if self.planned is None:
            return ("", "")
        step_name = self.planned.step.name if trial.then is Then.RETRY else trial.from_step
        return (self.planned.frame.prefix, step_name)

    def push_trial(self, trial: Trial, steps: tuple[PlannedStep, ...]) -> None:
        """Put a trial on the action stack; CONTINUE keeps what is below it."""
        self.trims.append(f"{self.step_name}: {trial.name}")
        if trial.then is Then.CONTINUE:
            self.stack += list(reversed(steps))
        else:
            self.replan = self.resume_point(trial)
            self.stack = list(reversed(steps))
