"""Typed tree to text: the canonical spelling, which parses to an equal tree [JPL-RTC]."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from telerobot_nodes.rtc.language import syntax as tree
from telerobot_nodes.rtc.language.grammar import help_topics, is_reserved
from telerobot_nodes.rtc.language.rule_tables import TASK_VERBS

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*")
_AMOUNT_WORD = {"polish": "for", "hold": "for", "wait": "for", "approach": "standoff"}
_PLACE_WORD = {"neighborhood": "neighborhood-of", "grasp_point": "grasp-point-of", "above": "above"}
_SETTING_WORD = {"busy": "", "report": "report every"}


def print_program(statements: Iterable[tree.Statement]) -> str:
    """Statements separated by semicolons."""
    return "; ".join(print_statement(statement) for statement in statements)


def print_statement(statement: tree.Statement) -> str:
    """The canonical text of a statement."""
    return _STATEMENTS[type(statement)](statement)


def print_condition(condition: tree.Condition) -> str:
    """The text of a condition, with parentheses where they are needed."""
    return _condition(condition, 0)


def print_action(action: tree.Action) -> str:
    """The text of a reflex's action."""
    return _action(action)


def _join(parts: Iterable[str]) -> str:
    return " ".join(part for part in parts if part)


def _task(task: tree.Task) -> str:
    place = _place(task.place) if task.place else ""
    if task.verb == "grant" and task.target:
        return f"grant {_name(task.target)} to {task.option}"
    if task.verb in ("trade", "return"):
        place = "to operator" if task.verb == "trade" else "to program"
    option = f"in {task.option}" if task.verb == "teleoperate" and task.option else task.option
    before = option if task.verb in ("move", "open", "close") else ""
    after = option if task.verb not in ("move", "open", "close") else ""
    tail_first = task.verb in ("approach", "inspect")  # their first slot is the place
    amount = f"{_amount_word(task)} {quantity_text(task.amount)}" if task.amount else ""
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
            *(f"{amount.name} {quantity_text(amount.quantity)}" for amount in task.amounts),
            *(_CLAUSES[type(clause)](clause) for clause in task.clauses),
        )
    )


def _amount_word(task: tree.Task) -> str:
    """The word before the number; a verb of a skill file takes either."""
    is_time = task.amount is not None and task.amount.dimension == "time"
    return _AMOUNT_WORD.get(task.verb, "for" if is_time and task.verb not in TASK_VERBS else "by")


def _control(control: tree.Control) -> str:
    if control.verb == "reload":
        return "reload skills"
    if control.verb == "confirm":
        return "confirm each step"
    if control.verb == "break":
        return _join(("break", _scope(control), "at", ", ".join(_step_name(step) for step in control.steps)))
    if control.verb == "clear":
        return _join(("clear breakpoints", _scope(control)))
    if control.verb == "grant" and control.name and control.agent:
        return f"grant {_name(control.name)} to {_name(control.agent)}"
    return _join((control.verb, _scope(control)))


def _query(query: tree.Query) -> str:
    if query.verb == "help":
        topic = query.subject
        return _join(("help", topic if topic in help_topics() else quoted(topic) if topic else ""))
    return _join((query.verb, query.subject, _scope(query)))


def _scope(statement: tree.Control | tree.Query) -> str:
    if statement.everything:
        return "all"
    if statement.command:
        return f"command {statement.command}"
    return _name(statement.name) if statement.name else ""


def _result(result: tree.TaskResult) -> str:
    if not result.done:
        return _join((f"failed task {result.number}", f"because {_string(result.reason)}" if result.reason else ""))
    return _join(
        (
            f"done task {result.number}",
            f"at {_place(result.place)}" if result.place else "",
            *(f"{_measure(measure)} = {quantity_text(quantity)}" for measure, quantity in result.readings),
        )
    )


def _run(run: tree.Run) -> str:
    return f"{'forget' if run.forget else 'run'} {_name(run.name)}{_parameters(run.arguments)}"


def _trial(trial: tree.Trial) -> str:
    tasks = print_program(trial.tasks)
    return f"try {tasks}" if len(trial.tasks) == 1 else f"try {{ {tasks} }}"


def _parameters(names: tuple[tree.Name, ...]) -> str:
    return f"({', '.join(_name(name) for name in names)})" if names else ""


def _define(define: tree.Define) -> str:
    return f"define {_name(define.name)}{_parameters(define.parameters)} as {{ {print_program(define.body)} }}"


def _reflex(reflex: tree.Reflex) -> str:
    return f"unless {print_condition(reflex.condition)} then {_action(reflex.action)}"


def _setting(setting: tree.Setting) -> str:
    word = _SETTING_WORD.get(setting.kind, setting.kind)
    value = setting.value
    if isinstance(value, tree.Name):
        return _join((word, _frame(value) if setting.kind == "frame" else _name(value)))
    if isinstance(value, tree.Quantity):
        return _join((word, quantity_text(value)))
    return _join((word, _string(value) if setting.kind == "note" else value))


def _constraint(item: tree.Constraint) -> str:
    number = quantity_text(item.quantity) if item.quantity else ""
    within = "within" if item.kind == "avoid-neighbors" and number else ""
    return _join((item.kind, within, number, _name(item.name) if item.name else ""))


def _condition(condition: tree.Condition, binding: int) -> str:
    if isinstance(condition, tree.Either):
        text = " or ".join(_condition(term, 1) for term in condition.terms)
        return f"({text})" if binding > 0 else text
    if isinstance(condition, tree.Both):
        text = " and ".join(_condition(term, 2) for term in condition.terms)
        return f"({text})" if binding > 1 else text
    if isinstance(condition, tree.Negation):
        return "not " + _condition(condition.term, 2)
    if isinstance(condition, tree.Comparison):
        return f"{_measure(condition.measure)} {condition.comparator} {quantity_text(condition.quantity)}"
    return _event(condition)


def _event(event: tree.Event) -> str:
    between = "on" if event.kind == "contact" and event.name else ""
    return _join((event.kind, between, _name(event.name) if event.name else ""))


def _measure(measure: tree.Measure) -> str:
    return _join((measure.kind, measure.axis, f"to {_name(measure.name)}" if measure.name else ""))


def _action(action: tree.Action) -> str:
    between = {"retreat": "by", "slow": "to"}.get(action.kind, "") if action.quantity else ""
    tail = "operator" if action.kind == "ask" else ""
    return _join((action.kind, between, quantity_text(action.quantity) if action.quantity else "", tail))


def _direction(direction: tree.Direction) -> str:
    if direction.kind == "toward" and direction.name:
        return f"toward {_name(direction.name)}"
    return direction.word if direction.kind == "heading" else f"along {'-' * (direction.sign < 0)}{direction.word}"


def _place(place: tree.Place) -> str:
    if place.kind in ("pose", "joints"):
        numbers = f"({', '.join(quantity_text(number) for number in place.numbers)})"
        frame = f"in {_frame(place.name)}" if place.name else ""
        return _join(("joints" if place.kind == "joints" else "", numbers, frame))
    offset = f"offset {quantity_text(place.offset)}" if place.offset else ""
    if place.kind == "home":
        return "home"
    return _join((_PLACE_WORD.get(place.kind, ""), _name(place.name) if place.name else "", offset))


def quantity_text(quantity: tree.Quantity) -> str:
    """A number as short as it can be, and its unit."""
    number = repr(quantity.number).removesuffix(".0")
    return f"{number} {quantity.unit}" if quantity.unit else number


def _name(name: tree.Name) -> str:
    return quoted(name.text)


def _step_name(name: tree.Name) -> str:
    return name.text if name.text in TASK_VERBS else _name(name)


def _frame(name: tree.Name) -> str:
    return name.text if name.text in ("world", "tool", "camera") else _name(name)


def quoted(text: str) -> str:
    """A name as it is typed: in single quotes where it is a word of the language."""
    plain = _PLAIN_NAME.fullmatch(text) and not is_reserved(text)
    return text if plain else f"'{text}'"


def _result_word(result: str) -> str:
    return result if result in ("contact", "slip", "timeout") else quoted(result)


def _string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


_STATEMENTS: dict[type, Callable[[Any], str]] = {
    tree.Task: _task,
    tree.Control: _control,
    tree.Query: _query,
    tree.TaskResult: _result,
    tree.Trial: _trial,
    tree.Define: _define,
    tree.Run: _run,
}
_CLAUSES: dict[type, Callable[[Any], str]] = {
    tree.With: lambda clause: "with " + " and ".join(_name(name) for name in clause.names),
    tree.ViaOperator: lambda clause: "via operator-intervention",
    tree.ViaPlaces: lambda clause: "via " + ", ".join(_place(place) for place in clause.places),
    tree.Maintain: lambda clause: "maintain " + " ".join(_constraint(item) for item in clause.constraints),
    tree.Guarded: lambda clause: "guarded",
    tree.Reflex: _reflex,
    tree.Until: lambda clause: f"until {print_condition(clause.condition)}",
    tree.Accept: lambda clause: "accept " + " or ".join(_result_word(result) for result in clause.results),
    tree.Shared: lambda clause: f"shared operator {' '.join(clause.operator)} program {' '.join(clause.program)}",
    tree.Setting: _setting,
}
