"""Recordings one after another while a graph runs: each a bag of its own, begun and ended on request.

Everything is called from one thread. What must never enter: ROS, clocks.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.recording.bag_writer import RESERVE_BYTES, BagCounts, BagTopic, BagWriter

NOTHING = BagCounts(0, 0, "")


class DiskFullError(InvalidValueError):
    """The disk of a recording's folder has no room for one."""


@dataclass(frozen=True)
class Recording:
    """The present recording, else the last one."""

    on: bool = False
    folder: Path | None = None  # absolute; None: there was none
    duration: float = 0.0  # [s]
    counts: BagCounts = NOTHING

    def __str__(self) -> str:
        counts = self.counts
        dropped = f", {counts.dropped} dropped" if counts.dropped else ""
        failure = f" ({counts.failure})" if counts.failure else ""
        return f"{counts.written} messages{dropped}{failure} in {self.folder}"


class Recorder:
    """At most one open recording of `topics`. A recording that its disk has ended counts as ended, with its failure.

    Each begins with what a recorder that starts then receives: the messages kept of the durable topics.
    """

    def __init__(self, topics: Mapping[str, BagTopic], reserve_bytes: int = RESERVE_BYTES) -> None:
        self.reserve_bytes = reserve_bytes
        self._topics = topics
        self._kept: dict[str, deque[bytes]] = {
            name: deque(maxlen=entry.qos.value.depth) for name, entry in topics.items() if entry.qos.value.durable
        }
        self._writer: BagWriter | None = None  # open
        self._closing: threading.Thread | None = None
        self._last = Recording()
        self._began = 0.0  # [s]

    def begin(self, folder: Path, now: float, received: int = 0) -> Recording:
        """Open a recording in a new folder. Raises InvalidValueError, and DiskFullError when there is no room.

        `received` [ns, ROS time]: now, for the messages of durable topics that came before.
        """
        if self.recording(now).on:
            raise InvalidValueError("record", "on", f"allowed: after the recording in {self._last.folder} has ended")
        if self._closing is not None and self._closing.is_alive():
            raise InvalidValueError("record", "on", f"allowed: after {self._last.folder} is closed")
        folder = folder.absolute()
        if folder.exists():
            raise InvalidValueError("bag", str(folder), "allowed: a folder that does not exist yet")
        free = free_bytes(folder)
        if free < self.reserve_bytes:
            least = f"allowed: on a disk with {self.reserve_bytes} bytes free or more; {free} are free"
            raise DiskFullError("bag", str(folder), least)
        writer = BagWriter(folder, self._topics, reserve_bytes=self.reserve_bytes)
        self._began, self._last = now, Recording(True, folder, 0.0, writer.counts())
        for topic, messages in self._kept.items():
            for data in messages:
                writer.write(topic, received, data)
        self._writer = writer
        return self._last

    def end(self, now: float, then: Callable[[Recording], object]) -> None:
        """Close the recording on a thread of its own; `then` is called there once it is a valid bag.

        Raises InvalidValueError when none is open.
        """
        writer = self._writer
        if not self.recording(now).on or writer is None:
            raise InvalidValueError("record", "off", "allowed: while a recording is open")
        self._last = Recording(False, self._last.folder, now - self._began, writer.counts())
        self._writer = None

        def close() -> None:
            self._last = Recording(False, self._last.folder, self._last.duration, writer.close())
            then(self._last)

        self._closing = threading.Thread(target=close, name="bag closer")
        self._closing.start()

    def close(self, now: float) -> Recording | None:
        """End what is open and wait until it is a valid bag; None: nothing was open."""
        was_open = self.recording(now).on
        if was_open:
            self.end(now, lambda recording: None)
        if self._closing is not None:
            self._closing.join()
        return self._last if was_open else None

    def write(self, topic: str, received: int, data: bytes) -> None:
        """Record a serialized message, `received` at [ns, ROS time], while a recording is open."""
        if topic in self._kept:
            self._kept[topic].append(data)
        writer = self._writer
        if writer is not None:
            writer.write(topic, received, data)

    def recording(self, now: float) -> Recording:
        """The present recording, else the last one."""
        writer = self._writer
        if writer is not None:
            counts = writer.counts()
            self._last = Recording(not counts.failure, self._last.folder, now - self._began, counts)
            if counts.failure:
                self._writer = None  # its thread has closed the bag
        return self._last


def free_bytes(folder: Path) -> int:
    """Free space [B] on the disk where a folder is, or would be made."""
    there = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    return shutil.disk_usage(there).free


def default_folder(now: time.struct_time) -> Path:
    """`runs/YYYYmmdd-HHMMSS/bag` under the current directory; a number is added when it exists."""
    run = Path("runs") / time.strftime("%Y%m%d-%H%M%S", now)
    number = 1
    while (run / "bag").exists():
        number += 1
        run = run.with_name(f"{run.name.split('_')[0]}_{number}")
    return run / "bag"


def free_beside(folder: Path) -> Path:
    """The folder, or with a number added: where the next recording of the same run goes."""
    number, found = 1, folder
    while found.exists():
        number += 1
        found = folder.with_name(f"{folder.name}_{number}")
    return found
