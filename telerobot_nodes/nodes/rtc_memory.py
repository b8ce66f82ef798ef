"""What was said to whom: a text that comes again over the link is not done again, its answers are said again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

MOST = 2000  # texts remembered

Key = tuple[str, int]  # sender on the link, number of the message


class Memory:
    """The latest texts and what was answered. Any thread."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._said: OrderedDict[Key, list[Any]] = OrderedDict()
        self._by_command: dict[int, Key] = {}

    def is_new(self, key: Key) -> bool:
        """True the first time; from then on the text is known."""
        with self._lock:
            if key in self._said:
                return False
            self._said[key] = []
            if len(self._said) > self._most:
                forgotten, _ = self._said.popitem(last=False)
                self._by_command = {n: k for n, k in self._by_command.items() if k != forgotten}
            return True

    def said(self, key: Key) -> list[Any]:
        """What was answered to a text so far."""
        with self._lock:
            return list(self._said.get(key, ()))

    def keep(self, key: Key, message: Any, command: int) -> None:
        """The answer to a text, and the command it began (0: none)."""
        with self._lock:
            if key in self._said:
                self._said[key].append(message)
                if command:
                    self._by_command[command] = key

    def ended(self, message: Any) -> None:
        """A command has ended; with the last of its text nothing more will be said."""
        with self._lock:
            key = self._by_command.get(message.origin)
            if key is not None and key in self._said:
                self._said[key].append(message)
                if not message.more:
                    del self._by_command[message.origin]
