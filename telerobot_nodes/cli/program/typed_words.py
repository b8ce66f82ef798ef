"""What a person types while a command waits for its steps, read without waiting for it."""

from __future__ import annotations

import os
import select
import sys

OF_A_COMMAND = frozenset(("step", "continue", "pause", "resume", "cancel"))
HELP = "enter: step; also: continue, cancel, or any text"


class TypedLines:
    """Lines of standard input as they come."""

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = sys.stdin.fileno() if descriptor is None else descriptor
        self._rest = b""
        self._open = True

    def read(self) -> list[str]:
        """The lines typed since the last call; none after the end of the input."""
        while self._open and select.select([self._descriptor], [], [], 0.0)[0]:
            read = os.read(self._descriptor, 4096)
            self._open = bool(read)
            self._rest += read
        *lines, self._rest = self._rest.split(b"\n")
        return [line.decode("utf-8", "replace").strip() for line in lines]


def text_of(line: str, command: int) -> str:
    """The text meant by a line typed while a command is shown; empty for none."""
    word = line.lower() or "step"
    if word in OF_A_COMMAND:
        return f"{word} command {command}" if command else ""
    return line
