"""Every page of docs/ that is generated from tables of the code, by file name.

A new page is one more row of PAGES; `make docs` writes it and `test/pages/test_generated.py` keeps it current.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from telerobot_nodes.graph import as_markdown
from telerobot_nodes.pages import (
    command_language,
    controls,
    node_parameters,
    packages,
    primitive_parameters,
    states,
    tasks,
)

PAGES: dict[str, Callable[[], str]] = {
    "architecture.md": packages.markdown,
    "client.md": controls.markdown,
    "command_language.md": command_language.markdown,
    "gcmsf_parameters.md": primitive_parameters.markdown,
    "graph.md": as_markdown,
    "parameters.md": node_parameters.markdown,
    "states.md": states.markdown,
    "tasks.md": tasks.markdown,
}


def write_pages(folder: Path) -> list[Path]:
    """Write all pages into `folder`; returns the paths of those whose text changed."""
    changed = []
    for name, text in ((name, page()) for name, page in PAGES.items()):
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            changed.append(path)
    return changed
