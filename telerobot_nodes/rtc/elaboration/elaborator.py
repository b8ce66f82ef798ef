"""Script Elaborator: request to nominal script and off-nominal scripts [JPL-RTC section 5, Script Elaboration].

Generate, test, modify: the decision tree picks a script, skills are spliced in, ranked candidates are tried until
every value that can be known is known and every planned pose can be reached. Memoryless: reads the database, writes
nothing. After execution has begun the choice is hard: `chosen` is handed back in.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import OutOfReachError, TelerobotError
from telerobot_nodes.rtc.elaboration.environment import Environment, Frame, Results
from telerobot_nodes.rtc.elaboration.request import Entity, Request
from telerobot_nodes.rtc.language import CommandError, With, check_amount
from telerobot_nodes.rtc.skills import (
    Branch,
    Demand,
    ExpressionError,
    Library,
    NotYetKnownError,
    PrimitiveSpec,
    Recovery,
    Skill,
    Step,
)
from telerobot_nodes.rtc.world import Checks, DatabaseError, View

MAX_STEPS = 200
MAX_CANDIDATES = 100


class ElaborationError(TelerobotError):
    """No script is possible; the reason for each candidate that was tried."""


@dataclass(frozen=True)
class PlannedStep:
    """A step with the frame it is bound in; `bound` values were fixed by the elaborator and stay."""

    name: str  # qualified: "grasp.touch_1"
    step: Step
    kind: PrimitiveSpec
    frame: Frame
    bound: Mapping[str, object] = field(default_factory=dict)
    demands: tuple[Demand, ...] = ()  # of a skill spliced in, to hold when its first step is bound


@dataclass(frozen=True)
class Choice:
    """What was decided for one frame: the leaf of its decision tree, and its candidates."""

    script: str  # empty: to be decided again
    candidates: Mapping[str, object]


@dataclass(frozen=True)
class Script:
    """Nominal steps in order, and the recoveries of each frame with their steps."""

    steps: tuple[PlannedStep, ...]
    recoveries: Mapping[tuple[str, str], tuple[Recovery, tuple[PlannedStep, ...]]]  # (prefix, recovery)
    chosen: Mapping[str, Choice]  # of each frame, by its prefix

    def index(self, prefix: str, step: str) -> int:
        """Place of a step; of the frame's first step when `step` is empty or in another script of the skill."""
        own = [number for number, planned in enumerate(self.steps) if planned.name.startswith(prefix)]
        if not own:
            raise ElaborationError(f"the script has no step {prefix}{step} any more")
        return next((number for number in own if self.steps[number].name == prefix + step), own[0])


@dataclass(frozen=True)
class _Job:
    """What every part of the work needs."""

    request: Request
    library: Library
    view: View
    checks: Checks
    results: Results
    chosen: Mapping[str, Choice] | None

    def environment(self, frame: Frame) -> Environment:
        return Environment(frame, self.request, self.library, self.view, self.checks, self.results, planning=True)


def script_of(
    request: Request,
    library: Library,
    view: View,
    checks: Checks,
    results: Results | None = None,
    chosen: Mapping[str, Choice] | None = None,
) -> Script:
    """The script of a request; raises ElaborationError.

    `chosen`: choices of an execution under way, which may have changed what the skill requires.
    """
    job = _Job(request, library, view, checks, results or {}, chosen)
    skill = library.skills[request.skill]
    try:
        _check_arms(job, skill)
        return _frame(job, skill, "", dict(request.slots), at_once=chosen is None)
    except (ExpressionError, DatabaseError, NotYetKnownError) as error:
        raise ElaborationError(str(error)) from error


def _is_beside(arm: str, job: _Job) -> bool:
    """Whether only the clause `with` names an arm, beside the one that the task is for."""
    task = job.request.task
    named = [name.text for clause in task.clauses if isinstance(clause, With) for name in clause.names]
    target = task.target.text if task.target else ""
    own = [target] if target in job.library.workcell.arms else named[:1]
    return arm in named and arm not in own


def _check_arms(job: _Job, skill: Skill) -> None:
    for arm in job.request.slots.get("arms", ()):  # type: ignore[attr-defined]
        owner = job.view.read(f"{arm}.owner")
        if not job.view.has(f"{arm}.joints"):
            raise ElaborationError(f"{arm} has not reported yet: does its graph run, in its namespace?")
        wanted = "anybody" if job.request.via_operator else skill.owner
        allowed = (wanted, job.request.agent) if wanted == "program" and owner != "operator" else (wanted,)
        if wanted != "anybody" and owner not in allowed:
            clause = "with: " if _is_beside(arm, job) else ""
            raise ElaborationError(f"{clause}{arm} is the {owner}'s; {skill.name} is for an arm of the {wanted}")
        if job.request.tool and job.view.read(f"{arm}.tool") != job.request.tool:
            raise ElaborationError(f"{arm} has the tool {job.view.read(f'{arm}.tool')}, not {job.request.tool}")


def _frame(job: _Job, skill: Skill, prefix: str, slots: Mapping[str, object], at_once: bool) -> Script:
    """The script of one use of a skill: the first candidates that pass every test.

    `at_once`: what the skill requires must hold now; else when its first step is bound, if it is.
    """
    bare = Frame(skill, prefix, slots, _steps_by_name(skill))
    if at_once:
        demand(job.environment(bare), skill.requires)
    refusals: list[str] = []
    for chosen in _choices(job, bare):
        frame = replace(bare, chosen=chosen)
        try:
            script = _try(job, frame, at_once)
            return script if at_once else _later(script, skill.requires)
        except (ElaborationError, ExpressionError, DatabaseError) as error:
            label = ", ".join(f"{name} {number}" for name, number in _numbered(chosen)) or skill.name
            refusals.append(f"{label}: {error}" if chosen else str(error))
    raise ElaborationError("; ".join(dict.fromkeys(refusals)) or f"{skill.name} has no candidate to try")


def _steps_by_name(skill: Skill) -> dict[str, Step]:
    found = {step.name: step for steps in skill.scripts.values() for step in steps}
    return found | {step.name: step for recovery in skill.recoveries.values() for step in recovery.steps}


def demand(env: Environment, demands: tuple[Demand, ...]) -> None:
    """Raise ElaborationError with the sentence of the first condition that does not hold."""
    for demand in demands:
        if not env.evaluate(demand.condition):
            raise ElaborationError(env.text(demand.message))


def _choices(job: _Job, frame: Frame) -> Iterator[dict[str, object]]:
    """Candidate values in ranked order; those of an execution under way are the only ones."""
    if job.chosen is not None and frame.prefix in job.chosen:
        yield dict(job.chosen[frame.prefix].candidates)
        return
    env = job.environment(frame)
    point = str(frame.slots.get("point", ""))
    columns = []
    for name, expression in frame.skill.candidates.items():
        if name in frame.slots:  # given by the skill that contains this one
            columns.append([(name, frame.slots[name])])
            continue
        values = env.evaluate(expression)
        if isinstance(values, Mapping) and point:
            if point not in values:
                raise ElaborationError(f"no {name.replace('_', ' ')} is called {point!r}; known: {', '.join(values)}")
            values = {point: values[point]}
        columns.append([(name, value) for value in (values.values() if isinstance(values, Mapping) else values)])
    for combination in itertools.islice(itertools.product(*columns), MAX_CANDIDATES):
        yield dict(combination)


def _numbered(chosen: Mapping[str, object]) -> list[tuple[str, object]]:
    return [
        (name, np.round(np.asarray(value, dtype=object).astype(float), 3).tolist()) for name, value in chosen.items()
    ]


def _try(job: _Job, frame: Frame, at_once: bool) -> Script:
    env = job.environment(frame)
    demand(env, frame.skill.tests)
    branch = _branch(job, env)
    _check_amount(job.request, frame, branch)
    steps: list[PlannedStep] = []
    recoveries: dict[tuple[str, str], tuple[Recovery, tuple[PlannedStep, ...]]] = {}
    chosen = {frame.prefix: Choice(branch.script, dict(frame.chosen))}
    for step in frame.skill.scripts[branch.script]:
        if step.use:
            if step.when is not None and not env.evaluate(step.when):
                continue
            inner = _splice(job, env, step, at_once and not steps)
            steps += inner.steps
            recoveries |= inner.recoveries
            chosen |= inner.chosen
        else:
            steps.append(_planned(job, env, step))
        if len(steps) > MAX_STEPS:
            raise ElaborationError(f"the script has more than {MAX_STEPS} steps")
    for recovery in frame.skill.recoveries.values():
        recoveries[frame.prefix, recovery.name] = (
            recovery,
            tuple(_planned(job, env, step, False) for step in recovery.steps),
        )
    _check_reach(env, steps)
    return Script(tuple(steps), recoveries, chosen)


def _branch(job: _Job, env: Environment) -> Branch:
    """The leaf of the decision tree; that of an execution under way, unless it is to be decided again."""
    frame = env.frame
    known = job.chosen.get(frame.prefix) if job.chosen is not None else None
    if known is not None and known.script:
        return next(branch for branch in frame.skill.choose if branch.script == known.script)
    return next(branch for branch in frame.skill.choose if branch.when is None or env.evaluate(branch.when))


def _check_amount(request: Request, frame: Frame, branch: Branch) -> None:
    """The number of the command is of the kind that the chosen script measures."""
    kind = branch.amount or frame.skill.amount
    if request.task.amount is None or frame.prefix or not kind:
        return
    try:
        check_amount(request.task.amount, (kind,))
    except CommandError as error:
        raise ElaborationError(f"{request.text}: {error}") from error


def _later(script: Script, demands: tuple[Demand, ...]) -> Script:
    """What a skill requires is demanded when the steps before it have run."""
    if not script.steps or not demands:
        return script
    first = replace(script.steps[0], demands=(*demands, *script.steps[0].demands))
    return replace(script, steps=(first, *script.steps[1:]))


def _splice(job: _Job, env: Environment, step: Step, first: bool) -> Script:
    """Another skill's script in place of a step; its slots are the caller's, with the arguments on top."""
    skill = job.library.skills[step.use]
    slots = dict(env.frame.slots)
    for name, expression in step.arguments.items():
        value = env.evaluate(expression)
        slots[name] = Entity(value) if isinstance(value, str) and name in _ENTITY_SLOTS else value
    return _frame(job, skill, f"{env.frame.prefix}{step.name}.", slots, first)


_ENTITY_SLOTS = frozenset(("object", "place", "arm", "gripper", "other_arm", "other_gripper", "camera"))


def _planned(job: _Job, env: Environment, step: Step, fix: bool = True) -> PlannedStep:
    kind = job.library.kinds[step.kind]
    planned = PlannedStep(env.frame.prefix + step.name, step, kind, env.frame)
    if not fix or step.target is None:
        return planned
    try:
        if step.when is not None and not env.evaluate(step.when):
            return planned
        return replace(planned, bound={"target": env.evaluate(step.target)})
    except NotYetKnownError:
        return planned  # bound at run time
    except (ExpressionError, DatabaseError) as error:
        raise ElaborationError(f"step {planned.name}: {error}") from error


def _check_reach(env: Environment, steps: list[PlannedStep]) -> None:
    """Every planned pose of each arm can be reached, each from the one before."""
    if env.request.via_operator or "arm" not in env.frame.slots:
        return
    seeds: dict[str, FloatArray] = {}
    for planned in [p for p in steps if "target" in p.bound and p.kind.moves and not p.kind.joints]:
        arm = str(planned.frame.slots["arm"])
        seed = seeds.get(arm, env.joints(arm))
        try:
            for pose in np.atleast_2d(np.asarray(planned.bound["target"], dtype=np.float64)):
                seed = seeds[arm] = env.checks.kinematics.solve(arm, pose, seed)
        except OutOfReachError as error:
            raise ElaborationError(f"step {planned.name}: {error}") from error
