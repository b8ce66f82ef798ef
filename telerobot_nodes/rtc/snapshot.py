"""The database on disk: whole, checked, replaced atomically, so that a restart finds the last one or the one before.

[JPL-RTC section 6: restoring the world model takes weeks when it is lost.]
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from telerobot_nodes.rtc.database import Database, DatabaseError, Item, Validity

FORMAT = 1


def save(database: Database, file: Path) -> None:
    """Write every item; the old file stays whole until the new one is on disk. Raises OSError when the disk is full."""
    body = json.dumps([_row(item) for item in database.view.query()], allow_nan=False, separators=(",", ":"))
    text = json.dumps({"format": FORMAT, "sha256": _digest(body), "items": body})
    scratch = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with scratch.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        scratch.replace(file)
    finally:
        scratch.unlink(missing_ok=True)
    _sync_folder(file.parent)


def load(file: Path) -> Database:
    """The database of a snapshot; what was being changed when it was written is suspect now.

    Raises DatabaseError when the file is not whole, FileNotFoundError when there is none.
    """
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        body = document["items"]
        if document["format"] != FORMAT or _digest(body) != document["sha256"]:
            raise DatabaseError(f"{file.name}: the checksum or format does not fit; restore a copy or start without")
        items = [_item(row) for row in json.loads(body)]
    except (ValueError, KeyError, TypeError) as error:
        raise DatabaseError(f"{file.name} is not a database snapshot: {error}") from error
    return Database(items)


def _row(item: Item) -> list[object]:
    value = list(item.value) if isinstance(item.value, tuple) else item.value
    return [item.key, value, int(item.validity), item.frame, item.author, item.stamp, item.revision]


def _item(row: list[object]) -> Item:
    key, value, validity, frame, author, stamp, revision = row
    kept = tuple(value) if isinstance(value, list) else value
    item = Item(key, kept, Validity(validity), frame, author, stamp, revision)  # type: ignore[arg-type]
    return replace(item, validity=Validity.SUSPECT) if item.validity is Validity.BUSY else item


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Keeper:
    """A database and the file that outlives the program; `file` None: nothing is kept.

    What is new in the workcell's file is added to what was kept. Where arms are is asked again, as they may have moved.
    """

    def __init__(self, file: Path | None, items: Iterable[Item]) -> None:
        self.file = file
        self.restored = False
        kept: dict[str, Item] = {}
        if file is not None and file.exists():
            kept = {item.key: _doubted(item) for item in load(file).view.query()}
            self.restored = True
        self.database = Database({**{item.key: item for item in items}, **kept}.values())
        self._saved = self.database.view.revision if self.restored else -1

    @property
    def is_new(self) -> bool:
        """True when something has changed since it was saved."""
        return self.file is not None and self.database.view.revision != self._saved

    def save(self) -> None:
        """Write the file, when there is one and something has changed. Raises OSError when the disk is full."""
        if self.file is not None and self.is_new:
            revision = self.database.view.revision
            save(self.database, self.file)
            self._saved = revision


def _doubted(item: Item) -> Item:
    """An arm may have moved since it was kept; `joints` and `pose` of what has joints."""
    if item.key.endswith(".joints"):
        return replace(item, validity=min(item.validity, Validity.SUSPECT))
    return item
