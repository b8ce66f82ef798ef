"""Gamepads, joysticks and 3-D mice through Linux's evdev: found, read, mapped by files, unplugged and found again."""

from __future__ import annotations

from telerobot_nodes.operator.evdev.device_map import DeviceMap, MapFolder, NoMapError, folder_of, read_map, read_maps
from telerobot_nodes.operator.evdev.found import FoundDevice, InputFolder, Kind
from telerobot_nodes.operator.evdev.mapped import NEUTRAL, Enabling, Sample
from telerobot_nodes.operator.evdev.source import (
    Candidate,
    Connection,
    DeviceParameters,
    DeviceSource,
    candidates,
    is_wanted,
)

__all__ = [
    "NEUTRAL",
    "Candidate",
    "Connection",
    "DeviceMap",
    "DeviceParameters",
    "DeviceSource",
    "Enabling",
    "FoundDevice",
    "InputFolder",
    "Kind",
    "MapFolder",
    "NoMapError",
    "Sample",
    "candidates",
    "folder_of",
    "is_wanted",
    "read_map",
    "read_maps",
]
