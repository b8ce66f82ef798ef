"""`telerobot graph`, `params` and `states`: the tables of the code, as text or Markdown."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from telerobot_nodes.graph import as_markdown, as_mermaid, as_text
from telerobot_nodes.pages import node_parameters, states


class Format(str, Enum):
    """Output format."""

    TEXT = "text"
    MERMAID = "mermaid"
    MARKDOWN = "markdown"


_RENDER = {Format.TEXT: as_text, Format.MERMAID: as_mermaid, Format.MARKDOWN: as_markdown}


def graph(
    form: Annotated[Format, typer.Option("--format", help="text, mermaid or markdown (docs/graph.md)")] = Format.TEXT,
) -> None:
    """Print every node, topic and service of the graph."""
    print(_RENDER[form](), end="")


def params(node: Annotated[str, typer.Argument(help="One node; default: all nodes.")] = "") -> None:
    """Print the parameters as Markdown, as in docs/parameters.md."""
    print(node_parameters.markdown(node), end="")


def state_machines() -> None:
    """Print the state machines as Markdown, as in docs/states.md."""
    print(states.markdown(), end="")
