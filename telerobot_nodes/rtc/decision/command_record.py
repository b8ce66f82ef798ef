"""The record of one command, from text to report [JPL-RTC section 5]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from telerobot_nodes.rtc.decision.analysis import Context
from telerobot_nodes.rtc.decision.command_states import Event, State, step
from telerobot_nodes.rtc.decision.messages import CommandOutcome
from telerobot_nodes.rtc.decision.reactions import Reaction
from telerobot_nodes.rtc.decision.script_trace import MOST_STEPS, ScriptState, ScriptTrace
from telerobot_nodes.rtc.elaboration import PlannedStep, Request, Rule, Script
from telerobot_nodes.rtc.language import Statement
from telerobot_nodes.rtc.skills import Library, Primitive, Recovery, Then


@dataclass
class Ending:
    """Why a command is being stopped."""

    outcome: CommandOutcome
    reason: str


@dataclass
class CommandRecord:
    """One command. Changed only by the decision unit."""

    number: int
    sender: str
    text: str
    started: float  # [s]
    library: Library
    state: State = State.PARSING
    request: Request | None = None
    script: Script | None = None
    stack: list[PlannedStep] = field(default_factory=list)  # action stack, next step last
    replan: tuple[str, str] | None = None  # (prefix, step) to go on from when the recovery's steps are done
    results: dict[str, Mapping[str, object]] = field(default_factory=dict)
    recoveries_used: dict[str, int] = field(default_factory=dict)
    recoveries: list[str] = field(default_factory=list)  # run, as `step: recovery`
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
    reaction: Reaction | None = None  # a reflex being acted out
    steps_done: int = 0
    rest: tuple[Statement, ...] = ()  # of the same message, to run when this has succeeded
    is_trial: bool = False
    origin: int = 0  # first command of the same message; 0: itself
    agent: str = "program"  # for which the sender acts
    trace: ScriptTrace = field(init=False)

    def __post_init__(self) -> None:
        self.trace = ScriptTrace(self.started)

    @property
    def label(self) -> str:
        """Name of the clause `as`."""
        return self.request.label if self.request else ""

    @property
    def step_name(self) -> str:
        """Name of the current step."""
        return self.planned.name if self.planned else ""

    @property
    def deadline(self) -> float:
        """When the command's own timeout ends it [s]."""
        limit = self.request.timeout if self.request else 0.0
        return self.started + limit if limit > 0.0 and not self.is_trial else float("inf")

    @property
    def may_retry(self) -> bool:
        """Whether the whole command may be repeated: asked for, and nothing done that cannot be undone."""
        request = self.request
        if request is None or self.reaction or self.retries_used >= request.retries or self.irreversible:
            return False
        return self.library.skills[request.skill].reversible and self.state in (State.ANALYSING, State.BINDING)

    def script_state(self, now: float, outcome: str = "", reason: str = "") -> ScriptState:
        """The live script; `outcome` and `reason` of a command that has ended."""
        left = reversed(self.stack[-MOST_STEPS:]) if not outcome else ()
        return ScriptState(
            command=self.number,
            origin=self.origin or self.number,
            sender=self.sender,
            text=self.request.text if self.request else self.text,
            state=self.state.value,
            paused=self.paused,
            steps=(*self.trace.steps, *map(self.trace.coming, left)),
            outcome=outcome,
            reason=reason,
            elapsed=now - self.started,
        )

    def lost_at(self, late: float) -> float:
        """When the subsystem of the current primitive counts as lost [s]: `late` [s] after the primitive's limit."""
        if self.paused or self.primitive is None:
            return float("inf")
        return self.sent_at + self.primitive.limit + late

    def go(self, event: Event) -> None:
        """Take an event through the table; raises TransitionError and changes nothing for an unknown pair."""
        self.state = step(self.state, event)

    def begin(self, script: Script) -> None:
        """Take over a script: from its start, or from where a recovery continues."""
        first = 0
        if self.replan is not None:
            first = script.index(*self.replan)
            self.results = self.results_before(script)
        self.script = script
        self.stack = list(reversed(script.steps[first:]))
        self.replan = None

    def restart(self, reason: str) -> None:
        """Begin the whole command again."""
        self.retries_used += 1
        self.recoveries.append(f"retry {self.retries_used}: {reason}")
        self.replan, self.stack, self.script = None, [], None
        self.results.clear()
        self.recoveries_used.clear()
        self.go(Event.REPLAN)

    def react(self, rule: Rule) -> None:
        """Begin to act out a reflex that has stopped the motion."""
        if self.request is None or self.script is None or self.planned is None:
            return
        self.reaction = Reaction(rule, self.request, self.script, self.planned, dict(self.results))
        self.request = self.reaction.reaction_request
        self.replan, self.stack = None, []
        self.go(Event.REPLAN)

    def go_on(self, reaction: Reaction) -> None:
        """Return to the command, at the step that a reflex stopped."""
        self.request, self.script, self.results = reaction.request, reaction.script, dict(reaction.results)
        self.replan, self.reaction = reaction.goes_on(), None

    def results_before(self, script: Script) -> dict[str, Mapping[str, object]]:
        """Results that stay true after a recovery: of the steps before the one where the script continues."""
        if self.replan is None:
            return dict(self.results)
        kept = {planned.name for planned in script.steps[: script.index(*self.replan)]}
        return {name: result for name, result in self.results.items() if name in kept}

    def take_recovery(self) -> tuple[Recovery, tuple[PlannedStep, ...]] | None:
        """The next recovery of the current step, or None; counts it as used. Steps of a recovery have none."""
        if self.planned is None or self.script is None:
            return None
        name = self.planned.name
        used = self.recoveries_used.get(name, 0)
        nominal = any(planned.name == name for planned in self.script.steps)
        if not nominal or used >= len(self.planned.step.recoveries):
            return None
        self.recoveries_used[name] = used + 1
        return self.script.recoveries[self.planned.frame.prefix, self.planned.step.recoveries[used]]

    def repeats_irreversible(self, recovery: Recovery) -> str:
        """The irreversible step a recovery would do again, or an empty text."""
        if self.planned is None or self.script is None or recovery.then is Then.CONTINUE:
            return ""
        first = self._resume_point(recovery)
        again = {planned.name for planned in self.script.steps[self.script.index(*first) :]}
        return next((name for name in self.irreversible if name in again), "")

    def push_recovery(self, recovery: Recovery, steps: tuple[PlannedStep, ...]) -> None:
        """Put a recovery on the action stack; CONTINUE keeps what is below it."""
        self.recoveries.append(f"{self.step_name}: {recovery.name}")
        self.trace.foresee(recovery, steps)
        if recovery.then is Then.CONTINUE:
            self.stack += list(reversed(steps))
        else:
            self.replan = self._resume_point(recovery)
            self.stack = list(reversed(steps))

    def _resume_point(self, recovery: Recovery) -> tuple[str, str]:
        """(prefix, step) where the script continues after a recovery."""
        if self.planned is None:
            return ("", "")
        step_name = self.planned.step.name if recovery.then is Then.RETRY else recovery.from_step
        return (self.planned.frame.prefix, step_name)
