"""Input devices of a host: what the kernel reports of each in /sys, and whether its file can be opened."""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import re
import stat
import struct
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.evdev.codes import ABS, ACCELEROMETER, CODES, FF, KEY, NAMES, REL, RUMBLE, TOUCH
from telerobot_nodes.operator.evdev.kernel import DeviceFile
from telerobot_nodes.operator.evdev.recorded import RecordedDevice

FILES = Path("dev/input")  # below the root
DESCRIPTIONS = Path("sys/class/input")
WORD_BITS = 8 * struct.calcsize("L")  # of the kernel's bit fields
SIX = ("X", "Y", "Z", "RX", "RY", "RZ")


class Kind(Enum):
    """What a device is taken for, by its axes and buttons."""

    GAMEPAD = "gamepad"
    JOYSTICK = "joystick"
    MOUSE_3D = "3-D mouse"
    OTHER = "other"


@dataclass(frozen=True)
class FoundDevice:
    """One device of the host."""

    path: Path
    name: str
    ids: str  # vendor and product as lsusb shows them, 046d:c626
    kind: Kind
    axes: tuple[str, ...]
    buttons: tuple[str, ...]
    rumbles: bool
    problem: str = ""  # why it cannot be opened, and what to do
    description: Path = Path()  # folder of what the kernel reports of it

    def open(self) -> DeviceFile:
        """The device, opened. Raises OSError."""
        if stat.S_ISFIFO(self.path.stat().st_mode):
            return RecordedDevice(self.path, self.description)
        return DeviceFile(self.path)

    @property
    def identity(self) -> tuple[str, str]:
        """What stays the same when the device is plugged in again."""
        return self.name, self.ids

    def __str__(self) -> str:
        return f"{self.name!r} at {self.path}"


@dataclass(frozen=True)
class InputFolder:
    """The input devices below a root; another root than / has recorded devices."""

    root: Path = Path("/")

    def __post_init__(self) -> None:
        if not self.root.is_dir():
            raise InvalidValueError("root", str(self.root), "allowed: a folder with dev/input and sys/class/input")

    def devices(self) -> list[FoundDevice]:
        """Every device, of whatever kind, by number; one that vanishes meanwhile is left out."""
        found = []
        for folder in (self.root / DESCRIPTIONS).glob("event*"):
            with contextlib.suppress(OSError, ValueError):
                found.append(self._device(folder))
        return sorted(found, key=lambda device: _number(device.path.name))

    def looked_at(self) -> list[str]:
        """What was searched and what is there, for people."""
        described = len(list((self.root / DESCRIPTIONS).glob("event*")))
        lines = []
        for folder, count in ((DESCRIPTIONS, described), (FILES, len(list((self.root / FILES).glob("event*"))))):
            path = self.root / folder
            lines.append(f"{path}: {f'{count} input devices' if path.is_dir() else 'there is no such folder'}")
        return lines

    def _device(self, folder: Path) -> FoundDevice:
        path, told = self.root / FILES / folder.name, folder / "device"
        bits = {kind: _bits(told / "capabilities" / word) for kind, word in _FIELDS.items()}
        axes = tuple(NAMES[kind, code] for kind in (ABS, REL) for code in sorted(bits[kind]) if (kind, code) in NAMES)
        buttons = tuple(NAMES[KEY, code] for code in sorted(bits[KEY]) if (KEY, code) in NAMES)
        moves_itself = ACCELEROMETER in _bits(told / "properties")
        kind = Kind.OTHER if moves_itself or TOUCH in bits[KEY] else _kind(axes, buttons)
        ids = ":".join((told / "id" / part).read_text().strip() for part in ("vendor", "product"))
        name = (told / "name").read_text().strip()
        return FoundDevice(path, name, ids, kind, axes, buttons, RUMBLE in bits[FF], _problem(path), told)


_FIELDS = {KEY: "key", REL: "rel", ABS: "abs", FF: "ff"}


def _number(name: str) -> int:
    digits = re.sub(r"\D", "", name)
    return int(digits) if digits else 0


def _bits(file: Path) -> frozenset[int]:
    """Numbers of the bits that are set in a field of /sys: words in hexadecimal, the highest first; none: no file."""
    try:
        words = file.read_text().split()
    except FileNotFoundError:
        return frozenset()
    whole = 0
    for word in words:
        whole = whole << WORD_BITS | int(word, 16)
    return frozenset(number for number in range(whole.bit_length()) if whole >> number & 1)


def _kind(axes: tuple[str, ...], buttons: tuple[str, ...]) -> Kind:
    codes = {CODES[name][1] for name in buttons}
    plane = {"ABS_X", "ABS_Y"} <= set(axes)
    if plane and "BTN_SOUTH" in buttons:
        return Kind.GAMEPAD
    if plane and any(0x120 <= code < 0x130 for code in codes):
        return Kind.JOYSTICK
    six = any(all(f"{start}_{axis}" in axes for axis in SIX) for start in ("ABS", "REL"))
    return Kind.MOUSE_3D if six and "BTN_0" in buttons else Kind.OTHER


def _problem(path: Path) -> str:
    """Why a device file cannot be read, and what to do; empty: it can."""
    if os.access(path, os.R_OK):
        return ""
    try:
        status = path.stat()
    except OSError as error:
        return f"{path}: {os.strerror(error.errno or 0)}; a container needs the device: --device {path}"
    group, user = _group_name(status.st_gid), _user_name()
    if not status.st_mode & stat.S_IRGRP:
        return f"no permission: only its owner may read it (mode {stat.S_IMODE(status.st_mode):04o}); a udev rule helps"
    if user in _members(status.st_gid):
        return f"no permission yet: {user} is in the group {group} since the last login; log in again"
    return f"no permission: {user} is not in the group {group}; `sudo usermod -aG {group} {user}`, then log in again"


def _group_name(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _members(number: int) -> list[str]:
    try:
        return grp.getgrgid(number).gr_mem
    except KeyError:
        return []


def _user_name() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
