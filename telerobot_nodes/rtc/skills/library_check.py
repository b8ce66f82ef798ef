"""Cross-checks of the skill files: names, cycles, missing table rows, parameters [JPL-RTC section 5].

Each problem is a ParameterFileError at line and column of the key it concerns, with what is allowed there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from string import Formatter

import numpy as np

from telerobot_nodes.core.config import FileMapping
from telerobot_nodes.core.protocol import begins_with_halt
from telerobot_nodes.rtc.language import KINDS, TASK_VERBS, did_you_mean, is_reserved
from telerobot_nodes.rtc.skills.attribute_check import check_attributes
from telerobot_nodes.rtc.skills.expressions import Expression, ExpressionError, value_of_constant
from telerobot_nodes.rtc.skills.primitives import DEVICE_PARAMETERS, EXECUTIVES, GCMSF_PARAMETERS, RANGES, WORDS
from telerobot_nodes.rtc.skills.skill_parts import all_expressions, all_steps
from telerobot_nodes.rtc.skills.skills import Library, PrimitiveSpec, Recovery, Row, Skill, Step, Then

# Names every skill knows: the slots of the command, its constraints, the report under evaluation.
SLOTS = frozenset(
    (
        *("arm", "gripper", "other_arm", "other_gripper", "camera", "object", "place", "path"),
        *("operator", "option", "relation", "point", "held"),
        *("place_pose", "place_frame", "place_joints", "place_kind", "source_pose", "path_poses", "frame_name"),
        *("amount", "has_amount", "has_source", "direction", "axes", "interpolate", "guarded"),
    )
)
CONSTRAINTS = frozenset(
    ("speed", "acceleration", "force", "torque", "clearance", "stiffness", "payload", "dither", "timeout")
)
RUN_TIME = frozenset(("measured", "target", "here", "began"))
# Slots that name a thing of the workcell.
THINGS = ("arm", "gripper", "other_arm", "other_gripper", "camera", "object", "place", "path")
TEXT_SLOTS = frozenset((*THINGS, "point", "option", "relation", "held"))  # slots that stand in texts, in braces
READINGS = ("width", "pose", "force", "force_kept", "value")
MEASURED = frozenset(  # of the report under evaluation: what every one has, and the executive's readings
    (
        *("outcome", "elapsed", "readings", "joints", "pose", "track", "wrench", *READINGS),
        *("duration", "grip_width", "overtravel", "touch_force", "touch_torque", "touch_x", "touch_y", "touch_z"),
    )
)
RESULT_ATTRIBUTES = frozenset(("target", "pose", "joints", "outcome", "elapsed", "readings"))


def check_library(library: Library) -> None:
    """Raise ParameterFileError at the first thing that does not fit."""
    for kind in library.kinds.values():
        _check_kind(kind)
    _check_outcomes(library)
    check_verbs(library)
    attributes = _attributes(library)
    for skill in library.skills.values():
        _SkillCheck(library, skill, attributes).run()
    _check_inclusion(library)
    check_attributes(library)


def _check_kind(kind: PrimitiveSpec) -> None:
    if kind.executive not in EXECUTIVES[kind.role]:
        allowed = ", ".join(EXECUTIVES[kind.role])
        hint = did_you_mean(kind.executive, EXECUTIVES[kind.role])
        kind.source.reject("executive", f"{kind.executive!r} is not allowed for an {kind.role}; {hint or allowed}")
    for name, expression in kind.parameters.items():
        if expression.names:
            kind.source["parameters"].reject(name, f"{expression.text!r} is no number and no 'text'")
        _check_parameter(kind, name, expression, kind.source["parameters"])
    for name, expression in kind.predicts.items():
        known = SLOTS | CONSTRAINTS | frozenset(_parameters_of(kind))
        if name not in READINGS:
            kind.source["predicts"].reject(name, f"no reading has this name; {_hint(name, READINGS)}")
        for unknown in sorted(expression.names - known):
            kind.source["predicts"].reject(name, f"nothing is called {unknown!r}; {did_you_mean(unknown, known)}")


def _check_outcomes(library: Library) -> None:
    """Every row of a table is for an outcome that some primitive has."""
    known = sorted({stop.outcome for kind in library.kinds.values() for stop in kind.stops})
    for table in library.tables.values():
        for outcome in table.source:
            if outcome not in (*known, "include"):
                table.source.reject(outcome, f"no primitive ends so; {_hint(outcome, known)}")


def _parameters_of(kind: PrimitiveSpec) -> tuple[str, ...]:
    return tuple(GCMSF_PARAMETERS) if kind.role == "arm" else DEVICE_PARAMETERS[kind.role]


def _check_parameter(kind: PrimitiveSpec, name: str, expression: Expression, source: FileMapping) -> None:
    """The name, and for a constant the count of its numbers and their range."""
    known = _parameters_of(kind)
    if name not in known:
        source.reject(name, f"no parameter of a primitive of the {kind.role}; {_hint(name, known)}")
    if not expression.constant:
        return
    count = GCMSF_PARAMETERS.get(name, 0) if kind.role == "arm" else 0
    _check_numbers(expression, name, source, count)


def _check_numbers(expression: Expression, name: str, source: FileMapping, count: int) -> None:
    """A constant is a text, where `count` is 0, or as many numbers inside the bounds of the name."""
    try:
        value = value_of_constant(expression)
        numbers = () if isinstance(value, str) else np.ravel(np.asarray(value, dtype=np.float64))
    except (ExpressionError, ValueError, TypeError) as error:
        source.reject(name, f"{expression.text!r} has no value: {error}")
    words = WORDS.get(name)
    if words and value not in words:
        source.reject(name, f"{value!r} is not allowed; allowed: {', '.join(words)}")
    if count and len(numbers) != count:
        source.reject(name, f"{expression.text!r}; allowed: {count} number{'s' * (count > 1)}")
    low, high, unit = RANGES.get(name, (-math.inf, math.inf, ""))
    if any(not low <= number <= high for number in numbers):
        source.reject(name, f"{expression.text!r} is not allowed; allowed: {low:g} .. {high:g} {unit}".strip())


def check_verbs(library: Library) -> None:
    """Every verb once, none a word of the language, the names of its numbers free."""
    verbs: dict[str, Skill] = {}
    names = library.workcell.vocabulary
    for skill in library.skills.values():
        for verb in skill.verbs or (skill.name,):
            if verb in verbs:
                key = "verbs" if skill.verbs else "skill"
                skill.source.reject(key, f"{verb!r} is also a verb of skill {verbs[verb].name}")
            verbs[verb] = skill
        for verb in set(skill.verbs) - TASK_VERBS:
            if is_reserved(verb) or begins_with_halt(verb):
                skill.source.reject("verbs", f"{verb!r} has a meaning in the language already")
        for number in skill.takes.amounts:
            taken = is_reserved(number) or number in SLOTS | CONSTRAINTS | RUN_TIME or names.find(number, *KINDS)
            if taken:
                skill.source["takes"]["amounts"].reject(number, "the name has a meaning already; take another")


def _hint(word: str, candidates: Iterable[str]) -> str:
    return did_you_mean(word, candidates) or f"known: {', '.join(candidates) or 'none'}"


def _attributes(library: Library) -> frozenset[str]:
    """What things have: in the database, in the command-object table, or written by a step."""
    cell = library.workcell
    found = {item.key.partition(".")[2] for item in cell.items}
    found |= {name for row in cell.command_objects.values() for name in row}
    steps = [step for skill in library.skills.values() for step in all_steps(skill)]
    rules = [
        rule for table in library.tables.values() for rows in table.rows.values() for row in rows for rule in row.writes
    ]
    rules += [rule for step in steps for rule in step.writes]
    found |= {rule.key.partition(".")[2] for rule in rules}
    return frozenset(found | {"joints", "pose", "width", "value", "speed", "joint_speed", "load", "gripper"})


class _SkillCheck:
    """One skill against the rest."""

    def __init__(self, library: Library, skill: Skill, attributes: frozenset[str]) -> None:
        self.library = library
        self.skill = skill
        self.attributes = attributes
        self.steps = all_steps(skill)
        self.known = SLOTS | CONSTRAINTS | RUN_TIME | frozenset(skill.defaults) | frozenset(skill.plan)
        self.known |= frozenset(skill.takes.amounts) | frozenset(skill.candidates)
        self.known |= frozenset(step.name for step in self.steps)

    def run(self) -> None:
        skill = self.skill
        for name in skill.uses:
            if name not in THINGS:
                skill.source.reject("uses", f"no slot is called {name!r}; {_hint(name, THINGS)}")
        for branch in skill.choose:
            if branch.script not in skill.scripts:
                hint = _hint(branch.script, skill.scripts)
                branch.source.reject("script", f"no script is called {branch.script!r}; {hint}")
        self._amount()
        for step in self.steps:
            if step.name in SLOTS | CONSTRAINTS | RUN_TIME | frozenset((*skill.plan, *skill.defaults)):
                step.source.reject("step", f"{step.name!r} is also the name of a value")
            self._step(step)
        for recovery in skill.recoveries.values():
            self._recovery(recovery)
        for part in all_expressions(skill):
            self._names(part.expression, part.source, part.key)
        for name, expression in skill.defaults.items():
            self._default(name, expression)
        for demand in (*skill.requires, *skill.tests):
            self._text(demand.message, demand.source, "else")
        _check_cycles(skill, self.steps)

    def _default(self, name: str, expression: Expression) -> None:
        """A default is of a value that is used; a number is inside the bounds of its name."""
        used = {word for part in all_expressions(self.skill) for word in part.expression.names}
        known = SLOTS | CONSTRAINTS | frozenset(self.skill.takes.amounts) | used
        if name not in known:
            self.skill.source["defaults"].reject(name, f"nothing uses {name!r}; {_hint(name, sorted(known))}")
        if name in CONSTRAINTS and expression.constant:
            _check_numbers(expression, name, self.skill.source["defaults"], 1)

    def _amount(self) -> None:
        """A skill that uses the number of the command states what it measures."""
        used = {"amount", "has_amount"} & {
            name for part in all_expressions(self.skill) for name in part.expression.names
        }
        if used and not self.skill.amounts:
            allowed = "allowed: length, angle, mass, time, count"
            self.skill.source.reject("amount", f"{min(used)!r} is used, and its kind is not given; {allowed}")

    def _step(self, step: Step) -> None:
        if step.use:
            if step.use not in self.library.skills:
                step.source.reject(
                    "use", f"no skill is called {step.use!r}; {did_you_mean(step.use, self.library.skills)}"
                )
        else:
            self._primitive(step)
        for name in step.recoveries:
            if name not in self.skill.recoveries:
                hint = _hint(name, self.skill.recoveries)
                step.source.reject("recoveries", f"the recovery stack has no {name!r}; {hint}")
        if step.irreversible and any(self.skill.recoveries[n].then is not Then.CONTINUE for n in step.recoveries):
            step.source.reject("recoveries", "an irreversible step is not tried again: its recoveries continue")
        for demand in step.confirms:
            self._text(demand.message, demand.source, "else")
        written = [text for rule in step.writes for text in (rule.key, rule.frame)]
        for key, texts in (("disturbs", step.disturbs), ("writes", written), ("adds", tuple(step.adds))):
            for text in texts:
                self._text(text, step.source, key)

    def _primitive(self, step: Step) -> None:
        kind = self.library.kinds.get(step.kind)
        if kind is None:
            hint = _hint(step.kind, self.library.kinds)
            step.source.reject("do", f"no primitive is called {step.kind!r}; {hint}")
        for name, expression in step.parameters.items():
            _check_parameter(kind, name, expression, step.source["parameters"])
        named = step.parameters.get("sensor")
        if kind.role == "sensor" and (named is None or named.constant):
            sensors, name = self.library.workcell.sensors, str(value_of_constant(named)) if named is not None else ""
            if name not in sensors:
                source = step.source.get("parameters", step.source)
                source.reject("sensor", f"the workcell has no sensor {name!r}; {_hint(name, sensors)}")
        if kind.moves and step.target is None:
            step.source.reject("target", f"the key is missing: {kind.name} needs a target")
        if not step.table:
            step.source.reject("table", f"the key is missing; known: {', '.join(self.library.tables)}")
        table = self.library.tables.get(step.table)
        if table is None:
            hint = _hint(step.table, self.library.tables)
            step.source.reject("table", f"no evaluation table is called {step.table!r}; {hint}")
        outcomes = [stop.outcome for stop in kind.stops]
        missing = [outcome for outcome in outcomes if outcome not in table.rows]
        if missing:
            step.source.reject("table", f"table {table.name!r} has no row for {', '.join(missing)}")
        for row in (row for outcome in outcomes for row in table.rows[outcome]):
            self._row(row, step)

    def _row(self, row: Row, step: Step) -> None:
        for needed in (row.when, *(rule.value for rule in row.writes)):
            if needed is not None:
                self._names(needed, step.source, "table")
        for text in (text for rule in row.writes for text in (rule.key, rule.frame)):
            self._text(text, step.source, "table")

    def _recovery(self, recovery: Recovery) -> None:
        names = {step.name for steps in self.skill.scripts.values() for step in steps}
        if recovery.from_step and (recovery.then is not Then.RESTART or recovery.from_step not in names):
            problem = f"no step is called {recovery.from_step!r}, or the recovery does not restart"
            recovery.source.reject("from", f"{problem}; {did_you_mean(recovery.from_step, names)}")
        for step in recovery.steps:
            if step.recoveries:
                step.source.reject("recoveries", "a step of a recovery has no recoveries of its own")

    def _names(self, expression: Expression, source: FileMapping, key: str) -> None:
        steps = {step.name for step in self.steps}
        for name in sorted(expression.names - self.known):
            hint = did_you_mean(name, self.known)
            source.reject(key, f"nothing is called {name!r} in {expression.text!r}; {hint}")
        kept = {step.name: step.keeps for step in self.steps}
        for name, attribute in sorted(expression.attributes):
            known: Iterable[str] | None = self.attributes if name in THINGS else None
            if name in steps:
                known = RESULT_ATTRIBUTES | frozenset(kept[name])
            elif name == "measured":
                known = MEASURED
            if known is not None and attribute not in known:
                what = "a step has no" if name in steps else f"no {name} has"
                what = "a report has no" if name == "measured" else what
                source.reject(key, f"{what} {attribute!r}; {_hint(attribute, sorted(known))}")

    def _text(self, text: str, source: FileMapping, key: str) -> None:
        """Names in braces are slots."""
        try:
            named = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
        except ValueError as error:
            source.reject(key, f"{text!r}: {error}")
        known = TEXT_SLOTS | frozenset(self.skill.candidates)
        for name in named:
            if name not in known:
                source.reject(key, f"no slot is called {name!r} in {text!r}; {_hint(name, sorted(known))}")


def _check_cycles(skill: Skill, steps: list[Step]) -> None:
    """A value may need a later step's (numeric backtracking), never, through any chain, itself."""
    needs: dict[str, set[str]] = {name: set(e.names) for name, e in (*skill.plan.items(), *skill.defaults.items())}
    places = {f"{step.name}.target": (step.source, "target") for step in steps}
    places |= {name: (skill.source[part], name) for part in ("plan", "defaults") for name in getattr(skill, part)}
    for step in steps:
        if step.target is not None:
            needs[f"{step.name}.target"] = set(step.target.names)
            for attribute in RESULT_ATTRIBUTES - {"target"}:  # a result needs the step to have run
                needs[f"{step.name}.{attribute}"] = {f"{step.name}.target"}
    for name, expression in (*skill.plan.items(), *((f"{s.name}.target", s.target) for s in steps if s.target)):
        needs[name] |= {f"{owner}.{attribute}" for owner, attribute in expression.attributes}
    cycle = find_cycle(needs, lambda name: needs.get(name, set()))
    if cycle:
        source, key = next((places[name] for name in cycle if name in places), (skill.source, "plan"))
        source.reject(key, f"values need each other: {' -> '.join(cycle)}")


def _check_inclusion(library: Library) -> None:
    """No skill is part of itself."""
    uses = {
        skill.name: {step.use for steps in skill.scripts.values() for step in steps if step.use}
        for skill in library.skills.values()
    }
    cycle = find_cycle(uses, lambda name: uses.get(name, set()))
    if cycle:
        step = next(step for step in all_steps(library.skills[cycle[0]]) if step.use == cycle[1])
        step.source.reject("use", f"skills contain each other: {' -> '.join(cycle)}")


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
