"""The commands of a recorded run as a transcript: commands, replies, reports, and tasks of the operator.

Read from the bag alone: `rtc_decision_unit/commands`, `reports`, `tasks`, and the primitives' reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from telerobot_nodes.core.protocol import PrimitiveOutcome, role_of
from telerobot_nodes.operator.recording import BagReader

NAMES = ("commands", "reports", "tasks")
PREFIX = "rtc_decision_unit/"
PRIMITIVES = "gcmsf_control/report"
REPLY, PROGRESS = 0, 1


@dataclass(frozen=True)
class Line:
    """One line of the transcript."""

    time: float  # [s] from the bag's start
    who: str
    text: str


def command_log(bag: Path, primitives: bool = True) -> list[Line]:
    """The transcript, with each message once even if both sides of a link were recorded."""
    with BagReader(bag) as reader:
        topics = [name for name in reader.topics if _kind(name) and "operator_side/" not in name]
        lines: list[Line] = []
        seen: set[tuple[str, str, int]] = set()
        for topic, time, message in reader.messages(topics):
            kind = _kind(topic)
            key = (kind, str(message.link.sender), int(message.link.number))
            if key in seen or (kind == PRIMITIVES and not primitives):
                continue
            seen.add(key)
            lines += [Line(time, who, text) for who, text in lines_of(kind, message)]
    return lines


def _kind(topic: str) -> str:
    for name in NAMES:
        if topic.endswith(PREFIX + name):
            return name
    return PRIMITIVES if topic.endswith(PRIMITIVES) else ""


def lines_of(kind: str, message: Any) -> Iterator[tuple[str, str]]:
    """Who said what in a message: of `commands`, `reports`, `tasks`, or else a report of a primitive."""
    if kind == "commands":
        yield role_of(message.sender), f"> {message.text}"
    elif kind == "tasks":
        yield "operator's task", f"task {message.task}{': ' + message.text if message.shown else ' is taken away'}"
    elif kind == "reports":
        yield from _report(message)
    elif message.state != PrimitiveOutcome.RUNNING:
        yield "  arm", f"{message.name}: {message.reason} after {message.elapsed:.2f} s"


def _report(message: Any) -> Iterator[tuple[str, str]]:
    if message.kind == REPLY:
        for line in str(message.text).splitlines():
            yield "decision unit", line
    elif message.kind == PROGRESS:
        yield f"command {message.command}", f"{message.step}: {message.reason}" if message.step else message.reason
    else:
        trims = f"; corrected: {', '.join(message.trims)}" if len(message.trims) else ""
        at = f" at {message.step}" if message.outcome in ("failed", "halted") and message.step else ""
        yield (
            f"command {message.command}",
            f"{message.outcome}{at}: {message.reason} ({message.steps_done} steps, {message.elapsed:.1f} s{trims})",
        )


def as_text(lines: list[Line]) -> str:
    """The transcript in columns."""
    width = max((len(line.who) for line in lines), default=0)
    return "".join(f"{line.time:8.2f}  {line.who:<{width}}  {line.text}\n" for line in lines)
