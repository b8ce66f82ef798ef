"""The database on disk: an SQLite file with its history, and beside it the last copy that was found good.

[JPL-RTC section 6: a lost world model takes weeks to restore.] A save is one transaction, so a restart finds the last
or the previous one. A damaged file is replaced by the good copy, whose values are then suspect.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from telerobot_nodes.rtc.world.database import Database, DatabaseError, Item, Validity

HISTORY = 100_000  # rows kept beside the newest of each item
COPY_EVERY = 30  # saves between two good copies
_SCHEMA = """
create table if not exists items (key text, revision integer, value text, validity text, frame text, author text,
                                  stamp real, primary key (key, revision)) without rowid;
create table if not exists declared (key text primary key, value text, frame text) without rowid;
create table if not exists digest (text text);
create view if not exists newest as select key, max(revision) as revision, value, validity, frame, author, stamp
                                    from items group by key;
"""


def save(database: Database, file: Path) -> None:
    """Add what has changed to the file, in one transaction. Raises OSError when the disk is full."""
    with _opened(file) as store:
        if not list(store.execute("pragma table_info(items)")):
            store.executescript(_SCHEMA)
        since = store.execute("select max(revision) from items").fetchone()[0]
        items = database.view.query()
        new = [_row(item) for item in items if since is None or item.revision > since]
        gone = set(_keys(store)) - {item.key for item in items}
        with store:
            store.executemany("insert or replace into items values (?, ?, ?, ?, ?, ?, ?)", new)
            store.executemany("delete from items where key = ?", [(key,) for key in gone])
            store.execute("delete from declared")
            store.executemany("insert into declared values (?, ?, ?)", [_said(item) for item in database.declared])
            store.execute("delete from digest")
            written = [_item(row) for row in store.execute("select * from newest order by key")]
            store.execute("insert into digest values (?)", [_digest(written)])


def load(file: Path) -> Database:
    """The database of a file; items that were being changed when it was written are suspect.

    Raises DatabaseError when the file is not whole, FileNotFoundError when there is none.
    """
    if not file.is_file():
        raise FileNotFoundError(file)
    try:
        with _opened(file) as store:
            items = [_item(row) for row in store.execute("select * from newest order by key")]
            declared = [Item(key, _value(value), frame=frame) for key, value, frame in _rows(store, "declared")]
            whole = [text for (text,) in _rows(store, "digest")] == [_digest(items)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DatabaseError(f"{file.name} is not a whole database: {error}") from error
    if not whole:
        raise DatabaseError(f"{file.name}: the checksum does not fit")
    return Database((_settled(item) for item in items), declared)


def history(file: Path, key: str) -> list[Item]:
    """The values of an item as they were saved, oldest first. Raises DatabaseError."""
    try:
        with _opened(file) as store:
            return [_item(row) for row in store.execute("select * from items where key = ? order by revision", [key])]
    except OSError as error:
        raise DatabaseError(f"{file.name} is not a whole database: {error}") from error


@contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    """A connection; its errors are OSErrors."""
    try:
        with closing(sqlite3.connect(file, timeout=5.0)) as store:
            store.text_factory = lambda data: data.decode("utf-8")  # damaged text is an error, not a replacement
            yield store
    except sqlite3.Error as error:
        raise OSError(str(error)) from error


def _rows(store: sqlite3.Connection, table: str) -> list[tuple[str, ...]]:
    return list(store.execute(f"select * from {table}"))


def _keys(store: sqlite3.Connection) -> list[str]:
    return [key for (key,) in store.execute("select distinct key from items")]


def _row(item: Item) -> tuple[object, ...]:
    validity = item.validity.name.lower()
    return (item.key, item.revision, json.dumps(item.value), validity, item.frame, item.author, item.stamp)


def _said(item: Item) -> tuple[str, str, str]:
    return (item.key, json.dumps(item.value), item.frame)


def _item(row: tuple[object, ...]) -> Item:
    key, revision, value, validity, frame, author, stamp = row
    return Item(key, _value(value), Validity[str(validity).upper()], frame, author, stamp, revision)  # type: ignore[arg-type]


def _value(text: object) -> float | bool | str | tuple[float, ...]:
    value = json.loads(str(text))
    return tuple(value) if isinstance(value, list) else value  # type: ignore[no-any-return]


def _settled(item: Item) -> Item:
    return replace(item, validity=Validity.SUSPECT) if item.validity is Validity.BUSY else item


def _digest(items: Iterable[Item]) -> str:
    return hashlib.sha256(json.dumps([_row(item) for item in items], allow_nan=False).encode()).hexdigest()


class SnapshotStore:
    """A database and its file on disk; `file` None: none.

    What the workcell file says now, and did not say when the file was saved, takes effect. Positions of arms are
    suspect, as they may have moved. `notice`: what went wrong at the start and was mended, or an empty text.
    """

    def __init__(self, file: Path | None, items: Iterable[Item]) -> None:
        """Raises DatabaseError when neither the file nor its good copy is whole."""
        self.file = file
        self.restored, self.notice = False, ""
        self.database = Database()
        if file is not None and file.exists():
            self.database = self._restored(file)
            self.restored = True
        self._saved = self.database.view.revision if self.restored and not self.notice else -1
        self._saves = 0
        self.database.declare(items)

    @property
    def copy(self) -> Path | None:
        """The good copy beside the file."""
        return None if self.file is None else self.file.with_name(f"{self.file.name}.good")

    @property
    def is_new(self) -> bool:
        """Whether the database has changed since it was saved."""
        return self.file is not None and self.database.view.revision != self._saved

    def save(self) -> None:
        """Write the file, when there is one and something has changed. Raises OSError when the disk is full."""
        if self.file is None or not self.is_new:
            return
        revision = self.database.view.revision
        save(self.database, self.file)
        self._saved = revision
        self._saves += 1
        if self._saves % COPY_EVERY == 1:
            self._keep_copy(self.file)

    def _restored(self, file: Path) -> Database:
        try:
            database = load(file)
        except DatabaseError as damaged:
            copy = file.with_name(f"{file.name}.good")
            if not copy.exists():
                raise
            database = load(copy)
            self.notice = f"{damaged}; restored from {copy.name}, everything in it is suspect"
            file.replace(file.with_name(f"{file.name}.damaged"))
            shutil.copyfile(copy, file)
            revision = database.view.revision + 1
            doubted = [
                replace(item, validity=min(item.validity, Validity.SUSPECT), revision=revision)
                for item in database.view.query()
            ]
            return Database(doubted, database.declared)
        _prune(file)
        self._keep_copy(file)
        return Database((_moved(item) for item in database.view.query()), database.declared)

    def _keep_copy(self, file: Path) -> None:
        """Replace the good copy, once the new one is whole."""
        scratch = file.with_name(f".{file.name}.copy")
        try:
            scratch.unlink(missing_ok=True)
            with _opened(file) as store, _opened(scratch) as target:
                store.backup(target)
            load(scratch)
            scratch.replace(file.with_name(f"{file.name}.good"))
        finally:
            with suppress(OSError):
                scratch.unlink(missing_ok=True)


def _prune(file: Path) -> None:
    """Drop the oldest history, never the newest row of an item."""
    with _opened(file) as store, store:
        (rows,) = store.execute("select count(*) from items").fetchone()
        if rows > HISTORY:
            store.execute(
                "delete from items where (key, revision) not in (select key, revision from newest) and revision <= "
                "(select revision from items order by revision desc limit 1 offset ?)",
                [HISTORY],
            )


def _moved(item: Item) -> Item:
    """The item, suspect if it is the joints of an arm, which may have moved."""
    if item.key.endswith(".joints"):
        return replace(item, validity=min(item.validity, Validity.SUSPECT))
    return item
