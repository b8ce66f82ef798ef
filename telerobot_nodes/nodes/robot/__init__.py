"""Nodes of the robot's host: hardware, control loop, executor."""

from __future__ import annotations

from telerobot_nodes.nodes.robot.halt_texts import TextHalt, halt_of_text, scope_of_text

__all__ = ["TextHalt", "halt_of_text", "scope_of_text"]
