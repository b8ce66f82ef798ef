"""What a robot was asked to do, as objects to wait for: texts, primitives and sequences."""

from __future__ import annotations

from telerobot_nodes.nodes.clients.under_way.carrier import Carrier, OwnCarrier
from telerobot_nodes.nodes.clients.under_way.ongoing import Ongoing
from telerobot_nodes.nodes.clients.under_way.primitives import Primitives, RunningPrimitive, as_texts
from telerobot_nodes.nodes.clients.under_way.sequences import RunningSequence, Sequences
from telerobot_nodes.nodes.clients.under_way.text_sender import COMMANDS, REPORTS, SCRIPT, TASKS, TextSender
from telerobot_nodes.nodes.clients.under_way.texts import RunningText, Texts

__all__ = [
    "COMMANDS",
    "REPORTS",
    "SCRIPT",
    "TASKS",
    "Carrier",
    "Ongoing",
    "OwnCarrier",
    "Primitives",
    "RunningPrimitive",
    "RunningSequence",
    "RunningText",
    "Sequences",
    "TextSender",
    "Texts",
    "as_texts",
]
