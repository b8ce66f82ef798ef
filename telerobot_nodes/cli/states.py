"""`telerobot states`: the state machines, drawn from their tables."""

from __future__ import annotations

from telerobot_nodes.states import page


def command() -> None:
    """Print the state machines as Markdown; docs/states.md is this."""
    print(page(), end="")
