"""Bags as files: message definitions, and reading rosbag2 recordings without ROS."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError, NotInstalledError
from telerobot_nodes.operator.recording.bag_index import BagIndex, Bytes, Places
from telerobot_nodes.operator.recording.columns import Column, columns, usual
from telerobot_nodes.operator.recording.cut_file import CutFile, is_cut

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore

PACKAGE = "telerobot"
NANOSECOND = 1e-9  # [s]
MCAP = ".mcap"
METADATA = "metadata.yaml"  # written when a recording is closed
NO_BAG = f"neither a folder with {METADATA} or one .mcap file, nor such a file"


def message_folder() -> Path:
    """Folder of this package's .msg files: of the installed package, else of the source tree."""
    prefixes = [Path(entry) for entry in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if entry]
    folders = [prefix / "share" / PACKAGE / "msg" for prefix in (*prefixes, Path(sys.prefix))]
    folders.append(Path(__file__).resolve().parents[3] / "msg")
    for folder in folders:
        if any(folder.glob("*.msg")):
            return folder
    raise NotInstalledError("message definitions of telerobot are not found: build and install the package first")


def message_types() -> Typestore:
    """Every Jazzy standard type and this package's own, with the hashes ROS gives them."""
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    own: dict[str, Any] = {}
    for file in sorted(message_folder().glob("*.msg")):
        own.update(get_types_from_msg(file.read_text(encoding="utf-8"), f"{PACKAGE}/msg/{file.stem}"))
    store.register(own)
    return store


class BagReader:
    """A rosbag2 recording, folder or .mcap file, decoded with the definitions inside it.

    One that was never closed is read to its last whole chunk. Raises InvalidValueError naming the path when it is not a
    readable bag.
    """

    def __init__(self, path: Path) -> None:
        from rosbags.highlevel import AnyReader, AnyReaderError
        from rosbags.rosbag2 import ReaderError

        self.path = path
        self._errors = (AnyReaderError, ReaderError, OSError, AssertionError, struct.error)
        self._index: BagIndex | None = None
        try:
            self._source, self.closed = _source(path)
            self._reader = AnyReader([self._source])
            self._reader.open()
        except (*self._errors, ValueError) as error:
            raise InvalidValueError("bag", str(path), f"allowed: a rosbag2 recording; {error or NO_BAG}") from None

    def __enter__(self) -> BagReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        self._reader.close()
        if self._index is not None:
            self._index.close()

    @cached_property
    def topics(self) -> dict[str, str]:
        """Type of every topic in the bag."""
        return {connection.topic: connection.msgtype for connection in self._reader.connections}

    @property
    def counts(self) -> dict[str, int]:
        """Messages of every topic in the bag."""
        return {connection.topic: connection.msgcount for connection in self._reader.connections}

    @property
    def start(self) -> float:
        """Receipt of the first message [s, ROS time]."""
        return float(self._reader.start_time * NANOSECOND)

    @property
    def duration(self) -> float:
        """From the first receipt to the last [s]; 0 for an empty bag."""
        return max(0.0, self._reader.duration * NANOSECOND)

    def messages(self, topics: Collection[str] | None = None) -> Iterator[tuple[str, float, Any]]:
        """Topic, receipt [s, from the bag's start], and decoded message, in order of receipt."""
        wanted = [entry for entry in self._reader.connections if topics is None or entry.topic in topics]
        if not wanted:
            return
        start = self._reader.start_time
        for connection, time, data in self._reader.messages(connections=wanted):
            yield connection.topic, (time - start) * NANOSECOND, self._reader.deserialize(data, connection.msgtype)

    def serialized(self) -> Iterator[tuple[str, int, bytes]]:
        """Topic, receipt [ns, ROS time] and serialized message, in order of receipt."""
        for connection, time, data in self._reader.messages():
            yield connection.topic, time, data

    # one topic at a time, without the others ------------------------------------------------------------------

    @property
    def index(self) -> BagIndex:
        """Random access, of MCAP files. Raises InvalidValueError naming the bag."""
        if self._index is None:
            files = [self._source] if self._source.is_file() else sorted(self.path.glob(f"*{MCAP}"))
            if not files or any(file.suffix != MCAP for file in files):
                raise InvalidValueError("bag", str(self.path), "allowed: MCAP, which `telerobot` and ROS 2 record")
            self._index = BagIndex(files)
        return self._index

    @property
    def store(self) -> Typestore:
        """The message definitions in the bag."""
        return self._reader.typestore

    def seconds(self, places: Places) -> FloatArray:
        """(n,) [s, from the bag's start] receipts."""
        return np.asarray((places.time - self._reader.start_time) * NANOSECOND, dtype=np.float64)

    def decode(self, topic: str, data: Bytes) -> Any:
        """A serialized message of a topic. Raises InvalidValueError naming bag and topic when it is cut."""
        try:
            return self._reader.deserialize(bytes(data), self.topics[topic])
        except (*self._errors, ValueError, IndexError) as error:
            raise InvalidValueError(f"{self.path}: {topic}", "a message", f"allowed: whole ones; {error}") from None

    def columns(self, topic: str, names: Sequence[str]) -> dict[str, Column]:
        """Fields `names` of every message of a topic, and `time` [s, from the bag's start]; empty: no message.

        Raises InvalidValueError naming bag, topic and field.
        """
        return self._columns(topic, names, usual_only=False)[0]

    def usual_columns(self, topic: str, names: Sequence[str]) -> tuple[dict[str, Column], int]:
        """As `columns`, of the messages whose arrays are as long as those of most; and how many others there are.

        A stranger may have published messages that no node took. Raises InvalidValueError as `columns`.
        """
        return self._columns(topic, names, usual_only=True)

    def _columns(self, topic: str, names: Sequence[str], usual_only: bool) -> tuple[dict[str, Column], int]:
        places = self.index.places(topic)
        if not len(places.time):
            return {}, 0
        tables, kind, odd = self.index.tables(places), self.topics[topic], 0
        try:
            try:
                found = columns(self.store, kind, tables, names)
            except InvalidValueError:
                if not usual_only:
                    raise
                rows = usual(self.store, kind, tables, names)
                odd, places = len(places.time) - len(rows), places[rows]
                found = columns(self.store, kind, self.index.tables(places), names)
        except InvalidValueError as error:
            raise InvalidValueError(f"{self.path}: {topic}: {error.field}", error.value, error.allowed) from None
        return {"time": self.seconds(places), **found}, odd

    def each(self, topic: str) -> Iterator[tuple[float, Bytes]]:
        """Receipt [s, from the bag's start] and serialized message of a topic, in order of receipt."""
        places = self.index.places(topic)
        yield from zip(self.seconds(places).tolist(), self.index.messages(places), strict=True)


def _source(path: Path) -> tuple[Path, bool]:
    """What is to be read for a recording, and whether it was closed."""
    file, closed = path, True
    if path.is_dir() and not (path / METADATA).exists():
        files = list(path.glob(f"*{MCAP}"))
        if len(files) == 1:
            file, closed = files[0], False
    if file.suffix == MCAP and file.is_file() and is_cut(file):
        return CutFile(file), False
    return file, closed
