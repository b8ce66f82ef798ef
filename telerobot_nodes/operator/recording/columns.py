"""Many serialized messages of one type as columns: a hundred times as fast as one by one.

Messages of one layout, which is the same lengths of strings and sequences, have each field at the same place. The
layout is found from one message; the others are cut by NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.recording.bag_index import Table

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore

HEAD = 4  # [B] of CDR: byte order and options
LITTLE = 1  # byte order in it
_PLAIN = {"bool": "u1", "byte": "u1", "char": "u1", "string": ""}

Octets = npt.NDArray[np.uint8]
Column = npt.NDArray[Any]  # (n,) of a number or a text, (n, k) of an array


@dataclass(frozen=True)
class Place:
    """Where a field is in a message."""

    offset: int  # [B]
    dtype: str  # of one value; "S12": a text of 12 bytes
    count: int = -1  # values of an array; -1: one value


@dataclass
class Layout:
    """Where the fields of a message are: by dotted name, as `wrench.force.x`."""

    fields: dict[str, Place] = field(default_factory=dict)
    lengths: list[int] = field(default_factory=list)  # [B] offsets of the lengths that all messages share


def by_length(messages: Sequence[bytes | memoryview]) -> list[Table]:
    """Serialized messages, those of one length together."""
    sizes = np.fromiter((len(message) for message in messages), np.int64, len(messages))
    found = []
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        octets = np.frombuffer(b"".join(messages[row] for row in rows.tolist()), np.uint8)
        found.append((rows, octets.reshape(len(rows), size)))
    return found


def columns(store: Typestore, kind: str, tables: Sequence[Table], names: Sequence[str]) -> dict[str, Column]:
    """The fields `names` of serialized messages of type `kind`, one row for each message.

    Raises InvalidValueError naming type and field when a field is unknown, or an array has not the same length in all.
    """
    whole: dict[str, Column] = {}
    count = sum(len(rows) for rows, _ in tables)
    for rows, octets, layout in groups(store, kind, tables):
        for name in names:
            values = _cut(octets, layout, kind, name)
            if name not in whole:
                whole[name] = np.zeros((count, *values.shape[1:]), values.dtype)
            whole[name] = _put(whole[name], rows, values, f"{kind}.{name}")
    return whole


def usual(store: Typestore, kind: str, tables: Sequence[Table], names: Sequence[str]) -> npt.NDArray[np.int64]:
    """Rows of the messages whose arrays `names` have the lengths that most messages have. Raises InvalidValueError."""
    rows: dict[tuple[int, ...], list[npt.NDArray[np.int64]]] = {}
    for some, _, layout in groups(store, kind, tables):
        counts = tuple(layout.fields[name].count if name in layout.fields else -1 for name in names)
        rows.setdefault(counts, []).append(some)
    most = max(rows.values(), key=lambda parts: sum(map(len, parts)), default=[np.empty(0, np.int64)])
    return np.sort(np.concatenate(most))


def _put(column: Column, rows: npt.NDArray[np.int64], values: Column, name: str) -> Column:
    if column.shape[1:] != values.shape[1:]:
        found = sorted({column.shape[1:], values.shape[1:]})
        raise InvalidValueError(f"{name} (length)", found, "allowed: the same in all messages")
    if values.dtype.kind == "U" and values.dtype.itemsize > column.dtype.itemsize:
        column = column.astype(values.dtype)
    column[rows] = values
    return column


def groups(
    store: Typestore, kind: str, tables: Sequence[Table]
) -> Iterator[tuple[npt.NDArray[np.int64], Octets, Layout]]:
    """Messages of one layout: their rows, their bytes (n, size), the layout. Raises InvalidValueError."""
    for rows, octets in tables:
        while len(rows):
            layout = layout_of(store, kind, octets[0].tobytes())
            same = np.ones(len(rows), bool)
            for at in layout.lengths:
                same &= (octets[:, at : at + 4] == octets[0, at : at + 4]).all(axis=1)
            if same.all():  # nearly always; nothing is copied
                yield rows, octets, layout
                break
            yield rows[same], octets[same], layout
            rows, octets = rows[~same], octets[~same]  # noqa: PLW2901


def _cut(octets: Octets, layout: Layout, kind: str, name: str) -> Column:
    place = layout.fields.get(name)
    if place is None:
        raise InvalidValueError(f"field of {kind}", name, f"allowed: {', '.join(sorted(layout.fields))}")
    dtype = np.dtype(place.dtype)
    size = max(place.count, 1) * dtype.itemsize if place.count else 0
    if dtype.kind == "S":
        return _texts(octets[:, place.offset : place.offset + size], dtype)
    if not size:
        return np.empty((len(octets), 0), dtype)
    cut = np.ascontiguousarray(octets[:, place.offset : place.offset + size]).view(dtype)
    return cut if place.count >= 0 else cut[:, 0]


def _texts(octets: Octets, dtype: np.dtype[Any]) -> Column:
    if not dtype.itemsize:
        return np.full(len(octets), "", "U1")
    packed = np.ascontiguousarray(octets).view(dtype)[:, 0]
    different, which = np.unique(packed, return_inverse=True)
    return np.array([text.decode("utf-8", "replace") for text in different.tolist()], "U")[which]


def layout_of(store: Typestore, kind: str, message: bytes) -> Layout:
    """Layout of one serialized message. Raises InvalidValueError naming the type when it is not little-endian CDR."""
    if len(message) < HEAD or message[1] != LITTLE:
        raise InvalidValueError(f"{kind} (encoding)", message[:HEAD].hex(), "allowed: CDR, little-endian")
    walk = _Walk(store.fielddefs, message)
    try:
        walk.message(kind, "")
    except IndexError:
        raise InvalidValueError(f"{kind} (length)", len(message), "allowed: a whole message") from None
    return walk.layout


class _Walk:
    """One pass over a message that notes where its fields are."""

    def __init__(self, definitions: Mapping[str, Any], message: bytes) -> None:
        self._definitions, self._message, self._at = definitions, message, HEAD
        self.layout = Layout()

    def message(self, kind: str, path: str) -> None:
        for name, (sort, detail) in self._definitions[kind][1]:
            self._field(sort.name, detail, f"{path}{name}")

    def _field(self, sort: str, detail: Any, path: str) -> None:
        if sort == "NAME":
            self.message(detail, f"{path}.")
        elif sort == "BASE":
            self._value(detail[0], path)
        else:
            (inner, kind), count = detail
            self._array(inner.name, kind, self._length() if sort == "SEQUENCE" else count, path)

    def _array(self, sort: str, detail: Any, count: int, path: str) -> None:
        if sort == "BASE" and detail[0] != "string":
            dtype = _dtype(detail[0])
            at = self._aligned(dtype.itemsize) if count else self._at
            self._note(path, Place(at, dtype.str, count), count * dtype.itemsize)
        else:
            for k in range(count):
                self._field(sort, detail, f"{path}[{k}]")

    def _value(self, kind: str, path: str) -> None:
        if kind == "string":
            size = self._length()
            self._note(path, Place(self._at, f"S{max(size - 1, 0)}"), size)
        else:
            dtype = _dtype(kind)
            self._note(path, Place(self._aligned(dtype.itemsize), dtype.str), dtype.itemsize)

    def _note(self, path: str, place: Place, size: int) -> None:
        self.layout.fields[path] = place
        self._at += size
        if self._at > len(self._message):
            raise IndexError

    def _length(self) -> int:
        at = self._aligned(4)
        self.layout.lengths.append(at)
        self._at += 4
        if self._at > len(self._message):
            raise IndexError
        return int.from_bytes(self._message[at : at + 4], "little")

    def _aligned(self, size: int) -> int:
        self._at = HEAD + -(-(self._at - HEAD) // size) * size
        return self._at


def _dtype(kind: str) -> np.dtype[Any]:
    return np.dtype(_PLAIN.get(kind, kind))
