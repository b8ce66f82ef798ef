"""The state machines as diagrams and tables, drawn from the tables the code runs on."""

from __future__ import annotations

from collections import defaultdict
from enum import Enum
from importlib import import_module
from typing import Any

# Title -> module:table of state x event.
MACHINES: dict[str, str] = {
    "Operator's side of the plan": "telerobot_nodes.plan.uplink:TABLE",
    "Authority, at the robot": "telerobot_nodes.plan.authority:TABLE",
    "Control loop": "telerobot_nodes.motion.control_state:TRANSITIONS",
    "Hardware": "telerobot_nodes.hardware.estop:TRANSITIONS",
    "A halt, as the operator sees it": "telerobot_nodes.operator.requests:HALT_TABLE",
}

Table = dict[tuple[Enum, Enum], Enum]


def page() -> str:
    """Markdown with a diagram of every machine."""
    parts = [
        "# State machines\n\nMade by `telerobot states` from the tables the code runs on. A pair of state and event "
        "that is not drawn is refused and changes nothing.\n"
    ]
    for title, place in MACHINES.items():
        module, name = place.split(":")
        table = getattr(import_module(module), name)
        parts.append(f"## {title}\n\n`{place}`\n\n```mermaid\n{diagram(table)}\n```\n{meanings(table)}")
    return "\n".join(parts)


def diagram(table: Table) -> str:
    """Mermaid state diagram; events that lead from one state to the same other one share an arrow."""
    arrows: dict[tuple[Any, Any], list[str]] = defaultdict(list)
    for (state, event), target in table.items():
        arrows[state, target].append(_words(event))
    lines = ["stateDiagram-v2"]
    lines += [f"    {a.name} --> {b.name}: {', '.join(events)}" for (a, b), events in arrows.items() if a is not b]
    return "\n".join(lines)


def meanings(table: Table) -> str:
    """Rows of what states and events mean, where the code says so in words."""
    members = dict.fromkeys([state for state, _ in table] + [event for _, event in table])
    rows = [f"| {entry.name} | {entry.value} |" for entry in members if isinstance(entry.value, str)]
    return "\n".join(["\n| state or event | meaning |", "|---|---|", *rows, ""]) if rows else ""


def _words(event: Enum) -> str:
    return event.name.replace("_", " ").lower()
