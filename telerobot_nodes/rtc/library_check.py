"""Cross-checks of the skill files: names, cycles, missing table rows, parameters [JPL-RTC section 5].

Each problem is a ParameterFileError at the line of the step it concerns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NoReturn

from telerobot_nodes.errors import ParameterFileError
from telerobot_nodes.rtc.expressions import Expression
from telerobot_nodes.rtc.primitives import GCMSF_PARAMETERS
from telerobot_nodes.rtc.problems import did_you_mean
from telerobot_nodes.rtc.skills import Library, PrimitiveKind, Skill, Step, Then, Trial

# Names every skill knows: the slots of the command, its constraints, the report under evaluation.
SLOTS = frozenset(
    (
        *("arm", "gripper", "camera", "object", "place", "path", "operator", "option", "relation", "point", "held"),
        *("place_pose", "place_frame", "place_joints", "place_kind", "source_pose", "path_poses", "frame_name"),
        *("amount", "has_amount", "has_source", "direction", "axes", "interpolate", "guarded"),
    )
)
CONSTRAINTS = frozenset(
    ("speed", "acceleration", "force", "torque", "clearance", "stiffness", "payload", "dither", "timeout")
)
RUN_TIME = frozenset(("measured", "target", "here"))
RESULT_ATTRIBUTES = frozenset(("target", "pose", "joints", "outcome", "elapsed", "readings"))


def check_library(library: Library) -> None:
    """Raise ParameterFileError at the first thing that does not fit."""
    for kind in library.kinds.values():
        _check_kind(kind)
    for skill in library.skills.values():
        _SkillCheck(library, skill).run()
    _check_inclusion(library)
    verbs: dict[str, Skill] = {}
    for skill in library.skills.values():
        for verb in skill.verbs:
            if verb in verbs:
                _refuse(skill.file, 1, "verbs", f"{verb!r} is also a verb of skill {verbs[verb].name}")
            verbs[verb] = skill


def _refuse(file: str, line: int, key: str, problem: str) -> NoReturn:
    raise ParameterFileError(file, line, key, problem.strip("; "))


def _check_kind(kind: PrimitiveKind) -> None:
    for name, expression in kind.parameters.items():
        if expression.names:
            _refuse("primitives.yaml", 1, f"{kind.name}.{name}", f"{expression.text!r} is no number and no 'text'")
    if kind.role != "arm":
        return
    for name in kind.parameters:
        if name not in GCMSF_PARAMETERS:
            _refuse("primitives.yaml", 1, f"{kind.name}.{name}", did_you_mean(name, GCMSF_PARAMETERS) or "unknown")


class _SkillCheck:
    """One skill against the rest."""

    def __init__(self, library: Library, skill: Skill) -> None:
        self.library = library
        self.skill = skill
        self.steps = [step for steps in skill.scripts.values() for step in steps]
        self.steps += [step for trial in skill.trials.values() for step in trial.steps]
        self.known = SLOTS | CONSTRAINTS | frozenset(skill.defaults) | frozenset(skill.plan)
        self.known |= frozenset(skill.candidates) | frozenset(step.name for step in self.steps)

    def run(self) -> None:
        for branch in self.skill.choose:
            if branch.script not in self.skill.scripts:
                hint = did_you_mean(branch.script, self.skill.scripts)
                _refuse(self.skill.file, 1, "choose", f"no script is called {branch.script!r}; {hint}")
        for step in self.steps:
            if step.name in SLOTS | CONSTRAINTS | RUN_TIME | frozenset((*self.skill.plan, *self.skill.defaults)):
                self._refuse_at(step, "step", f"{step.name!r} is also the name of a value", ())
            self._step(step)
        for trial in self.skill.trials.values():
            self._trial(trial)
        for name, expression in (*self.skill.plan.items(), *self.skill.defaults.items()):
            self._names(expression, self.skill.file, 1, name)
        for demand in (*self.skill.requires, *self.skill.tests):
            self._names(demand.condition, self.skill.file, 1, "that")
        _check_cycles(self.skill, self.steps)

    def _step(self, step: Step) -> None:
        if step.use:
            if step.use not in self.library.skills:
                self._refuse_at(step, "use", f"no skill is called {step.use!r}", self.library.skills)
        else:
            self._primitive(step)
        for name in step.trims:
            if name not in self.skill.trials:
                self._refuse_at(step, "trims", f"the trial stack has no {name!r}", self.skill.trials)
        if step.irreversible and any(self.skill.trials[n].then is not Then.CONTINUE for n in step.trims):
            self._refuse_at(step, "trims", "an irreversible step is not tried again: its trials must continue", ())
        for key, expression in _expressions(step):
            self._names(expression, step.file, step.line, key)

    def _primitive(self, step: Step) -> None:
        kind = self.library.kinds.get(step.kind)
        if kind is None:
            self._refuse_at(step, "do", f"no primitive is called {step.kind!r}", self.library.kinds)
        if kind.role == "arm":
            for name in step.parameters:
                if name not in GCMSF_PARAMETERS:
                    self._refuse_at(step, name, "no parameter of the motion primitive", GCMSF_PARAMETERS)
        if kind.moves and step.target is None:
            self._refuse_at(step, "target", f"{kind.name} needs a target", ())
        table = self.library.tables.get(step.table)
        if table is None:
            self._refuse_at(step, "table", f"no evaluation table is called {step.table!r}", self.library.tables)
        missing = [stop.outcome for stop in kind.stops if stop.outcome not in table.rows]
        if missing:
            self._refuse_at(step, "table", f"table {table.name!r} has no row for {', '.join(missing)}", ())
        used = {stop.outcome for stop in kind.stops}
        for outcome in used:
            for row in table.rows[outcome]:
                for expression in (row.when, *(rule.value for rule in row.writes)):
                    if expression is not None:
                        self._names(expression, step.file, step.line, f"{step.name}.table {table.name}.{outcome}")

    def _trial(self, trial: Trial) -> None:
        names = {step.name for steps in self.skill.scripts.values() for step in steps}
        if trial.from_step and (trial.then is not Then.RESTART or trial.from_step not in names):
            line = trial.steps[0].line if trial.steps else 1
            _refuse(
                self.skill.file, line, "from", f"no step is called {trial.from_step!r}, or the trial does not restart"
            )
        for step in trial.steps:
            if step.trims:
                self._refuse_at(step, "trims", "a step of a trial has no trials of its own", ())

    def _names(self, expression: Expression, file: str, line: int, key: str) -> None:
        steps = {step.name for step in self.steps}
        for name in sorted(expression.names - self.known - RUN_TIME):
            _refuse(
                file, line, key, f"nothing is called {name!r} in {expression.text!r}; {did_you_mean(name, self.known)}"
            )
        for name, attribute in expression.attributes:
            if name in steps and attribute not in RESULT_ATTRIBUTES:
                _refuse(file, line, key, f"a step has no {attribute!r}; known: {', '.join(sorted(RESULT_ATTRIBUTES))}")

    def _refuse_at(self, step: Step, key: str, problem: str, candidates: Iterable[str]) -> NoReturn:
        word = problem.split("'")[1] if "'" in problem else key
        _refuse(step.file, step.line, f"{step.name}.{key}", f"{problem}; {did_you_mean(word, candidates)}")


def _expressions(step: Step) -> list[tuple[str, Expression]]:
    found = [*step.parameters.items(), *step.arguments.items()]
    for key, expression in (("target", step.target), ("when", step.when), ("duration", step.duration)):
        if expression is not None:
            found.append((key, expression))
    return found


def _check_cycles(skill: Skill, steps: list[Step]) -> None:
    """A value may need a later step's (numeric backtracking), never, through any chain, itself."""
    needs: dict[str, set[str]] = {name: set(e.names) for name, e in (*skill.plan.items(), *skill.defaults.items())}
    lines = {f"{step.name}.target": step.line for step in steps}
    for step in steps:
        if step.target is not None:
            needs[f"{step.name}.target"] = set(step.target.names)
            for attribute in RESULT_ATTRIBUTES - {"target"}:  # what a step found needs it to have run
                needs[f"{step.name}.{attribute}"] = {f"{step.name}.target"}
    for name, expression in (*skill.plan.items(), *((f"{s.name}.target", s.target) for s in steps if s.target)):
        needs[name] |= {f"{owner}.{attribute}" for owner, attribute in expression.attributes}
    cycle = find_cycle(needs, lambda name: needs.get(name, set()))
    if cycle:
        line = next((lines[name] for name in cycle if name in lines), 1)
        _refuse(skill.file, line, cycle[0], f"values need each other: {' -> '.join(cycle)}")


def _check_inclusion(library: Library) -> None:
    """No skill is part of itself."""
    uses = {
        skill.name: {step.use for steps in skill.scripts.values() for step in steps if step.use}
        for skill in library.skills.values()
    }
    cycle = find_cycle(uses, lambda name: uses.get(name, set()))
    if cycle:
        _refuse(library.skills[cycle[0]].file, 1, "use", f"skills contain each other: {' -> '.join(cycle)}")


def find_cycle(nodes: Mapping[str, object], needs: Callable[[str], set[str]]) -> tuple[str, ...]:
    """A cycle in a graph as names, first and last the same, or an empty tuple; iterative, in any depth."""
    state: dict[str, int] = {}
    for root in nodes:
        path: list[str] = []
        stack = [(root, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                state[node] = 2
                path.pop()
            elif state.get(node) == 1:
                return (*path[path.index(node) :], node)
            elif node not in state:
                state[node] = 1
                path.append(node)
                stack.append((node, True))
                stack += [(child, False) for child in sorted(needs(node))]
    return ()
