"""What the words refer to: names, dimensions, contradictions; raises CommandError at the word [JPL-RTC section 3].

The parser knows the grammar only; this knows the workcell's vocabulary and what cannot be meant together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from telerobot_nodes.rtc.language import syntax as tree
from telerobot_nodes.rtc.language.errors import CommandError, did_you_mean
from telerobot_nodes.rtc.language.macros import substitute
from telerobot_nodes.rtc.language.units import units_of
from telerobot_nodes.rtc.language.verbs import COUNT, Slots
from telerobot_nodes.rtc.language.vocabulary import KINDS, PERFORMER_KINDS, PLACE_KINDS, Vocabulary

FRAMES = ("world", "tool", "camera")

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


def check(statement: tree.Statement, vocabulary: Vocabulary) -> tree.Statement:
    """The statement with every name in its known spelling; raises CommandError where it cannot be meant."""
    if isinstance(statement, tree.Task):
        _task(statement, vocabulary)
    elif isinstance(statement, tree.Trial):
        for task in statement.tasks:
            check(task, vocabulary)
    elif isinstance(statement, tree.Control) and statement.verb in ("request", "grant"):
        _named(statement.name, vocabulary, "arms")
        _named(statement.agent, vocabulary, "agents")
    elif isinstance(statement, tree.Run):
        _named(statement.name, vocabulary, "macros")
    elif isinstance(statement, tree.TaskResult):
        _place(statement.place, vocabulary)
        for measure, quantity in statement.readings:
            check_measure(measure, quantity)
    return substitute(statement, lambda name: _known(name, vocabulary))


def _known(name: tree.Name, vocabulary: Vocabulary) -> tree.Name:
    found = vocabulary.find(name.text, *KINDS)
    return name if found is None or found == name.text else tree.Name(found, name.at)


def _named(name: tree.Name | None, vocabulary: Vocabulary, *kinds: str) -> None:
    if name is None or vocabulary.find(name.text, *kinds) is not None:
        return
    what = " or ".join(kind.removesuffix("s") for kind in kinds)
    elsewhere = next((kind for kind in KINDS if vocabulary.find(name.text, kind)), "")
    problem = f"{name.text!r} is {_a(elsewhere.removesuffix('s'))}, not {_a(what)}" if elsewhere else ""
    known = sorted(vocabulary.of(*kinds))
    hint = did_you_mean(name.text, known) or f"known: {', '.join(known[:8]) or 'none'}"
    raise CommandError(problem or f"no {what} is called {name.text!r}", name.at, hint=hint)


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _task(task: tree.Task, vocabulary: Vocabulary) -> None:
    if task.target is not None:
        _named(task.target, vocabulary, *vocabulary.target_kinds(task.verb))
    _named(task.point, vocabulary, "points")
    for place in (task.place, task.source):
        _place(place, vocabulary)
    if task.direction is not None:
        _named(task.direction.name, vocabulary, *PLACE_KINDS, "arms")
    _amounts(task, vocabulary.slots(task.verb))
    _no_repetition(task.axes, task)
    for clause in task.clauses:
        _clause(clause, vocabulary)
    _contradictions(task)


def _amounts(task: tree.Task, slots: Slots | None) -> None:
    """The number of a verb of the grammar file is checked with its skill, which states what it measures."""
    if task.amount is not None and task.amount.number < 0.0:
        raise CommandError("an amount is not negative; the direction is a word", task.amount.at)
    if slots is None:
        return
    if task.amount is not None:
        _kind(task.amount, slots.amount, "amount")
    seen: set[str] = set()
    for amount in task.amounts:
        if amount.name in seen:
            raise CommandError(f"the number {amount.name!r} is given twice", amount.at)
        seen.add(amount.name)
        _kind(amount.quantity, slots.amounts[amount.name], amount.name)


def _kind(quantity: tree.Quantity, kinds: tuple[str, ...], what: str) -> None:
    """A number of a verb of a skill file: the unit is needed, except for a count."""
    if quantity.unit or COUNT not in kinds:
        units = [unit for kind in kinds for unit in units_of(kind)]
        if quantity.dimension not in kinds:
            raise CommandError(f"{what} is a number of {' or '.join(kinds)}", quantity.at, "", units)
    elif quantity.number != int(quantity.number) or quantity.number < 1:
        raise CommandError(f"{what} is a whole number from 1", quantity.at)


def _place(place: tree.Place | None, vocabulary: Vocabulary) -> None:
    if place is None:
        return
    if place.kind in ("pose", "joints"):
        for k, number in enumerate(place.numbers):
            allowed = ("angle", "length") if place.kind == "joints" else ("length",) if k < 3 else ()  # x y z, rotation
            _dimension(number, allowed)
        _frame(place.name, vocabulary)
        return
    _named(place.name, vocabulary, *PLACE_KINDS)
    if place.offset is not None:
        _dimension(place.offset, ("length",))


def _frame(name: tree.Name | None, vocabulary: Vocabulary) -> None:
    if name is not None and name.text not in FRAMES:
        _named(name, vocabulary, *PLACE_KINDS)


def _clause(clause: object, vocabulary: Vocabulary) -> None:
    if isinstance(clause, tree.With):
        for name in clause.names:
            _named(name, vocabulary, *PERFORMER_KINDS)
    elif isinstance(clause, tree.ViaPlaces):
        for place in clause.places:
            _place(place, vocabulary)
    elif isinstance(clause, tree.Maintain):
        for item in clause.constraints:
            _constraint(item, vocabulary)
    elif isinstance(clause, (tree.Reflex, tree.Until)):
        _condition(clause.condition, vocabulary)
        if isinstance(clause, tree.Reflex) and clause.action.quantity is not None:
            check_amount(clause.action.quantity, ("speed",) if clause.action.kind == "slow" else ("length",))
            _positive(clause.action.quantity, clause.action.kind)
    elif isinstance(clause, tree.Setting):
        _setting(clause, vocabulary)


def _constraint(item: tree.Constraint, vocabulary: Vocabulary) -> None:
    _named(item.name, vocabulary, "regions")
    if item.quantity is not None:
        _dimension(item.quantity, _CONSTRAINT[item.kind])
        _positive(item.quantity, item.kind)


def _setting(setting: tree.Setting, vocabulary: Vocabulary) -> None:
    value = setting.value
    if isinstance(value, tree.Quantity):
        _dimension(value, _SETTING[setting.kind])
        _positive(value, setting.kind)
        if setting.kind == "retry" and (value.number != int(value.number) or value.number > MAX_RETRY):
            raise CommandError(f"retry takes a whole number from 1 to {MAX_RETRY}", value.at)
    elif setting.kind == "tool" and isinstance(value, tree.Name):
        _named(value, vocabulary, "tools")
    elif setting.kind == "frame" and isinstance(value, tree.Name):
        _frame(value, vocabulary)
    elif setting.kind == "as" and isinstance(value, tree.Name) and vocabulary.find(value.text, "arms"):
        raise CommandError(f"{value.text!r} is an arm; a command has a name of its own", value.at)


def _condition(condition: tree.Condition, vocabulary: Vocabulary) -> None:
    if isinstance(condition, (tree.Both, tree.Either)):
        for term in condition.terms:
            _condition(term, vocabulary)
    elif isinstance(condition, tree.Negation):
        _condition(condition.term, vocabulary)
    elif isinstance(condition, tree.Event):
        _named(condition.name, vocabulary, *(("signals",) if condition.kind == "signal" else PLACE_KINDS))
    else:
        check_measure(condition.measure, condition.quantity)
        _named(condition.measure.name, vocabulary, *PLACE_KINDS)


def check_measure(measure: tree.Measure, quantity: tree.Quantity) -> None:
    """Raises CommandError when the number's unit is not one of the measure."""
    _dimension(quantity, _MEASURE[measure.kind])


# The largest amounts that any skill can keep, by dimension: more is a slip of the pen, refused before anything moves.
MOST = {"length": (10.0, "m"), "angle": (69.8, "rad"), "mass": (1000.0, "kg"), "time": (3600.0, "s")}


def check_amount(quantity: tree.Quantity, kinds: tuple[str, ...]) -> None:
    """Raise CommandError unless the amount is one of these kinds: length, angle, mass, time, count."""
    if "count" not in kinds:
        _dimension(quantity, kinds)
    elif quantity.unit or quantity.number != int(quantity.number):
        raise CommandError("a count is a whole number without a unit", quantity.at)
    most, unit = MOST.get(quantity.dimension, (math.inf, ""))
    if abs(quantity.si) > most:
        raise CommandError(f"{quantity.si:.4g} {unit} is too much here; allowed: up to {most:g} {unit}", quantity.at)


def _dimension(quantity: tree.Quantity, allowed: tuple[str, ...]) -> None:
    """Raise CommandError unless the number is of an allowed dimension; an angle is never meant without a unit."""
    if quantity.dimension in allowed or not (quantity.unit or ("angle" in allowed and quantity.number)):
        return
    units = [unit for dimension in allowed for unit in units_of(dimension)]
    if not quantity.unit:
        raise CommandError("a number that may be an angle needs a unit", quantity.at, "", units)
    meant = f"a number of {' or '.join(allowed)}" if allowed else "a plain number"
    raise CommandError(f"{quantity.unit} is no unit here; {meant} is meant", quantity.at, "", units)


def _positive(quantity: tree.Quantity, what: str) -> None:
    if quantity.number <= 0.0:
        raise CommandError(f"{what} must be greater than zero", quantity.at)


def _no_repetition(axes: Iterable[str], task: tree.Task) -> None:
    seen: set[str] = set()
    for axis in axes:
        if axis in seen:
            raise CommandError(f"axis {axis} is named twice", task.at)
        seen.add(axis)


def _contradictions(task: tree.Task) -> None:
    """What cannot be meant together, at the second of the two."""
    seen: dict[str, object] = {}
    for clause in task.clauses:
        kind = clause.kind if isinstance(clause, tree.Setting) else type(clause).__name__
        if kind in seen and kind not in ("note", "Reflex", "Maintain"):
            raise CommandError(f"the clause {kind.lower()!r} is given twice", clause.at)
        seen[kind] = clause
    guarded = seen.get("Guarded")
    if isinstance(guarded, tree.Guarded) and task.option == "free":
        raise CommandError("a free motion cannot be guarded", guarded.at)
    shared = seen.get("Shared")
    if isinstance(shared, tree.Shared):
        _no_repetition((*shared.operator, *shared.program), task)
        if isinstance(seen.get("ViaOperator"), tree.ViaOperator):
            raise CommandError("shared control leaves no step to the operator alone", shared.at)
    constraints = [item for clause in task.clauses if isinstance(clause, tree.Maintain) for item in clause.constraints]
    _constraints(task, constraints)
    _reflexes(task, constraints)


def _constraints(task: tree.Task, constraints: list[tree.Constraint]) -> None:
    seen: dict[object, tree.Constraint] = {}
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


def _reflexes(task: tree.Task, constraints: list[tree.Constraint]) -> None:
    kept = {item.kind: item.quantity.si for item in constraints if item.quantity is not None}
    for clause in task.clauses:
        if not isinstance(clause, tree.Reflex) or not isinstance(clause.condition, tree.Comparison):
            continue
        measure, limit = clause.condition.measure, clause.condition.quantity
        over = clause.condition.comparator in (">", ">=")
        if over and not measure.axis and measure.kind in ("force", "torque") and limit.si <= kept.get(measure.kind, -1):
            raise CommandError(f"the {measure.kind} to keep would trigger this reflex", limit.at)
