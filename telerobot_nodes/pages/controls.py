"""The table of controls in `docs/client.md`, from `operator/client/controls.py`; the rest is written by hand."""

from __future__ import annotations

from pathlib import Path

from telerobot_nodes.operator.client import CONTROLS, Control, Missing

BEGIN = "<!-- controls: begin, made by `make docs` -->\n"
END = "<!-- controls: end -->\n"
VIEWS = ("console", "shell", "client", "panel")
_PAGE = Path(__file__).parents[2] / "docs" / "client.md"


def markdown() -> str:
    """The page of the checkout with the present table."""
    head, rest = _PAGE.read_text(encoding="utf-8").split(BEGIN)
    _, tail = rest.split(END)
    return f"{head}{BEGIN}\n{table()}\n{END}{tail}"


def table() -> str:
    """One row per control; then the exceptions with their reasons."""
    rows = ["| control | in the console | `telerobot` | `robot.` |", "|---|---|---|---|", *map(_row, CONTROLS)]
    return "\n".join([*rows, "", "Exceptions:", "", *_exceptions(), ""])


def _row(row: Control) -> str:
    where = (row.console, row.shell, row.client)
    return f"| {row.name} | {' | '.join('' if isinstance(one, Missing) else f'`{one}`' for one in where)} |"


def _exceptions() -> list[str]:
    missing = [(row.name, view, getattr(row, view)) for row in CONTROLS for view in VIEWS]
    return [f"- {name}, {view}: {where.reason}" for name, view, where in missing if isinstance(where, Missing)]
