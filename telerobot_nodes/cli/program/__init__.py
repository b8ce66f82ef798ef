"""Sub-commands of the command language: run, try, complete, script, simulate."""

from __future__ import annotations

from telerobot_nodes.cli.program.command import Watching, is_text, run_text
from telerobot_nodes.cli.program.typed_words import TypedLines

__all__ = ["TypedLines", "Watching", "is_text", "run_text"]
