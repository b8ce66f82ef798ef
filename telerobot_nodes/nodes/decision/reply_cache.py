"""The replies to recent texts: a text received again is not executed again, its replies are published again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

MAX_SENDERS = 1000
MAX_TEXTS = 200  # of each sender, so that a flood of one pushes out only its own

Key = tuple[str, int]  # sender on the link, number of the message


@dataclass
class _Text:
    replies: list[Any] = field(default_factory=list)
    command: int = 0  # the first that it started


class ReplyCache:
    """The latest texts of the latest senders and the replies to them. Any thread."""

    def __init__(self, senders: int = MAX_SENDERS, texts: int = MAX_TEXTS) -> None:
        self._most_senders, self._most_texts = senders, texts
        self._lock = threading.Lock()
        self._texts: OrderedDict[str, OrderedDict[int, _Text]] = OrderedDict()
        self._by_command: dict[int, Key] = {}

    def add(self, key: Key) -> bool:
        """Record a text; False when it is known already."""
        sender, number = key
        with self._lock:
            texts = self._texts.setdefault(sender, OrderedDict())
            self._texts.move_to_end(sender)
            if number in texts:
                return False
            texts[number] = _Text()
            if len(texts) > self._most_texts:
                self._forget(texts.popitem(last=False)[1])
            if len(self._texts) > self._most_senders:
                for text in self._texts.popitem(last=False)[1].values():
                    self._forget(text)
            return True

    def replies(self, key: Key) -> list[Any]:
        """The replies to a text so far."""
        with self._lock:
            text = self._find(key)
            return list(text.replies) if text else []

    def append(self, key: Key, message: Any, command: int) -> None:
        """Record a reply to a text, and the command it started (0: none)."""
        with self._lock:
            text = self._find(key)
            if text is not None:
                text.replies.append(message)
                if command:
                    text.command = command
                    self._by_command[command] = key

    def append_report(self, message: Any) -> None:
        """Record the report that ended a command of a text."""
        with self._lock:
            text = self._find(self._by_command.get(message.origin, ("", 0)))
            if text is not None:
                text.replies.append(message)
                if not message.more:
                    del self._by_command[message.origin]

    def number_of(self, command: int) -> int:
        """Number of the text that started a command under way; 0: none, or forgotten."""
        with self._lock:
            return self._by_command.get(command, ("", 0))[1]

    def _find(self, key: Key) -> _Text | None:
        texts = self._texts.get(key[0])
        return texts.get(key[1]) if texts is not None else None

    def _forget(self, text: _Text) -> None:
        self._by_command.pop(text.command, None)
