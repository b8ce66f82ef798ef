"""The plan's state tables as figures: drawn from the tables that run, so that the docs cannot say another thing."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from telerobot_nodes.plan import authority, uplink

HEADER = """# State tables of the plan

Made from the tables in `telerobot_nodes/plan/` by `python -m telerobot_nodes.plan.tables`; a test compares. An event
that is not drawn from a state raises `TransitionError` there and changes nothing.
"""
FIGURES: tuple[tuple[str, str, Mapping[Any, Enum]], ...] = (
    ("The operator's side and the robot's plan", "uplink.py", uplink.TABLE),
    ("Authority at the robot", "authority.py", authority.TABLE),
)


def figure(table: Mapping[Any, Enum]) -> str:
    """A table as a Mermaid state diagram, one arrow per pair of states."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for (state, event), target in table.items():
        arrows.setdefault((state.name, target.name), []).append(event.name)
    lines = [f"    {a} --> {b}: {', '.join(events)}" for (a, b), events in arrows.items()]
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, "```"])


def _meanings(table: Mapping[Any, Enum]) -> str:
    states = dict.fromkeys([state for state, _ in table] + list(table.values()))
    events = dict.fromkeys(event for _, event in table)
    rows = [f"| {entry.name} | {entry.value} |" for entry in (*states, *events)]
    return "\n".join(["| state or event | meaning |", "|---|---|", *rows])


def document() -> str:
    """The whole page."""
    parts = [f"\n## {title} (`{file}`)\n\n{figure(table)}\n\n{_meanings(table)}\n" for title, file, table in FIGURES]
    return HEADER + "".join(parts)


if __name__ == "__main__":
    print(document(), end="")
