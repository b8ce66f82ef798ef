"""What a node notes for its successor: whether it runs, and what must outlive it.

What belongs here: the note and its place. What must never enter: what the notes mean.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from telerobot_nodes.core.config.journal import Journal

Note = Mapping[str, str | int | bool]


class LifeRecord:
    """A note in a journal; without a file nothing is kept. Raises JournalError.

    `note`: the predecessor's latest. `died`: it has not come to its end in order, or its note cannot be read.
    """

    def __init__(self, file: Path | None) -> None:
        self._journal = Journal(file) if file is not None else None
        self.died = False
        self.note: Note = {}
        if self._journal is not None and self._journal.last:
            try:
                self.died, self.note = _read(self._journal.last)
            except (ValueError, KeyError, TypeError):
                self.died = True

    def write(self, note: Note, runs: bool) -> None:
        """Note this on disk; `runs` False: this node has come to its end in order."""
        if self._journal is not None:
            self._journal.write(json.dumps({"runs": runs, "note": dict(note)}))


def _read(line: str) -> tuple[bool, Note]:
    read = json.loads(line)
    if not isinstance(read["runs"], bool) or not isinstance(read["note"], dict):
        raise TypeError(line)
    return read["runs"], read["note"]
