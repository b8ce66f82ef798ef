"""Recorded hands: read from CSV or a bag, checked, placed and scaled, played as device poses [US5231693].

What belongs here: the recording as it was made, with tracker jumps and tremor. What must never enter: filtering. A
real device sends jumps too; the shaper of the plan room removes them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from telerobot_nodes.core.values import FloatArray, finite_array, in_range
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.recording import BagReader

COLUMNS = ("t[s]", "x[m]", "y[m]", "z[m]")
MAX_SAMPLES = 200_000
MAX_DURATION = 3600.0  # [s]
MAX_FILE_BYTES = 32 * 1024 * 1024
SPEED_RANGE = (0.1, 10.0)  # [-] playback speeds, as ReplayHand.srv states
POSE_TYPE = "geometry_msgs/msg/PoseStamped"


@dataclass(frozen=True)
class HandRecording:
    """Recorded motion of a hand; arrays are read-only. Raises InvalidValueError naming source and sample."""

    source: str
    time: FloatArray  # (n,) [s] increasing, from 0
    position: FloatArray  # (n, 3) [m] in the recording's own frame

    def __post_init__(self) -> None:
        time = finite_array(self.time, f"{self.source}: time")
        position = finite_array(self.position, f"{self.source}: position", 3 * time.size).reshape(-1, 3)
        if not 2 <= time.size <= MAX_SAMPLES:
            raise InvalidValueError(f"{self.source}: samples", time.size, f"allowed: 2 .. {MAX_SAMPLES}")
        late = np.flatnonzero(np.diff(time) <= 0.0)
        if late.size:
            i = int(late[0]) + 1
            raise InvalidValueError(f"{self.source}: time[{i}]", float(time[i]), f"allowed: after {time[i - 1]:g} [s]")
        in_range(time[-1] - time[0], f"{self.source}: duration", 0.0, MAX_DURATION, "s")
        time -= time[0]
        for name, array in (("time", time), ("position", position)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __len__(self) -> int:
        return int(self.time.size)

    @property
    def duration(self) -> float:
        """From the first sample to the last [s]."""
        return float(self.time[-1])


@dataclass(frozen=True)
class DeviceMotion:
    """Poses of a device with their times."""

    time: FloatArray  # (n,) [s] from 0
    pose: FloatArray  # (n, 7) x y z [m], qx qy qz qw (identity), frame "device"

    @property
    def duration(self) -> float:
        """From the first pose to the last [s]."""
        return float(self.time[-1])


def load_hand(path: Path) -> HandRecording:
    """The recording in a CSV file `t[s],x[m],y[m],z[m]` or in a bag (folder or .mcap) with one PoseStamped topic.

    Raises InvalidValueError naming file, line and column.
    """
    if not path.exists():
        raise InvalidValueError("file", str(path), "allowed: a CSV file or a bag that exists")
    if path.is_dir() or path.suffix == ".mcap":
        return _load_bag(path)
    if path.stat().st_size > MAX_FILE_BYTES:
        raise InvalidValueError(f"{path}: size", path.stat().st_size, f"allowed: {MAX_FILE_BYTES} bytes or fewer")
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return _parse_csv(csv.reader(file), str(path))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidValueError(f"{path}", str(error), "allowed: CSV text in UTF-8") from None


def device_motion(hand: HandRecording, scale: float = 1.0, speed: float = 1.0) -> DeviceMotion:
    """The recording as device poses: `scale` times the distances, `speed` times as fast; jumps stay."""
    in_range(speed, "speed", *SPEED_RANGE)
    pose = np.zeros((len(hand), 7))
    pose[:, :3] = scale * hand.position
    pose[:, 6] = 1.0
    return DeviceMotion(hand.time / speed, pose)


def _parse_csv(lines: Iterable[list[str]], source: str) -> HandRecording:
    rows = iter(enumerate(lines, start=1))
    _, header = next(rows, (1, []))
    if tuple(name.strip() for name in header) != COLUMNS:
        raise InvalidValueError(f"{source}:1: columns", ",".join(header), f"allowed: {','.join(COLUMNS)}")
    samples: list[list[float]] = []
    for line, row in rows:
        if not row:
            continue
        if len(samples) >= MAX_SAMPLES:
            raise InvalidValueError(f"{source}:{line}: samples", len(samples) + 1, f"allowed: {MAX_SAMPLES} or fewer")
        values = _parse_row(row, f"{source}:{line}")
        if samples and values[0] <= samples[-1][0]:
            raise InvalidValueError(f"{source}:{line}: t[s]", values[0], f"allowed: after {samples[-1][0]:g} [s]")
        samples.append(values)
    table = np.array(samples).reshape(-1, 4)
    return HandRecording(source, table[:, 0], table[:, 1:])


def _parse_row(row: list[str], where: str) -> list[float]:
    if len(row) != len(COLUMNS):
        raise InvalidValueError(f"{where}: columns", len(row), f"allowed: {len(COLUMNS)}")
    values: list[float] = []
    for name, text in zip(COLUMNS, row, strict=True):
        try:
            values.append(float(text))
        except ValueError:
            raise InvalidValueError(f"{where}: {name}", text, "allowed: a number") from None
        if not np.isfinite(values[-1]):
            raise InvalidValueError(f"{where}: {name}", text, "allowed: finite numbers")
    return values


def _load_bag(path: Path) -> HandRecording:
    with BagReader(path) as bag:
        topics = sorted(name for name, kind in bag.topics.items() if kind == POSE_TYPE)
        if len(topics) != 1:
            raise InvalidValueError(f"{path}: PoseStamped topics", topics, "allowed: exactly one")
        if bag.counts[topics[0]] > MAX_SAMPLES:
            raise InvalidValueError(f"{path}: samples", bag.counts[topics[0]], f"allowed: {MAX_SAMPLES} or fewer")
        times: list[float] = []
        positions: list[tuple[float, float, float]] = []
        for _, time, message in bag.messages(topics):
            point = message.pose.position
            times.append(time)
            positions.append((point.x, point.y, point.z))
    return HandRecording(f"{path}", np.array(times), np.array(positions))
