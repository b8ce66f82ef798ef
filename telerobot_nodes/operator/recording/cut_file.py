"""A recording that was never closed: of a recorder that was killed, or whose disk became full, or that still records.

Such a file has no index at its end. Opened as `CutFile`, it reads as if it had been closed after its last whole chunk;
the file itself is not changed, and its messages are not copied.
"""

from __future__ import annotations

import io
import mmap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PosixPath
from struct import Struct
from typing import Any

from telerobot_nodes.operator.recording.bag_index import plain

# MCAP records, by the format's specification: opcode, length, content
MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, INDEX, CHUNK_INDEX, STATISTICS, DATA_END = (
    *(1, 2, 3, 4, 5, 6, 7, 8, 11, 15),
)
HEAD = Struct("<BQ")
_CHUNK = Struct("<QQQII")  # start, end, size, checksum, length of the compression's name
_PLACES = Struct("<QQQQ")  # start, end, offset, length
_PLACE = Struct("<HQ")  # channel, offset or count
_NUMBER, _SIZE, _CHANNEL = Struct("<Q"), Struct("<I"), Struct("<H")
_STATISTICS = Struct("<QHIIIIQQ")  # messages, schemas, channels, attachments, metadata, chunks, start, end
_FOOTER = Struct("<QQI")  # where the summary begins, where its offsets begin, checksum


@dataclass
class _Group:
    """A chunk, and the index of its messages behind it."""

    offset: int
    length: int
    start: int  # [ns] of the first message
    end: int  # [ns]
    size: int  # [B] unpacked
    compression: str
    packed: slice  # in the file
    places: dict[int, int] = field(default_factory=dict)  # channel -> offset of its index
    counts: dict[int, int] = field(default_factory=dict)  # channel -> messages
    index_length: int = 0


class CutFile(PosixPath):
    """An MCAP file without an end, which readers open as any path. What is added to it later is not read."""

    def open(self, mode: str = "r", *_: Any, **__: Any) -> Any:  # type: ignore[override]
        """The file with an end, for reading bytes. Raises ValueError for another mode, struct.error for no MCAP."""
        if mode != "rb":
            raise ValueError(f"mode {mode!r}; allowed: 'rb'")
        return io.BufferedReader(_Joined(self, *self._scanned))

    @cached_property
    def _scanned(self) -> tuple[int, bytes]:
        """How many bytes of the file are whole, and the end that it lacks."""
        with io.FileIO(str(self)) as stream:
            return _Scan(memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))).over()


def is_cut(file: Path) -> bool:
    """Whether an MCAP file lacks its end. False for a file that is none."""
    with file.open("rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            return False
        stream.seek(-len(MAGIC), io.SEEK_END)
        return stream.tell() < len(MAGIC) or stream.read() != MAGIC


class _Joined(io.RawIOBase):
    """The first bytes of a file, and others in place of the rest."""

    def __init__(self, file: Path, kept: int, end: bytes) -> None:
        self._file = io.FileIO(str(file))
        self._kept, self._end, self._at = kept, end, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._kept + len(self._end)}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        if self._at < self._kept:
            self._file.seek(self._at)
            count = self._file.readinto(view[: self._kept - self._at]) or 0
        else:
            part = self._end[self._at - self._kept :][: len(view)]
            count = len(part)
            view[:count] = part
        self._at += count
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


class _Scan:
    """What the records of a cut file hold."""

    def __init__(self, view: memoryview) -> None:
        self._view = view
        self._groups: list[_Group] = []
        self._definitions: dict[tuple[int, int], bytes] = {}  # opcode and id -> record

    def over(self) -> tuple[int, bytes]:
        """How many bytes are whole, and the end after them."""
        kept = len(MAGIC)
        for code, at, end in _records(self._view, kept):
            if code in (FOOTER, DATA_END):
                break
            if code == CHUNK:
                self._begin(at, end)
            elif code == INDEX and self._groups:
                self._add_index(at, end)
            elif code in (SCHEMA, CHANNEL):
                self._define(code, self._view[at:end])
            kept = end
        if self._groups and not self._is_whole(self._groups[-1]):
            kept = self._groups.pop().offset
        return kept, self._end(kept)

    def _begin(self, at: int, end: int) -> None:
        body = at + HEAD.size
        start, last, size, _, length = _CHUNK.unpack_from(self._view, body)
        name = body + _CHUNK.size
        packed = slice(name + length + _NUMBER.size, end)
        compression = bytes(self._view[name : name + length]).decode()
        self._groups.append(_Group(at, end - at, start, last, size, compression, packed))

    def _add_index(self, at: int, end: int) -> None:
        group = self._groups[-1]
        channel = _CHANNEL.unpack_from(self._view, at + HEAD.size)[0]
        group.places[channel] = at
        group.counts[channel] = (end - at - HEAD.size - _CHANNEL.size - _SIZE.size) // (2 * _NUMBER.size)
        group.index_length = end - group.offset - group.length
        if (CHANNEL, channel) not in self._definitions:
            for code, record in self._content(group):
                if code in (SCHEMA, CHANNEL):
                    self._define(code, record)

    def _define(self, code: int, record: memoryview) -> None:
        self._definitions.setdefault((code, _CHANNEL.unpack_from(record, HEAD.size)[0]), bytes(record))

    def _content(self, group: _Group) -> Iterator[tuple[int, memoryview]]:
        """Opcode and whole record of all that is in a chunk."""
        content = memoryview(plain(self._view[group.packed], group.compression))
        for code, at, end in _records(content, 0):
            yield code, content[at:end]

    def _is_whole(self, group: _Group) -> bool:
        """Whether every message of the chunk is in its index: the cut may be between two parts of the index."""
        found = Counter(
            _CHANNEL.unpack_from(record, HEAD.size)[0] for code, record in self._content(group) if code == MESSAGE
        )
        return found == group.counts

    def _end(self, kept: int) -> bytes:
        """The records that close a file after `kept` bytes."""
        full = [group for group in self._groups if group.counts]
        counts: Counter[int] = Counter()
        for group in full:
            counts.update(group.counts)
        schemas = [record for (code, _), record in sorted(self._definitions.items()) if code == SCHEMA]
        channels = [record for (code, _), record in sorted(self._definitions.items()) if code == CHANNEL]
        first = min((group.start for group in full), default=0)
        last = max((group.end for group in full), default=0)
        numbers = (sum(counts.values()), len(schemas), len(channels), 0, 0, len(full), first, last)
        statistics = _STATISTICS.pack(*numbers) + _map(counts)
        data_end = _record(DATA_END, _SIZE.pack(0))
        footer = _record(FOOTER, _FOOTER.pack(kept + len(data_end), 0, 0))
        chunks = [_record(CHUNK_INDEX, _chunk_index(group)) for group in full]
        return b"".join((data_end, *schemas, *channels, *chunks, _record(STATISTICS, statistics), footer, MAGIC))


def _records(view: memoryview, at: int) -> Iterator[tuple[int, int, int]]:
    """Opcode, begin and end of the whole records from `at` on."""
    while at + HEAD.size <= len(view):
        code, length = HEAD.unpack_from(view, at)
        end = at + HEAD.size + length
        if not code or end > len(view):
            return
        yield code, at, end
        at = end


def _record(code: int, content: bytes) -> bytes:
    return HEAD.pack(code, len(content)) + content


def _map(values: dict[int, int]) -> bytes:
    return _SIZE.pack(len(values) * _PLACE.size) + b"".join(_PLACE.pack(*entry) for entry in sorted(values.items()))


def _chunk_index(group: _Group) -> bytes:
    name = group.compression.encode()
    return b"".join(
        (
            _PLACES.pack(group.start, group.end, group.offset, group.length),
            _map(group.places),
            _NUMBER.pack(group.index_length),
            _SIZE.pack(len(name)) + name,
            _NUMBER.pack(group.packed.stop - group.packed.start),
            _NUMBER.pack(group.size),
        )
    )
