"""Messages of one topic that can be sent again, because nobody else repeats them."""

from __future__ import annotations

from collections import deque

KEPT_BYTES = 8_000_000  # of a topic


class KeptMessages:
    """Numbers the messages of a topic from 1 and keeps the latest `depth`."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._messages: deque[bytes] = deque()
        self._bytes = 0
        self.latest = 0

    @property
    def oldest(self) -> int:
        """Number of the oldest that is kept; `latest` + 1: none."""
        return self.latest + 1 - len(self._messages)

    def add(self, message: bytes) -> int:
        """Keep a message; its number."""
        self.latest += 1
        self._messages.append(message)
        self._bytes += len(message)
        while len(self._messages) > self._depth or (self._bytes > KEPT_BYTES and len(self._messages) > 1):
            self._bytes -= len(self._messages.popleft())
        return self.latest

    def get(self, number: int) -> bytes | None:
        """The message of a number; None: not kept."""
        return self._messages[number - self.oldest] if self.oldest <= number <= self.latest else None
