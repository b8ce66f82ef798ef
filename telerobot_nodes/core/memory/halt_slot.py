"""The slot of received halts in the control loop's memory.

It lies at the beginning of that memory, so that the process that receives halts needs to know nothing else of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.memory.mailbox import Mailbox

SENDERS = 8  # most senders of a record
AGENT_LENGTH = 128  # characters of a sender's name that count
_BEATS = 64  # bytes; a cache line of its own
_HEARD = np.dtype(
    [
        ("distinct", "i8"),
        ("reason", "S240"),
        ("senders", "i8"),
        ("agent", f"S{4 * AGENT_LENGTH}", (SENDERS,)),
        ("number", "u8", (SENDERS,)),
        ("at", "i8", (SENDERS,)),
    ],
    align=True,
)


@dataclass(frozen=True)
class HaltSender:
    """The latest halt of one sender."""

    agent: str
    number: int  # the sender's own, 0 .. 2^64 - 1
    distinct: int  # distinct halts when it came


@dataclass(frozen=True)
class ReceivedHalt:
    """The latest halt: distinct halts so far, its reason, and the recent senders, newest last."""

    distinct: int = 0
    reason: str = ""
    senders: Sequence[HaltSender] = ()

    def obeyed(self, distinct: int) -> list[tuple[str, int]]:
        """Senders and numbers of the halts among the first `distinct`, newest last."""
        return [(sender.agent, sender.number) for sender in self.senders if sender.distinct <= distinct]


class HaltSlot:
    """The latest halt received, and a sign of life of the one process that writes it.

    `buffer` (default: own memory) must hold `SIZE` bytes and be zero before the first use.
    """

    SIZE = _BEATS + Mailbox.size(_HEARD)  # bytes

    def __init__(self, buffer: memoryview | bytearray | None = None) -> None:
        memory = memoryview(bytearray(self.SIZE) if buffer is None else buffer)
        self._beats = np.frombuffer(memory, dtype=np.int64, count=1)
        self._mailbox = Mailbox(_HEARD, memory[_BEATS:])
        self._record = np.zeros((), _HEARD)

    @property
    def count(self) -> int:
        """Halts written since the start, copies among them."""
        return self._mailbox.count

    @property
    def beats(self) -> int:
        """Signs of life since the start."""
        return int(self._beats[0])

    def beat(self) -> None:
        """Give a sign of life."""
        self._beats[0] += 1

    def write(self, received: ReceivedHalt) -> None:
        """Write a halt; a longer reason is cut, and of more senders the newest stay."""
        record, senders = self._record, received.senders[-SENDERS:]
        record["distinct"], record["reason"], record["senders"] = (
            received.distinct,
            _encoded(received.reason, 240),
            len(senders),
        )
        for i, sender in enumerate(senders):
            record["agent"][i] = _encoded(sender.agent, 4 * AGENT_LENGTH)
            record["number"][i], record["at"][i] = sender.number, sender.distinct
        self._mailbox.write(record)

    def latest(self) -> tuple[int, str]:
        """Count and reason of the latest halt: all that the loop needs, without the senders."""
        record = self._record
        if not self._mailbox.read(record):
            return 0, ""
        return int(record["distinct"]), _text(record["reason"].item())

    def read(self) -> ReceivedHalt:
        """The latest halt; one with `distinct` 0 before the first."""
        record = self._record
        if not self._mailbox.read(record):
            return ReceivedHalt()
        rows = range(int(record["senders"]))
        senders = [HaltSender(_text(record["agent"][i]), int(record["number"][i]), int(record["at"][i])) for i in rows]
        return ReceivedHalt(int(record["distinct"]), _text(record["reason"].item()), senders)


def _encoded(text: str, size: int) -> bytes:
    return text.encode("utf-8", "replace")[:size]


def _text(value: object) -> str:
    return bytes(value).decode("utf-8", "replace")  # type: ignore[call-overload, no-any-return]
