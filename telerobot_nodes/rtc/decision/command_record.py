"""The record of one command, from text to report [JPL-RTC section 5]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from telerobot_nodes.core.protocol import StepState
from telerobot_nodes.rtc.decision.analysis import Context
from telerobot_nodes.rtc.decision.command_states import Event, State, step
from telerobot_nodes.rtc.decision.messages import CommandOutcome
from telerobot_nodes.rtc.decision.reactions import Reaction
from telerobot_nodes.rtc.decision.script_trace import MOST_STEPS, ScriptState, ScriptTrace
from telerobot_nodes.rtc.elaboration import Choice, PlannedStep, Request, Rule, Script
from telerobot_nodes.rtc.language import Statement
from telerobot_nodes.rtc.skills import Library, Primitive, Recovery, Then


@dataclass
class Ending:
    """Why a command is being stopped."""

    outcome: CommandOutcome
    reason: str


@dataclass(frozen=True)
class Breakpoints:
    """The steps before which a command waits for a word."""

    each: bool = False  # every step
    names: frozenset[str] = frozenset()  # of steps, with or without their frame, and of skills

    def has(self, planned: PlannedStep, before: PlannedStep | None, skill: str) -> bool:
        """Whether a command of this skill waits before a step; a skill's own breakpoint is at its first step."""
        prefix = planned.frame.prefix
        own = {planned.name, planned.step.name}
        if before is None:
            own.add(skill)
        if before is None or not before.frame.prefix.startswith(prefix):
            own |= {planned.frame.skill.name, prefix.rstrip(".")}
        return self.each or not own.isdisjoint(self.names)


NO_BREAKPOINTS = Breakpoints()


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
    restarts: bool = False  # from there with the decision tree asked again, else in the same scripts
    results: dict[str, Mapping[str, object]] = field(default_factory=dict)
    recoveries_used: dict[str, int] = field(default_factory=dict)
    recoveries: list[str] = field(default_factory=list)  # run, as `step: recovery`
    retries_used: int = 0
    began: dict[str, tuple[float, ...]] = field(default_factory=dict)  # pose (7,) where a step was tried first
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
    breakpoints: Breakpoints = NO_BREAKPOINTS
    waits_since: float = 0.0  # [s] at a breakpoint
    waited: float = 0.0  # [s] at breakpoints, which is no time of the command
    trace: ScriptTrace = field(init=False)

    def __post_init__(self) -> None:
        self.trace = ScriptTrace(self.started)

    @property
    def label(self) -> str:
        """Name of the clause `as`."""
        return self.request.label if self.request else ""

    @property
    def step_name(self) -> str:
        """Name of the current step; at a breakpoint, of the step that waits."""
        planned = self.next_step if self.state is State.AT_BREAKPOINT else self.planned
        return planned.name if planned else ""

    @property
    def deadline(self) -> float:
        """When the command's own timeout ends it [s]."""
        limit = self.request.timeout if self.request else 0.0
        if limit <= 0.0 or self.is_trial or self.state is State.AT_BREAKPOINT:
            return float("inf")
        return self.started + self.waited + limit

    @property
    def next_step(self) -> PlannedStep | None:
        """The next step of the action stack."""
        return self.stack[-1] if self.stack else None

    @property
    def breaks(self) -> bool:
        """Whether the next step has a breakpoint."""
        if self.next_step is None or self.request is None:
            return False
        return self.breakpoints.has(self.next_step, self.planned, self.request.skill)

    @property
    def waits_for_steps(self) -> bool:
        """Whether it waits at a breakpoint, or will before its next step."""
        return self.breakpoints.each or self.state is State.AT_BREAKPOINT

    def wait(self, now: float) -> None:
        """Wait for a word at a breakpoint, from now [s] on."""
        self.go(Event.BREAK)
        self.waits_since = now

    def wait_no_more(self, event: Event, now: float) -> None:
        """Leave a breakpoint."""
        self.go(event)
        self.waited += now - self.waits_since

    def knows_step(self, name: str) -> bool:
        """Whether a breakpoint may be reached; true also while there is no script, or when another will follow."""
        if self.script is None or self.request is None or self.rest:
            return True
        recoveries = (step for _, steps in self.script.recoveries.values() for step in steps)
        one = Breakpoints(names=frozenset((name,)))
        return any(one.has(step, None, self.request.skill) for step in (*self.script.steps, *recoveries))

    @property
    def may_retry(self) -> bool:
        """Whether the whole command may be repeated: asked for, and nothing done that cannot be undone."""
        request = self.request
        if request is None or self.reaction or self.retries_used >= request.retries or self.irreversible:
            return False
        return self.library.skills[request.skill].reversible and self.state in (State.ANALYSING, State.BINDING)

    def script_state(self, now: float, outcome: str = "", reason: str = "") -> ScriptState:
        """The live script; `outcome` and `reason` of a command that has ended."""
        left = [self.trace.coming(step) for step in reversed(self.stack[-MOST_STEPS:])] if not outcome else []
        if left and self.state is State.AT_BREAKPOINT:
            left[0] = replace(left[0], state=StepState.WAITING)
        return ScriptState(
            command=self.number,
            origin=self.origin or self.number,
            sender=self.sender,
            text=self.request.text if self.request else self.text,
            state=self.state.value,
            paused=self.paused,
            steps=(*self.trace.steps, *left),
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
        first = self.script.steps[0].name if self.script and self.script.steps else ""
        self.began = {name: pose for name, pose in self.began.items() if name == first}
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
        self.replan, self.reaction, self.restarts = reaction.goes_on(), None, False

    def choices_kept(self, script: Script) -> Mapping[str, Choice]:
        """The candidates of a script under way, and its decisions unless a recovery restarts it."""
        if not self.restarts:
            return script.chosen
        return {prefix: replace(choice, script="") for prefix, choice in script.chosen.items()}

    def results_before(self, script: Script) -> dict[str, Mapping[str, object]]:
        """Results that stay true after a recovery: of the steps before the one where the script continues."""
        if self.replan is None:
            return dict(self.results)
        kept = {planned.name for planned in script.steps[: script.index(*self.replan)]}
        return {name: result for name, result in self.results.items() if name in kept}

    def sent(self, primitive: Primitive, now: float) -> None:
        """The current step's primitive is sent: its arm may move from now [s] on."""
        self.sent_at = now
        if self.planned is None:
            return
        if self.planned.step.irreversible:
            self.irreversible.append(self.planned.name)
        if self.reaction is None and self._nominal:
            self.began.setdefault(self.planned.name, primitive.began)

    @property
    def _nominal(self) -> bool:
        """Whether the current step is one of the script, not of a recovery."""
        if self.planned is None or self.script is None:
            return False
        return any(planned.name == self.planned.name for planned in self.script.steps)

    def take_recovery(self) -> tuple[Recovery, tuple[PlannedStep, ...]] | None:
        """The next recovery of the current step, or None; counts it as used. Steps of a recovery have none."""
        if self.planned is None or self.script is None:
            return None
        name = self.planned.name
        used = self.recoveries_used.get(name, 0)
        if not self._nominal or used >= len(self.planned.step.recoveries):
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
            self.restarts = recovery.then is Then.RESTART
            if self.restarts:
                self.began.clear()

    def _resume_point(self, recovery: Recovery) -> tuple[str, str]:
        """(prefix, step) where the script continues after a recovery."""
        if self.planned is None:
            return ("", "")
        step_name = self.planned.step.name if recovery.then is Then.RETRY else recovery.from_step
        return (self.planned.frame.prefix, step_name)
