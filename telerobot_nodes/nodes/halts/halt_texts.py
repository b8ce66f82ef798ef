"""Halts among the texts: of a serialized Command.msg only the names and the first letters of the text are read.

One thread receives halts and every text, so the time of a halt does not depend on the length of a text.
"""

from __future__ import annotations

import struct
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from rclpy.serialization import deserialize_message

from telerobot.msg import Command
from telerobot_nodes.core.memory import AGENT_LENGTH
from telerobot_nodes.core.protocol import HaltId, begins_with_halt, halt_scope, names_arm, role_of

_HEADER = 4  # bytes before the message; alignment counts from their end
_ORDERS = {b"\x00\x00": ">", b"\x00\x01": "<"}  # of plain CDR
_STAMP = 8  # bytes of Command.link.stamp
_NAME = 4 * AGENT_LENGTH  # bytes of a name that are read
_TEXT = 4096  # bytes of the text that are read


@dataclass(frozen=True)
class TextHalt:
    """A text that stops this arm: its name, the same that the decision unit forwards, and the reason shown."""

    named: HaltId
    reason: str


def halt_of_text(
    data: bytes, arms: Collection[str] = (), others: Collection[str] = (), alone: bool = False
) -> TextHalt | None:
    """The halt of this arm in a serialized Command.msg; None where there is none, and for one of something else.

    `arms`: names of this arm. `others`: what else a halt may name; only the decision unit knows what that is. It
    cannot read a message that is cut: such a halt is one of everything, and so is one that names nothing known, and any
    where the decision unit is not there (`alone`).
    """
    start = _start(data)
    if start is None or not begins_with_halt(start.text):
        return None
    scope = halt_scope(_until_null(start.text))
    if not alone and _is_of_another(scope, arms, others) and _is_whole(data):
        return None
    named = HaltId.of_text(_decoded(start.sender), start.number)
    return TextHalt(named, f"halt by {role_of(_decoded(start.role) or 'unknown')}")


def scope_of_text(data: bytes) -> str | int | None:
    """What a text that halts names, in a serialized Command.msg: "" for everything; None for any other text."""
    start = _start(data)
    if start is None or not begins_with_halt(start.text):
        return None
    return halt_scope(_until_null(start.text))


class _Start(NamedTuple):
    """The beginning of a Command.msg."""

    sender: bytes
    number: int
    role: bytes
    text: bytes


def _start(data: bytes) -> _Start | None:
    """What is read of a serialized message; None where it ends before its text."""
    order = _ORDERS.get(data[:2])
    if order is None:
        return None
    try:
        sender, at = _string(data, _HEADER + _STAMP, order, _NAME)
        at += (_HEADER - at) % 8
        (number,) = struct.unpack_from(f"{order}Q", data, at)
        role, at = _string(data, at + 8, order, _NAME)
        text, _ = _string(data, at, order, _TEXT)
    except struct.error:
        return None
    return _Start(sender, number, role, text)


def _is_of_another(scope: str | int, arms: Collection[str], others: Collection[str]) -> bool:
    """Whether a halt names a command by its number, or another arm or command."""
    if isinstance(scope, int):
        return True
    return not any(names_arm(scope, arm) for arm in arms) and any(names_arm(scope, other) for other in others)


def _string(data: bytes, at: int, order: str, most: int) -> tuple[bytes, int]:
    """The first `most` bytes of the string at or after `at`, and where it ends. Raises struct.error."""
    at += (_HEADER - at) % 4
    (length,) = struct.unpack_from(f"{order}I", data, at)
    return data[at + 4 : at + 4 + min(length, most)], at + 4 + length


def _is_whole(data: bytes) -> bool:
    try:
        deserialize_message(data, Command)
    except Exception:  # noqa: BLE001 -- whatever the middleware raises
        return False
    return True


def _until_null(text: bytes) -> bytes:
    return text.partition(b"\0")[0]


def _decoded(name: bytes) -> str:
    return _until_null(name).decode("utf-8", "replace")[:AGENT_LENGTH]
