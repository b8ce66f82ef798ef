"""Random access to the messages of MCAP files: where each message of a topic is, without reading the others.

The libraries read a bag from its beginning, message by message: a minute and more for the three million messages of an
hour. The index at the end of each chunk says where the messages of a topic are.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

from telerobot_nodes.errors import InvalidValueError

# Layout of MCAP records, by the format's specification: opcode, length, content
_RECORD = 9
_CHUNK_HEAD = Struct("<QQQII")  # start, end, size, checksum, length of the compression's name
_MESSAGE_HEAD = 22  # channel, sequence, log time, publish time
_INDEX_HEAD = _RECORD + 6  # channel, length of the entries
_LENGTH = Struct("<Q")
_COUNT = Struct("<I")
CHUNKS_KEPT = 8  # unpacked, of a compressed file

Bytes = bytes | memoryview
Table = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]  # messages of one length: rows (n,), bytes (n, length)


@dataclass(frozen=True)
class Places:
    """Where the messages of a topic are, in order of receipt."""

    time: npt.NDArray[np.int64]  # (n,) [ns, ROS time]
    chunk: npt.NDArray[np.int64]  # (n,)
    offset: npt.NDArray[np.int64]  # (n,) [B] in the chunk

    def __getitem__(self, which: slice | npt.NDArray[np.int64]) -> Places:
        return Places(self.time[which], self.chunk[which], self.offset[which])


class BagIndex:
    """Index of the MCAP files of one recording. Raises InvalidValueError naming a file that has no index."""

    def __init__(self, files: list[Path]) -> None:
        self._maps: list[mmap.mmap] = []
        self._chunks: list[tuple[int, Any]] = []  # file, ChunkIndex
        self._channels: dict[str, set[tuple[int, int]]] = {}  # topic -> file and channel
        for file in files:
            self._add(file)
        self._unpacked = lru_cache(maxsize=CHUNKS_KEPT)(self._unpack)

    def close(self) -> None:
        """Forget the files; the memory of messages in use is released when they are."""
        self._maps.clear()
        self._chunks.clear()

    def places(self, topic: str) -> Places:
        """Every message of a topic."""
        channels = self._channels.get(topic, set())
        parts = [
            (number, entries)
            for number, (file, chunk) in enumerate(self._chunks)
            for channel, at in chunk.message_index_offsets.items()
            if (file, channel) in channels and len(entries := self._entries(file, at))
        ]
        if not parts:
            empty: npt.NDArray[np.int64] = np.empty(0, np.int64)
            return Places(empty, empty, empty)
        entries = np.concatenate([part for _, part in parts])
        chunk = np.repeat([number for number, _ in parts], [len(part) for _, part in parts])
        order = np.argsort(entries[:, 0], kind="stable")
        return Places(entries[order, 0], chunk[order], entries[order, 1])

    def messages(self, places: Places) -> Iterator[Bytes]:
        """The serialized messages at `places`."""
        read, present, content, begin = _LENGTH.unpack_from, -1, memoryview(b""), 0
        for number, offset in zip(places.chunk.tolist(), places.offset.tolist(), strict=True):
            if number != present:  # most follow one of their own chunk
                content, start = self._unpacked(number)
                present, begin = number, start + _RECORD
            at = begin + offset
            yield content[at + _MESSAGE_HEAD : at + read(content, at - 8)[0]]

    def tables(self, places: Places) -> list[Table]:
        """The serialized messages at `places`, those of one length together. Their rows are those of `places`.

        Raises InvalidValueError where the index does not fit its chunk.
        """
        found: dict[int, list[Table]] = {}
        order = np.argsort(places.chunk, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(places.chunk[order])) + 1):
            if len(rows):
                content, start = self._unpacked(int(places.chunk[rows[0]]))
                try:
                    for some, octets in _cut(content, places.offset[rows] + start + _RECORD):
                        found.setdefault(octets.shape[1], []).append((rows[some], octets))
                except (IndexError, ValueError):
                    damaged = f"allowed: a file whose index fits; chunk {int(places.chunk[rows[0]])} does not"
                    raise InvalidValueError("bag (index)", "damaged", damaged) from None
        columns = [tuple(zip(*parts, strict=True)) for parts in found.values()]
        return [(np.concatenate(rows), np.concatenate(octets)) for rows, octets in columns]

    def _add(self, file: Path) -> None:
        from mcap.exceptions import McapError
        from mcap.reader import make_reader

        try:
            with file.open("rb") as stream:
                summary = make_reader(stream).get_summary()
                self._maps.append(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
        except (OSError, McapError, ValueError) as error:
            raise InvalidValueError("bag", str(file), f"allowed: a closed MCAP file; {error}") from None
        if summary is None or (summary.statistics and summary.statistics.message_count and not summary.chunk_indexes):
            raise InvalidValueError("bag", str(file), "allowed: an MCAP file with an index; `mcap recover` makes one")
        number = len(self._maps) - 1
        self._chunks += [(number, chunk) for chunk in summary.chunk_indexes]
        for channel in summary.channels.values():
            self._channels.setdefault(channel.topic, set()).add((number, channel.id))

    def _entries(self, file: int, at: int) -> npt.NDArray[np.int64]:
        """(n, 2) receipt [ns] and offset [B] of the message index at `at`."""
        head = at + _INDEX_HEAD
        size = _COUNT.unpack_from(self._maps[file], head - 4)[0]
        entries = np.frombuffer(self._maps[file], np.int64, size // 8, head)
        return entries.reshape(-1, 2)

    def _unpack(self, number: int) -> tuple[memoryview, int]:
        """Content of a chunk, and where in it the records begin."""
        file, chunk = self._chunks[number]
        whole = memoryview(self._maps[file])
        head = chunk.chunk_start_offset + _RECORD + _CHUNK_HEAD.size + len(chunk.compression) + 8
        if not chunk.compression:
            return whole, head
        return memoryview(plain(whole[head : head + chunk.compressed_size], chunk.compression)), 0


def _cut(content: memoryview, at: npt.NDArray[np.int64]) -> Iterator[Table]:
    """The messages of records whose contents begin `at` (n,) [B]: views of every place, of which rows are taken."""
    length = np.ndarray((len(content) - 7,), "<u8", content, 0, (1,))[at - 8].astype(np.int64) - _MESSAGE_HEAD
    for size in np.unique(length).tolist():
        rows = np.flatnonzero(length == size)
        stretches = np.ndarray((len(content) - size + 1, size), np.uint8, content, 0, (1, 1))
        yield rows, stretches[at[rows] + _MESSAGE_HEAD]


def plain(packed: memoryview, compression: str) -> Bytes:
    """The content of a chunk. Raises InvalidValueError for a compression that is not known."""
    if not compression:
        return packed
    if compression == "zstd":
        import zstandard

        return zstandard.ZstdDecompressor().decompress(packed)
    if compression == "lz4":
        from lz4.frame import decompress  # type: ignore[import-untyped]

        return bytes(decompress(packed))
    raise InvalidValueError("bag (compression)", compression, "allowed: zstd, lz4 or none")
