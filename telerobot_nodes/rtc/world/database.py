"""Database server: geometric and spatial state with validity flags, one writer per entity [JPL-RTC section 5].

What belongs here: items, validity, claims, reading. What must never enter: deciding what is true (`analysis.py`),
files (`snapshot.py`), clocks. Items are immutable and writes replace the whole mapping, so a view or a copy costs
nothing and never changes under its reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from telerobot_nodes.core.values import FloatArray, finite_array, pose_from_se3, se3_from_pose
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.rtc.language import did_you_mean

WORLD = "world"
MAX_CHAIN = 16  # frames between an entity and the world

Value: TypeAlias = "float | bool | str | tuple[float, ...]"


class Validity(IntEnum):
    """How far an item may be trusted; readers ask for at least one of these."""

    INVALID = 0  # known to be wrong
    BUSY = 1  # being changed by a motion under way
    SUSPECT = 2  # was right, something happened since
    VALID = 3  # confirmed by analysis


class DatabaseError(TelerobotError):
    """The database has no such item, it is not readable, or another writer has claimed it."""


@dataclass(frozen=True)
class Item:
    """One value `entity.attribute`, with the writer who confirmed it and when."""

    key: str
    value: Value
    validity: Validity = Validity.VALID
    frame: str = ""  # of a pose: the entity it is relative to
    author: str = ""
    stamp: float = 0.0  # [s] monotonic, of the last change
    revision: int = 0

    @property
    def entity(self) -> str:
        """The thing this is about."""
        return self.key.partition(".")[0]


@dataclass(frozen=True)
class Write:
    """One change asked for by an analysis unit. `value` None: only the validity changes."""

    key: str
    value: Value | None = None
    validity: Validity = Validity.VALID
    frame: str = ""


class View:
    """The database as it was at one moment; read by any module."""

    def __init__(self, items: Mapping[str, Item], revision: int) -> None:
        self._items = items
        self.revision = revision

    def item(self, key: str) -> Item:
        """The item, whatever its validity; raises DatabaseError when there is none."""
        try:
            return self._items[key]
        except KeyError:
            raise DatabaseError(f"the database has no {key!r}; {did_you_mean(key, self._items)}".strip("; ")) from None

    def has(self, key: str) -> bool:
        """True when there is such an item."""
        return key in self._items

    def read(self, key: str, at_least: Validity = Validity.VALID) -> Value:
        """The value; raises DatabaseError when the item is trusted less than `at_least`."""
        item = self.item(key)
        if item.validity < at_least:
            raise DatabaseError(f"{key} is {item.validity.name.lower()}, not {at_least.name.lower()}")
        return item.value

    def pose(self, entity: str, at_least: Validity = Validity.VALID) -> FloatArray:
        """Pose (7,) of an entity in WORLD, through everything it is attached to; raises DatabaseError."""
        T_world_entity = None
        frame = entity
        for _ in range(MAX_CHAIN):
            if frame == WORLD:
                if T_world_entity is None:
                    break
                return pose_from_se3(T_world_entity)
            item = self.item(f"{frame}.pose")
            T_frame_entity = se3_from_pose(self.read(item.key, at_least), item.key)
            T_world_entity = T_frame_entity if T_world_entity is None else T_frame_entity * T_world_entity
            frame = item.frame or WORLD
        if entity == WORLD:
            return np.array([0.0, 0, 0, 0, 0, 0, 1])
        raise DatabaseError(f"{entity} is attached to itself or too deep")

    def query(self, pattern: str = "*") -> tuple[Item, ...]:
        """Items whose key matches a glob pattern, sorted by key."""
        return tuple(self._items[key] for key in sorted(self._items) if fnmatchcase(key, pattern))

    def entities(self) -> frozenset[str]:
        """All entities that have an item."""
        return frozenset(item.entity for item in self._items.values())


class Database:
    """The one place that changes. Writers claim entities first; an entity has one writer at a time."""

    def __init__(self, items: Iterable[Item] = (), declared: Iterable[Item] = ()) -> None:
        """`declared`: what the workcell file said when the items were saved; see `declare`."""
        self._items: dict[str, Item] = {item.key: item for item in items}
        self._declared: dict[str, Item] = {item.key: item for item in declared}
        self._revision = max((item.revision for item in self._items.values()), default=0)
        self._writers: dict[str, str] = {}
        for item in self._items.values():
            _check(item)

    @property
    def view(self) -> View:
        """What readers get; costs nothing."""
        return View(MappingProxyType(self._items), self._revision)

    @property
    def writers(self) -> Mapping[str, str]:
        """Who may write which entity now."""
        return MappingProxyType(self._writers)

    def copy(self) -> Database:
        """An independent database with the same items and no writers, for hypothesis testing."""
        copied = Database()
        copied._items, copied._declared = self._items, self._declared
        copied._revision = self._revision
        return copied

    def claim(self, writer: str, entities: Iterable[str]) -> None:
        """Make `writer` the only writer of these entities, all or none; raises DatabaseError naming the other."""
        wanted = tuple(entities)
        for entity in wanted:
            other = self._writers.get(entity, writer)
            if other != writer:
                raise DatabaseError(f"{entity} is being written by {other}, not by {writer}")
        self._writers.update(dict.fromkeys(wanted, writer))

    def release(self, writer: str) -> None:
        """End every claim of `writer`."""
        self._writers = {entity: owner for entity, owner in self._writers.items() if owner != writer}

    @property
    def declared(self) -> tuple[Item, ...]:
        """What the workcell file says."""
        return tuple(self._declared.values())

    def declare(self, items: Iterable[Item]) -> None:
        """Take what the workcell file says now: what is new there or was corrected takes effect, what is gone goes.

        What was measured since stays while the file is unchanged; so does an object in a hand, and what a
        motion under way changes.
        """
        said = {item.key: item for item in items}
        for item in said.values():
            _check(item)
        changed, revision = dict(self._items), self._revision + 1
        for key in [*said, *self._declared]:
            before, now, known = self._declared.get(key), said.get(key), changed.get(key)
            same = before is None or (now is not None and (before.value, before.frame) == (now.value, now.frame))
            if known is not None and known.validity is Validity.BUSY and before is not None:
                said[key] = before  # a motion under way changes it: next time
            if known is not None and (same or _is_in_use(known, before)):
                continue
            if now is None:
                changed.pop(key, None)
            else:
                changed[key] = replace(now, revision=revision)
        self._declared = said
        if changed != self._items:
            self._items, self._revision = changed, revision

    def write(self, writer: str, writes: Iterable[Write], now: float) -> int:
        """Apply all changes or none; returns the new revision; raises DatabaseError or InvalidValueError."""
        changed = dict(self._items)
        revision = self._revision + 1
        for entry in writes:
            item = self._changed(changed, entry, writer, now, revision)
            if self._writers.get(item.entity) != writer:
                raise DatabaseError(f"{writer} has not claimed {item.entity}")
            changed[item.key] = item
        self._items = changed
        self._revision = revision
        return revision

    def _changed(self, items: Mapping[str, Item], entry: Write, writer: str, now: float, revision: int) -> Item:
        old = items.get(entry.key)
        if entry.value is None:
            if old is None:
                raise DatabaseError(f"the database has no {entry.key!r} to mark")
            return replace(old, validity=entry.validity, author=writer, stamp=now, revision=revision)
        item = Item(entry.key, _frozen(entry.value), entry.validity, entry.frame, writer, now, revision)
        _check(item)
        return item


def _is_in_use(known: Item, declared: Item | None) -> bool:
    """Whether a motion changes the item now, or the object is somewhere else than on what it was declared on."""
    return known.validity is Validity.BUSY or known.frame != (declared.frame if declared else "")


def _frozen(value: object) -> Value:
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float, np.floating)):
        return float(value)
    return tuple(float(number) for number in np.asarray(value, dtype=np.float64).reshape(-1))


def _check(item: Item) -> None:
    entity, dot, attribute = item.key.partition(".")
    if not (entity and dot and attribute):
        raise InvalidValueError("database.key", item.key, "allowed: entity.attribute")
    if attribute == "pose":
        se3_from_pose(item.value, item.key)
        if item.frame == entity:
            raise InvalidValueError(f"{item.key}.frame", item.frame, "allowed: another entity")
    elif isinstance(item.value, tuple):
        finite_array(item.value, item.key)
    elif isinstance(item.value, float) and not np.isfinite(item.value):
        raise InvalidValueError(item.key, item.value, "allowed: finite numbers")
