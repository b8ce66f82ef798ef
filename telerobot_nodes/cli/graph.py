"""`telerobot graph`: the graph table as text, Markdown or a Mermaid diagram."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from telerobot_nodes.drawing import as_markdown, as_mermaid, as_text


class Format(str, Enum):
    """What to print."""

    TEXT = "text"
    MERMAID = "mermaid"
    MARKDOWN = "markdown"


_RENDER = {Format.TEXT: as_text, Format.MERMAID: as_mermaid, Format.MARKDOWN: as_markdown}


def command(
    form: Annotated[Format, typer.Option("--format", help="text, mermaid or markdown (docs/graph.md)")] = Format.TEXT,
) -> None:
    """Print every node, topic and service of the graph."""
    print(_RENDER[form](), end="")
