"""Typed tree to text: the canonical spelling, which parses to an equal tree [JPL-RTC]."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from telerobot_nodes.rtc.grammar import help_topics, reserved_words
from telerobot_nodes.rtc.syntax import (
    Accept,
    Action,
    Both,
    Comparison,
    Condition,
    Constraint,
    Control,
    Define,
    Direction,
    Either,
    Event,
    Guarded,
    Maintain,
    Measure,
    Name,
    Negation,
    Place,
    Quantity,
    Query,
    Reflex,
    Run,
    Setting,
    Shared,
    Statement,
    Task,
    TaskResult,
    Trial,
    Until,
    ViaOperator,
    ViaPlaces,
    With,
)

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*")
_AMOUNT_WORD = {"polish": "for", "hold": "for", "wait": "for", "approach": "standoff"}
_PLACE_WORD = {"neighborhood": "neighborhood-of", "grasp_point": "grasp-point-of", "above": "above"}
_SETTING_WORD = {"busy": "", "report": "report every"}


def print_program(statements: Iterable[Statement]) -> str:
    """Statements separated by semicolons."""
    return "; ".join(print_statement(statement) for statement in statements)


def print_statement(statement: Statement) -> str:
    """The canonical text of a statement."""
    return _STATEMENTS[type(statement)](statement)


def print_condition(condition: Condition) -> str:
    """The text of a condition, with parentheses where they are needed."""
    return _condition(condition, 0)


def print_action(action: Action) -> str:
    """The text of what a reflex does."""
    return _action(action)


def _join(parts: Iterable[str]) -> str:
    return " ".join(part for part in parts if part)


def _task(task: Task) -> str:
    place = _place(task.place) if task.place else ""
    if task.verb in ("trade", "return"):
        place = "to operator" if task.verb == "trade" else "to program"
    option = f"in {task.option}" if task.verb == "teleoperate" and task.option else task.option
    before = option if task.verb in ("move", "open", "close") else ""
    after = option if task.verb not in ("move", "open", "close") else ""
    tail_first = task.verb in ("approach", "inspect")  # their first slot is the place
    amount = f"{_AMOUNT_WORD.get(task.verb, 'by')} {quantity_text(task.amount)}" if task.amount else ""
    relation = task.relation + " " if task.relation else ""
    return _join(
        (
            task.verb,
            before,
            place if tail_first else "",
            _name(task.target) if task.target else "",
            "and place" if task.verb == "pick" else "",
            f"at {_name(task.point)}" if task.point else "",
            amount,
            _direction(task.direction) if task.direction else "",
            "along " + " ".join(task.axes) if task.axes else "",
            after,
            "" if tail_first else relation + place,
            f"from {_place(task.source)}" if task.source else "",
            *(_CLAUSES[type(clause)](clause) for clause in task.clauses),
        )
    )


def _control(control: Control) -> str:
    if control.verb == "reload":
        return "reload skills"
    if control.verb == "grant" and control.name and control.agent:
        return f"grant {_name(control.name)} to {_name(control.agent)}"
    return _join((control.verb, _scope(control)))


def _query(query: Query) -> str:
    if query.verb == "help":
        topic = query.subject
        return _join(("help", topic if topic in help_topics() else _text(topic) if topic else ""))
    return _join((query.verb, query.subject, _scope(query)))


def _scope(statement: Control | Query) -> str:
    if statement.everything:
        return "all"
    if statement.command:
        return f"command {statement.command}"
    return _name(statement.name) if statement.name else ""


def _result(result: TaskResult) -> str:
    if not result.done:
        return _join((f"failed task {result.number}", f"because {_string(result.reason)}" if result.reason else ""))
    return _join(
        (
            f"done task {result.number}",
            f"at {_place(result.place)}" if result.place else "",
            *(f"{_measure(measure)} = {quantity_text(quantity)}" for measure, quantity in result.readings),
        )
    )


def _run(run: Run) -> str:
    return f"{'forget' if run.forget else 'run'} {_name(run.name)}{_parameters(run.arguments)}"


def _parameters(names: tuple[Name, ...]) -> str:
    return f"({', '.join(_name(name) for name in names)})" if names else ""


def _define(define: Define) -> str:
    return f"define {_name(define.name)}{_parameters(define.parameters)} as {{ {print_program(define.body)} }}"


def _reflex(reflex: Reflex) -> str:
    return f"unless {print_condition(reflex.condition)} then {_action(reflex.action)}"


def _setting(setting: Setting) -> str:
    word = _SETTING_WORD.get(setting.kind, setting.kind)
    value = setting.value
    if isinstance(value, Name):
        return _join((word, _frame(value) if setting.kind == "frame" else _name(value)))
    if isinstance(value, Quantity):
        return _join((word, quantity_text(value)))
    return _join((word, _string(value) if setting.kind == "note" else value))


def _constraint(item: Constraint) -> str:
    number = quantity_text(item.quantity) if item.quantity else ""
    within = "within" if item.kind == "avoid-neighbors" and number else ""
    return _join((item.kind, within, number, _name(item.name) if item.name else ""))


def _condition(condition: Condition, binding: int) -> str:
    if isinstance(condition, Either):
        text = " or ".join(_condition(term, 1) for term in condition.terms)
        return f"({text})" if binding > 0 else text
    if isinstance(condition, Both):
        text = " and ".join(_condition(term, 2) for term in condition.terms)
        return f"({text})" if binding > 1 else text
    if isinstance(condition, Negation):
        return "not " + _condition(condition.term, 2)
    if isinstance(condition, Comparison):
        return f"{_measure(condition.measure)} {condition.comparator} {quantity_text(condition.quantity)}"
    return _event(condition)


def _event(event: Event) -> str:
    between = "on" if event.kind == "contact" and event.name else ""
    return _join((event.kind, between, _name(event.name) if event.name else ""))


def _measure(measure: Measure) -> str:
    return _join((measure.kind, measure.axis, f"to {_name(measure.name)}" if measure.name else ""))


def _action(action: Action) -> str:
    between = {"retreat": "by", "slow": "to"}.get(action.kind, "") if action.quantity else ""
    tail = "operator" if action.kind == "ask" else ""
    return _join((action.kind, between, quantity_text(action.quantity) if action.quantity else "", tail))


def _direction(direction: Direction) -> str:
    if direction.kind == "toward" and direction.name:
        return f"toward {_name(direction.name)}"
    return direction.word if direction.kind == "heading" else f"along {'-' * (direction.sign < 0)}{direction.word}"


def _place(place: Place) -> str:
    if place.kind in ("pose", "joints"):
        numbers = f"({', '.join(quantity_text(number) for number in place.numbers)})"
        frame = f"in {_frame(place.name)}" if place.name else ""
        return _join(("joints" if place.kind == "joints" else "", numbers, frame))
    offset = f"offset {quantity_text(place.offset)}" if place.offset else ""
    if place.kind == "home":
        return "home"
    return _join((_PLACE_WORD.get(place.kind, ""), _name(place.name) if place.name else "", offset))


def quantity_text(quantity: Quantity) -> str:
    """A number as short as it can be, and its unit."""
    number = repr(quantity.number).removesuffix(".0")
    return f"{number} {quantity.unit}" if quantity.unit else number


def _name(name: Name) -> str:
    return _text(name.text)


def _frame(name: Name) -> str:
    return name.text if name.text in ("world", "tool", "camera") else _name(name)


def _text(text: str) -> str:
    plain = _PLAIN_NAME.fullmatch(text) and text.lower().replace("_", "-") not in reserved_words()
    return text if plain else f"'{text}'"


def _result_word(result: str) -> str:
    return result if result in ("contact", "slip", "timeout") else _text(result)


def _string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


_STATEMENTS: dict[type, Callable[[Any], str]] = {
    Task: _task,
    Control: _control,
    Query: _query,
    TaskResult: _result,
    Trial: lambda trial: "try " + _task(trial.task),
    Define: _define,
    Run: _run,
}
_CLAUSES: dict[type, Callable[[Any], str]] = {
    With: lambda clause: "with " + " and ".join(_name(name) for name in clause.names),
    ViaOperator: lambda clause: "via operator-intervention",
    ViaPlaces: lambda clause: "via " + ", ".join(_place(place) for place in clause.places),
    Maintain: lambda clause: "maintain " + " ".join(_constraint(item) for item in clause.constraints),
    Guarded: lambda clause: "guarded",
    Reflex: _reflex,
    Until: lambda clause: f"until {print_condition(clause.condition)}",
    Accept: lambda clause: "accept " + " or ".join(_result_word(result) for result in clause.results),
    Shared: lambda clause: f"shared operator {' '.join(clause.operator)} program {' '.join(clause.program)}",
    Setting: _setting,
}
