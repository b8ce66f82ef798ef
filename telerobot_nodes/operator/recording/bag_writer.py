"""Writer of rosbag2 recordings (MCAP, version 9) with a thread of its own, so that a slow disk never blocks a caller.

Memory is bounded: messages that do not fit are dropped and counted. When the disk is nearly full, the bag is closed
while it still can be, and the reason is reported. A bag that is not closed, for its process was killed, can be read but
for its last second: its chunks are short.
"""

from __future__ import annotations

import shutil
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.graph import Qos
from telerobot_nodes.operator.recording.bags import message_types

if TYPE_CHECKING:
    from rosbags.interfaces import Qos as BagQos

QUEUE_BYTES = 64 * 1024 * 1024
RESERVE_BYTES = 64 * 1024 * 1024  # free space below which the bag is closed
PERIOD = 0.2  # [s] between writes to the disk
WRITES_PER_CHUNK = 3  # at most


@dataclass(frozen=True)
class BagTopic:
    """A topic to be recorded."""

    type: str
    qos: Qos


@dataclass(frozen=True)
class BagCounts:
    """Numbers of written and dropped messages, and the disk."""

    written: int
    dropped: int
    failure: str  # why recording ended early; empty: it did not
    size: int = 0  # [B] of the bag's files; its index is written when it is closed
    free: int = 0  # [B] on their disk


class BagWriter:
    """An open recording. `write` may be called from any thread and never waits for the disk.

    Raises InvalidValueError when the folder exists or cannot be made, or a type is not known.
    """

    def __init__(
        self,
        folder: Path,
        topics: Mapping[str, BagTopic],
        queue_bytes: int = QUEUE_BYTES,
        reserve_bytes: int = RESERVE_BYTES,
    ) -> None:
        self.folder = folder
        self._queue: deque[tuple[str, int, bytes]] = deque()
        self._queue_bytes = queue_bytes
        self._reserve_bytes = reserve_bytes
        self._held = 0
        self._written = 0
        self._dropped = 0
        self._failure = ""
        self._size = 0
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._writer = _open(folder)
        self._free = shutil.disk_usage(folder).free
        self._connections = self._connect(topics)
        self._writes = 0
        self._begin()
        self._thread = threading.Thread(target=self._run, name="bag writer", daemon=True)
        self._thread.start()

    def write(self, topic: str, time: int, data: bytes) -> bool:
        """Queue a serialized message received at `time` [ns, ROS time]; False if it was dropped and counted."""
        with self._lock:
            if self._stop.is_set() or self._failure or self._held + len(data) > self._queue_bytes:
                self._dropped += 1
                return False
            self._held += len(data)
            self._queue.append((topic, time, data))
        return True

    def counts(self) -> BagCounts:
        """Numbers so far."""
        with self._lock:
            return BagCounts(self._written, self._dropped, self._failure, self._size, self._free)

    def close(self) -> BagCounts:
        """Write the queued messages and close the bag; returns the final numbers. Idempotent."""
        self._stop.set()
        self._thread.join()
        return self.counts()

    def _connect(self, topics: Mapping[str, BagTopic]) -> dict[str, Any]:
        types = message_types()
        connections = {}
        for name, entry in topics.items():
            if entry.type not in types.fielddefs:
                raise InvalidValueError(f"type of {name}", entry.type, "allowed: types with a known definition")
            connections[name] = self._writer.add_connection(
                name, entry.type, typestore=types, offered_qos_profiles=[_bag_qos(entry.qos)]
            )
        return connections

    def _begin(self) -> None:
        """Write the definitions before the first chunk, so that a cut bag has them. Raises InvalidValueError."""
        storage = self._writer.storage
        try:
            storage.bio.write(storage.chunk.bio.getvalue())
            storage.bio.flush()
        except OSError as error:
            raise InvalidValueError("bag", str(self.folder), f"allowed: a folder to write into; {error}") from None
        storage.chunk.bio = BytesIO()

    def _end_chunk(self) -> None:
        """Write what is complete to the file, with its index; once in some calls."""
        self._writes += 1
        if self._writes % WRITES_PER_CHUNK == 0:
            if self._writer.storage.chunk.msgs:
                self._writer.storage.close_chunk()
            self._writer.storage.bio.flush()

    def _run(self) -> None:
        failure = ""
        while not failure:
            last = self._stop.wait(PERIOD)
            failure = self._drain()
            if last:
                break
        failure = self._finish(failure)
        with self._lock:
            self._failure = failure
            self._dropped += len(self._queue)
            self._queue.clear()

    def _drain(self) -> str:
        try:
            self._look()
            if self._free < self._reserve_bytes:
                return f"disk nearly full ({self._free} bytes free): the bag was closed early"
            while self._queue:
                topic, time, data = self._queue[0]
                self._writer.write(self._connections[topic], time, data)
                with self._lock:
                    self._queue.popleft()
                    self._held -= len(data)
                    self._written += 1
            self._end_chunk()
        except OSError as error:
            return f"cannot write: {error}"
        return ""

    def _finish(self, failure: str) -> str:
        try:
            self._writer.close()
            self._look()
        except OSError as error:
            return failure or f"cannot close: {error}"
        return failure

    def _look(self) -> None:
        """Measure the files and their disk: here, for a slow disk must not keep a caller of `counts`."""
        size = sum(file.stat().st_size for file in self.folder.iterdir())
        free = shutil.disk_usage(self.folder).free
        with self._lock:
            self._size, self._free = size, free


def _open(folder: Path) -> Any:
    from rosbags.rosbag2 import StoragePlugin, Writer, WriterError

    try:
        writer = Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP)
        writer.open()
    except (OSError, WriterError) as error:
        raise InvalidValueError("bag", str(folder), f"allowed: a folder that can be made; {error}") from None
    return writer


def _bag_qos(qos: Qos) -> BagQos:
    from rosbags.interfaces import Qos as BagQos
    from rosbags.interfaces import QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime

    forever = QosTime(9223372036, 854775807)
    return BagQos(
        history=QosHistory.KEEP_LAST,
        depth=qos.value.depth,
        reliability=QosReliability.RELIABLE if qos.value.reliable else QosReliability.BEST_EFFORT,
        durability=QosDurability.TRANSIENT_LOCAL if qos.value.durable else QosDurability.VOLATILE,
        deadline=forever,
        lifespan=forever,
        liveliness=QosLiveliness.AUTOMATIC,
        liveliness_lease_duration=forever,
        avoid_ros_namespace_conventions=False,
    )
