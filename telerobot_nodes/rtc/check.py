"""What the words refer to: names, dimensions, contradictions; raises CommandError at the word [JPL-RTC section 3].

The parser knows the grammar only; this knows the workcell's vocabulary and what cannot be meant together.
"""

from __future__ import annotations

from collections.abc import Iterable

from telerobot_nodes.rtc.problems import CommandError, did_you_mean
from telerobot_nodes.rtc.substitution import substitute
from telerobot_nodes.rtc.syntax import (
    Both,
    Comparison,
    Condition,
    Constraint,
    Control,
    Either,
    Event,
    Guarded,
    Maintain,
    Measure,
    Name,
    Negation,
    Place,
    Quantity,
    Reflex,
    Run,
    Setting,
    Shared,
    Statement,
    Task,
    Trial,
    Until,
    ViaOperator,
    ViaPlaces,
    With,
)
from telerobot_nodes.rtc.units import units_of
from telerobot_nodes.rtc.vocabulary import PERFORMER_KINDS, PLACE_KINDS, TARGET_KINDS, Vocabulary

FRAMES = ("world", "tool", "camera")

_AMOUNT = {
    "turn": ("angle",),
    "open": ("angle", "length"),
    "close": ("angle", "length"),
    "hold": ("time",),
    "wait": ("time",),
    "polish": ("time",),
    "move": ("length", "angle"),
    "perform": ("length", "angle", "time"),
}
_CONSTRAINT = {
    "speed": ("speed", "angular speed"),
    "acceleration": ("acceleration",),
    "force": ("force",),
    "torque": ("torque",),
    "clearance": ("length",),
    "stiffness": ("stiffness",),
    "avoid-neighbors": ("length",),
}
_MEASURE = {
    "force": ("force",),
    "torque": ("torque",),
    "speed": ("speed", "angular speed"),
    "width": ("length",),
    "deviation": ("length", "angle"),
    "time": ("time",),
    "distance": ("length",),
}
_SETTING = {
    "timeout": ("time",),
    "report": ("time",),
    "payload": ("mass",),
    "dither": ("length",),
    "retry": (),
}
MAX_RETRY = 10


def check(statement: Statement, vocabulary: Vocabulary) -> Statement:
    """The statement with every name in its known spelling; raises CommandError where it cannot be meant."""
    if isinstance(statement, Task):
        _task(statement, vocabulary)
    elif isinstance(statement, Trial):
        _task(statement.task, vocabulary)
    elif isinstance(statement, Control) and statement.verb in ("request", "grant"):
        _named(statement.name, vocabulary, "arms")
        _named(statement.agent, vocabulary, "agents")
    elif isinstance(statement, Run):
        _named(statement.name, vocabulary, "macros")
    return substitute(statement, lambda name: _known(name, vocabulary))


def _known(name: Name, vocabulary: Vocabulary) -> Name:
    found = vocabulary.find(name.text, *_ALL_KINDS)
    return name if found is None or found == name.text else Name(found, name.at)


_ALL_KINDS = [
    "objects",
    "places",
    "arms",
    "cameras",
    "regions",
    "paths",
    "tools",
    "skills",
    "macros",
    "agents",
    "signals",
    "points",
]


def _named(name: Name | None, vocabulary: Vocabulary, *kinds: str) -> None:
    if name is None or vocabulary.find(name.text, *kinds) is not None:
        return
    what = " or ".join(kind.removesuffix("s") for kind in kinds)
    elsewhere = next((kind for kind in _ALL_KINDS if vocabulary.find(name.text, kind)), "")
    problem = f"{name.text!r} is a {elsewhere.removesuffix('s')}, not a {what}" if elsewhere else ""
    known = sorted(vocabulary.of(*kinds))
    hint = did_you_mean(name.text, known) or f"known: {', '.join(known[:8]) or 'none'}"
    raise CommandError(problem or f"no {what} is called {name.text!r}", name.at, hint=hint)


def _task(task: Task, vocabulary: Vocabulary) -> None:
    if task.target is not None:
        _named(task.target, vocabulary, *TARGET_KINDS.get(task.verb, ("objects",)))
    _named(task.point, vocabulary, "points")
    for place in (task.place, task.source):
        _place(place, vocabulary)
    if task.direction is not None:
        _named(task.direction.name, vocabulary, *PLACE_KINDS, "arms")
    if task.amount is not None:
        _dimension(task.amount, _AMOUNT.get(task.verb, ("length",)))
    _no_repetition(task.axes, task)
    for clause in task.clauses:
        _clause(clause, vocabulary)
    _contradictions(task)


def _place(place: Place | None, vocabulary: Vocabulary) -> None:
    if place is None:
        return
    if place.kind in ("pose", "joints"):
        allowed = ("length",) if place.kind == "pose" else ("angle", "length")
        for number in place.numbers:
            _dimension(number, allowed)
        _frame(place.name, vocabulary)
        return
    _named(place.name, vocabulary, *PLACE_KINDS)
    if place.offset is not None:
        _dimension(place.offset, ("length",))


def _frame(name: Name | None, vocabulary: Vocabulary) -> None:
    if name is not None and name.text not in FRAMES:
        _named(name, vocabulary, *PLACE_KINDS)


def _clause(clause: object, vocabulary: Vocabulary) -> None:
    if isinstance(clause, With):
        for name in clause.names:
            _named(name, vocabulary, *PERFORMER_KINDS)
    elif isinstance(clause, ViaPlaces):
        for place in clause.places:
            _place(place, vocabulary)
    elif isinstance(clause, Maintain):
        for item in clause.constraints:
            _constraint(item, vocabulary)
    elif isinstance(clause, (Reflex, Until)):
        _condition(clause.condition, vocabulary)
        if isinstance(clause, Reflex) and clause.action.quantity is not None:
            allowed = ("speed",) if clause.action.kind == "slow" else ("length",)
            _dimension(clause.action.quantity, allowed)
    elif isinstance(clause, Setting):
        _setting(clause, vocabulary)


def _constraint(item: Constraint, vocabulary: Vocabulary) -> None:
    _named(item.name, vocabulary, "regions")
    if item.quantity is not None:
        _dimension(item.quantity, _CONSTRAINT[item.kind])
        _positive(item.quantity, item.kind)


def _setting(setting: Setting, vocabulary: Vocabulary) -> None:
    value = setting.value
    if isinstance(value, Quantity):
        _dimension(value, _SETTING[setting.kind])
        _positive(value, setting.kind)
        if setting.kind == "retry" and (value.number != int(value.number) or value.number > MAX_RETRY):
            raise CommandError(f"retry takes a whole number from 1 to {MAX_RETRY}", value.at)
    elif setting.kind == "tool" and isinstance(value, Name):
        _named(value, vocabulary, "tools")
    elif setting.kind == "frame" and isinstance(value, Name):
        _frame(value, vocabulary)


def _condition(condition: Condition, vocabulary: Vocabulary) -> None:
    if isinstance(condition, (Both, Either)):
        for term in condition.terms:
            _condition(term, vocabulary)
    elif isinstance(condition, Negation):
        _condition(condition.term, vocabulary)
    elif isinstance(condition, Event):
        _named(condition.name, vocabulary, *(("signals",) if condition.kind == "signal" else PLACE_KINDS))
    else:
        check_measure(condition.measure, condition.quantity)
        _named(condition.measure.name, vocabulary, *PLACE_KINDS)


def check_measure(measure: Measure, quantity: Quantity) -> None:
    """Raises CommandError when the number's unit is not one of the measure."""
    _dimension(quantity, _MEASURE[measure.kind])


def _dimension(quantity: Quantity, allowed: tuple[str, ...]) -> None:
    if not quantity.unit or quantity.dimension in allowed:
        return
    units = [unit for dimension in allowed for unit in units_of(dimension)]
    meant = f"a number of {' or '.join(allowed)}" if allowed else "a plain number"
    raise CommandError(f"{quantity.unit} is no unit here; {meant} is meant", quantity.at, "", units)


def _positive(quantity: Quantity, what: str) -> None:
    if quantity.number <= 0.0:
        raise CommandError(f"{what} must be greater than zero", quantity.at)


def _no_repetition(axes: Iterable[str], task: Task) -> None:
    seen: set[str] = set()
    for axis in axes:
        if axis in seen:
            raise CommandError(f"axis {axis} is named twice", task.at)
        seen.add(axis)


def _contradictions(task: Task) -> None:
    """What cannot be meant together, at the second of the two."""
    seen: dict[str, object] = {}
    for clause in task.clauses:
        kind = clause.kind if isinstance(clause, Setting) else type(clause).__name__
        if kind in seen and kind not in ("note", "Reflex", "Maintain"):
            raise CommandError(f"the clause {kind.lower()!r} is given twice", clause.at)
        seen[kind] = clause
    guarded = seen.get("Guarded")
    if isinstance(guarded, Guarded) and task.option == "free":
        raise CommandError("a free motion cannot be guarded", guarded.at)
    shared = seen.get("Shared")
    if isinstance(shared, Shared):
        _no_repetition((*shared.operator, *shared.program), task)
        if isinstance(seen.get("ViaOperator"), ViaOperator):
            raise CommandError("shared control leaves no step to the operator alone", shared.at)
    constraints = [item for clause in task.clauses if isinstance(clause, Maintain) for item in clause.constraints]
    _constraints(task, constraints)
    _reflexes(task, constraints)


def _constraints(task: Task, constraints: list[Constraint]) -> None:
    seen: dict[object, Constraint] = {}
    for item in constraints:
        key = (item.kind, item.name) if item.kind == "avoid-task-region" else item.kind
        if key in seen:
            raise CommandError(f"the constraint {item.kind!r} is given twice", item.at)
        seen[key] = item
        if item.kind == "pose-during-motion" and task.verb == "turn":
            raise CommandError("turning changes the pose of the tool", item.at)
    inside = seen.get("safe-work-range")
    if inside is not None and inside.name is not None:
        for item in constraints:
            if item.kind == "avoid-task-region" and item.name == inside.name:
                raise CommandError(f"region {inside.name.text!r} cannot be kept and avoided", item.at)


def _reflexes(task: Task, constraints: list[Constraint]) -> None:
    kept = {item.kind: item.quantity.si for item in constraints if item.quantity is not None}
    for clause in task.clauses:
        if not isinstance(clause, Reflex) or not isinstance(clause.condition, Comparison):
            continue
        measure, limit = clause.condition.measure, clause.condition.quantity
        over = clause.condition.comparator in (">", ">=")
        if over and not measure.axis and measure.kind in ("force", "torque") and limit.si <= kept.get(measure.kind, -1):
            raise CommandError(f"the {measure.kind} to keep would trigger this reflex", limit.at)
