"""Recordings: reading and writing rosbag2 bags, and reading a run from one."""

from __future__ import annotations

from telerobot_nodes.operator.recording.bag_index import Bytes, Places
from telerobot_nodes.operator.recording.bag_writer import BagCounts, BagTopic, BagWriter
from telerobot_nodes.operator.recording.bags import BagReader, message_types
from telerobot_nodes.operator.recording.columns import by_length, columns, groups
from telerobot_nodes.operator.recording.recorder import (
    DiskFullError,
    Recorder,
    Recording,
    default_folder,
    free_beside,
    free_bytes,
)

__all__ = [
    "BagCounts",
    "BagReader",
    "BagTopic",
    "BagWriter",
    "Bytes",
    "DiskFullError",
    "Places",
    "Recorder",
    "Recording",
    "by_length",
    "columns",
    "default_folder",
    "free_beside",
    "free_bytes",
    "groups",
    "message_types",
]
