"""A journal of one value: the last complete line survives a kill, a power cut, and a torn write.

What belongs here: lines with a checksum, flushed to disk, in a file of bounded size. What must never enter: what the
lines mean.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path

from telerobot_nodes.errors import JournalError

MOST_BYTES = 1_000_000  # size at which only the last line is kept


class Journal:
    """Appends lines to `file`; `last` is the newest complete one of an earlier run. Raises JournalError."""

    def __init__(self, file: Path, most_bytes: int = MOST_BYTES) -> None:
        self.file = file
        self._most_bytes = most_bytes
        self.last = ""
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self.last = _newest(file.read_bytes()) if file.exists() else ""
            self._restart(self.last)
        except OSError as error:
            raise JournalError(f"journal {file}: {error.strerror or error}") from None

    def write(self, text: str) -> None:
        """Put `text`, one line, on disk; returns when it is there. Unchanged text is not written again."""
        if text == self.last:
            return
        try:
            if self._size > self._most_bytes:
                self._restart(text)
            else:
                self._append(text)
        except OSError as error:
            raise JournalError(f"journal {self.file}: {error.strerror or error}") from None
        self.last = text

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _append(self, text: str) -> None:
        line = _line(text)
        written = os.write(self._descriptor, line)
        if written != len(line):
            os.write(self._descriptor, b"\n")  # ends the torn line, so that the next one is whole
            raise OSError(28, "no space left")
        os.fdatasync(self._descriptor)
        self._size += written

    def _restart(self, text: str) -> None:
        """A file that holds only `text` takes the place of the old one, whole or not at all."""
        fresh = self.file.with_suffix(self.file.suffix + ".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        old, self._descriptor, self._size = getattr(self, "_descriptor", None), descriptor, 0
        if text:
            self._append(text)
        fresh.replace(self.file)
        if old is not None:
            os.close(old)


def _line(text: str) -> bytes:
    body = text.replace("\n", " ").encode()
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _newest(content: bytes) -> str:
    for line in reversed(content.split(b"\n")[:-1]):
        checksum, _, body = line.partition(b" ")
        if checksum == b"%08x" % zlib.crc32(body):
            return body.decode()
    return ""
