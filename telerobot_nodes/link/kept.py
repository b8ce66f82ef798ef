"""Messages of one topic that can be sent again, because nobody else repeats them."""

from __future__ import annotations

from collections import deque

KEPT_BYTES = 8_000_000  # of a topic


class KeptMessages:
    """Numbers the messages of a topic from 1 and keeps the latest `depth`."""

    def __init__(self, depth: int, late: float = 0.0) -> None:
        """`late` [s]: an older one is not sent again; 0: any age."""
        self._depth, self._late = depth, late
        self._messages: deque[tuple[float, bytes]] = deque()
        self._bytes = 0
        self.latest = 0

    @property
    def oldest(self) -> int:
        """Number of the oldest that is kept; `latest` + 1: none."""
        return self.latest + 1 - len(self._messages)

    def add(self, now: float, message: bytes) -> int:
        """Keep a message; its number."""
        self.latest += 1
        self._messages.append((now, message))
        self._bytes += len(message)
        while len(self._messages) > self._depth or (self._bytes > KEPT_BYTES and len(self._messages) > 1):
            self._drop()
        return self.latest

    def forget(self, now: float) -> None:
        """Drop what is too old to be sent again."""
        while self._late and self._messages and now - self._messages[0][0] > self._late:
            self._drop()

    def _drop(self) -> None:
        self._bytes -= len(self._messages.popleft()[1])

    def get(self, number: int) -> bytes | None:
        """The message of a number; None: not kept."""
        return self._messages[number - self.oldest][1] if self.oldest <= number <= self.latest else None
