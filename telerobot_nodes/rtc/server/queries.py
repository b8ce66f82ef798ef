"""Answers to status, show, where and help; reads only [JPL-RTC section 5]."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from telerobot_nodes.rtc.language import Query, did_you_mean, explain, print_statement
from telerobot_nodes.rtc.world import DatabaseError, Item, Validity, View

if TYPE_CHECKING:
    from telerobot_nodes.rtc.decision import CommandRecord, DecisionUnit


def answer(query: Query, unit: DecisionUnit, view: View) -> str:
    """The answer as text, a line per thing."""
    if query.verb == "status":
        return _status(query, unit)
    if query.verb == "where":
        return _where(query.name.text if query.name else "", view)
    if query.verb == "help":
        return explain(query.subject) or _help(query.subject, unit)
    if query.name is not None:
        return _lines([_item(item) for item in view.query(f"{query.name.text}.*")])
    return _lines(_SHOW[query.subject](unit, view))


def _lines(lines: list[str]) -> str:
    return "\n".join(lines) or "none"


def _status(query: Query, unit: DecisionUnit) -> str:
    chosen = list(unit.commands.values())
    if query.command:
        chosen = [record for record in chosen if record.number == query.command]
    elif query.name is not None:
        chosen = [record for record in chosen if record.label == query.name.text]
    head = [f"global error: {unit.global_error}"] if unit.global_error else []
    return _lines(head + [_command(record) for record in chosen])


def _command(record: CommandRecord) -> str:
    paused = ", paused" if record.paused else ""
    at = f" at {record.step_name}" if record.step_name else ""
    text = record.request.text if record.request else record.text
    return f"command {record.number} ({record.sender}): {record.state.value}{paused}{at}: {text}"


def _where(name: str, view: View) -> str:
    try:
        x, y, z, *rest = view.pose(name, Validity.INVALID)
    except DatabaseError as error:
        return str(error)
    item = view.item(f"{name}.pose")
    held = f" on {item.frame}" if item.frame else ""
    turn = ", ".join(f"{value:.4f}" for value in rest)
    return f"{name}: ({x:.4f}, {y:.4f}, {z:.4f}, {turn}){held}, {item.validity.name.lower()}"


def _help(word: str, unit: DecisionUnit) -> str:
    if not word:
        return "help WORD; show skills, objects, commands, tasks, resources, macros, database"
    skill = unit.library.skills.get(word)
    return (
        skill.doc if skill else f"nothing is known of {word!r}; {did_you_mean(word, unit.library.skills)}".strip("; ")
    )


def _item(item: Item) -> str:
    frame = f" in {item.frame}" if item.frame else ""
    return f"{item.key} = {item.value}{frame} ({item.validity.name.lower()})"


def _resources(unit: DecisionUnit) -> list[str]:
    lines = []
    for name, resource in sorted(unit.resources.resources.items()):
        holders = ", ".join(f"command {number}" for number in unit.resources.holders(name)) or "free"
        lines.append(f"{name} ({resource.kind.value}): {holders}")
    return lines


_SHOW: dict[str, Callable[[DecisionUnit, View], list[str]]] = {
    "database": lambda unit, view: [_item(item) for item in view.query()],
    "resources": lambda unit, view: _resources(unit),
    "commands": lambda unit, view: [_command(record) for record in unit.commands.values()],
    "tasks": lambda unit, view: [f"task {number}: {task.text}" for number, task in unit.tasks.shown.items()],
    "skills": lambda unit, view: [
        f"{s.name} ({', '.join(s.verbs or (s.name,))}): {s.doc}" for s in unit.library.skills.values()
    ],
    "objects": lambda unit, view: sorted(unit.library.workcell.vocabulary.objects),
    "macros": lambda unit, view: [print_statement(macro) for macro in unit.macros.values()],
}
