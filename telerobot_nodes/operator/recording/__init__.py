"""Recordings: reading and writing rosbag2 bags, and reading a run from one."""

from __future__ import annotations

from telerobot_nodes.operator.recording.bag_index import Bytes, Places
from telerobot_nodes.operator.recording.bag_writer import BagCounts, BagTopic, BagWriter
from telerobot_nodes.operator.recording.bags import BagReader, message_types
from telerobot_nodes.operator.recording.columns import columns, groups

__all__ = [
    "BagCounts",
    "BagReader",
    "BagTopic",
    "BagWriter",
    "Bytes",
    "Places",
    "columns",
    "groups",
    "message_types",
]
