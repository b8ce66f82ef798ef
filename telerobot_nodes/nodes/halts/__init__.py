"""Halts on their way to the control loop: a process that only receives them, texts among them, and their receipts."""

from __future__ import annotations

from telerobot_nodes.nodes.halts.halt_process import HaltProcess
from telerobot_nodes.nodes.halts.halt_texts import TextHalt, halt_of_text, scope_of_text

__all__ = ["HaltProcess", "TextHalt", "halt_of_text", "scope_of_text"]
