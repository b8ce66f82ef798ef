"""The table of packages in `docs/architecture.md`, from the table of layers and the packages' docstrings.

The rest of that page is written by hand: the table stands between two marks.
"""

from __future__ import annotations

import ast
from pathlib import Path

from telerobot_nodes.pages.layers import LAYERS

BEGIN = "<!-- packages: begin, made by `make docs` -->\n"
END = "<!-- packages: end -->\n"
_PACKAGE = Path(__file__).parents[1]
_PAGE = _PACKAGE.parent / "docs" / "architecture.md"


def markdown() -> str:
    """The page of the checkout with the present table."""
    return with_table(_PAGE.read_text(encoding="utf-8"))


def table() -> str:
    """One row per package, lowest layer first: layer, name, first line of the docstring."""
    rows = ["| layer | package | contents |", "|---|---|---|"]
    for height, layer in enumerate(LAYERS):
        for room, parts in layer.items():
            rows.append(f"| {height} | `{room}` | {_summary(room)} |")
            rows += [f"| | `{room}.{part}` | {_summary(f'{room}.{part}')} |" for part in parts]
    return "\n".join(rows) + "\n"


def with_table(page: str) -> str:
    """The text of `page` with the present table between its marks; ValueError when a mark is missing."""
    head, rest = page.split(BEGIN)
    _, tail = rest.split(END)
    return f"{head}{BEGIN}\n{table()}\n{END}{tail}"


def _summary(name: str) -> str:
    path = _PACKAGE.joinpath(*name.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return docstring.split("\n", 1)[0]
