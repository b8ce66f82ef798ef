"""Linux's interface to input devices: structures and requests of linux/input.h, by the standard library alone.

What belongs here: bytes and file descriptors. What must never enter: what an axis is for. A device file is read
without waiting. A pipe in its place is a recorded device: it has the same events, and no requests (`recorded.py`).
"""

from __future__ import annotations

import fcntl
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.operator.evdev.codes import CODES, FF, KEY, NAMES, RUMBLE

EVENT = struct.Struct("@LLHHi")  # input_event: seconds, microseconds, kind, code, value
RANGE = struct.Struct("@6i")  # input_absinfo: value, minimum, maximum, fuzz, flat, resolution
# ff_effect: type, id, direction; trigger: button, interval; replay: length, delay; then a union with a pointer in it
EFFECT = struct.Struct(f"@HhHHHHH2xHH{20 + struct.calcsize('P')}x")
MOST = 64  # events of one read
KEY_BYTES = 0x300 // 8
_WRITE, _READ = 1, 2  # directions of a request, as x86 and ARM number them


def request(direction: int, number: int, size: int) -> int:
    """Number of an ioctl of input devices."""
    return direction << 30 | size << 16 | ord("E") << 8 | number


GET_RANGE = tuple(request(_READ, 0x40 + code, RANGE.size) for code in range(0x40))  # EVIOCGABS
GET_KEYS = request(_READ, 0x18, KEY_BYTES)  # EVIOCGKEY
SEND_EFFECT = request(_WRITE, 0x80, EFFECT.size)  # EVIOCSFF


class DeviceGoneError(TelerobotError):
    """The device does not exist any more."""


class Event(NamedTuple):
    """One event of a device, by the kernel's numbers."""

    kind: int
    code: int
    value: int

    @property
    def name(self) -> str:
        """Name of the axis or button; empty: it is none that is known here."""
        return NAMES.get((self.kind, self.code), "")


@dataclass(frozen=True)
class AxisRange:
    """Where an absolute axis is, and its ends, in the device's counts."""

    value: int
    minimum: int
    maximum: int


def events_of(data: bytes) -> tuple[list[Event], bytes]:
    """The whole events of `data`, and the bytes of one that is not whole yet."""
    whole = len(data) - len(data) % EVENT.size
    return [Event(*fields[2:]) for fields in EVENT.iter_unpack(data[:whole])], data[whole:]


def event_bytes(kind: int, code: int, value: int) -> bytes:
    """One event, as it is read and written."""
    return EVENT.pack(0, 0, kind, code, value)


def effect_bytes(number: int, strength: float, duration: float) -> bytes:
    """A rumble of both motors; `number` -1: a new effect; `strength` 0 .. 1; `duration` [s]."""
    size = round(0xFFFF * min(max(strength, 0.0), 1.0))
    return EFFECT.pack(RUMBLE, number, 0, 0, 0, round(1000 * duration), 0, size, size)


class DeviceFile:
    """An opened device; `writable`: the user may let it rumble."""

    def __init__(self, path: Path) -> None:
        """Raises OSError."""
        self.path = path
        self.writable = os.access(path, os.W_OK)
        self.fd = self._open()
        self._rest = b""
        self._effect = -1  # number that the kernel gave to the rumble

    def _open(self) -> int:
        flags = os.O_RDWR if self.writable else os.O_RDONLY
        return os.open(self.path, flags | os.O_NONBLOCK | os.O_CLOEXEC)

    def read(self) -> list[Event]:
        """Events that have arrived, at most MOST of them; none: wait for more. Raises DeviceGoneError."""
        try:
            data = os.read(self.fd, MOST * EVENT.size)
        except BlockingIOError:
            return []
        except OSError as error:
            raise DeviceGoneError(f"{self.path}: {os.strerror(error.errno or 0)}") from None
        if not data:
            raise DeviceGoneError(f"{self.path}: end of its events")
        events, self._rest = events_of(self._rest + data)
        return events

    def ranges(self, axes: tuple[str, ...]) -> dict[str, AxisRange]:
        """The absolute ones of `axes`. Raises OSError."""
        found = {}
        for name in axes:
            if name.startswith("ABS_"):
                data = bytearray(RANGE.size)
                fcntl.ioctl(self.fd, GET_RANGE[CODES[name][1]], data)
                found[name] = AxisRange(*RANGE.unpack(data)[:3])
        return found

    def pressed(self) -> frozenset[str]:
        """The buttons that are down. Raises OSError."""
        data = bytearray(KEY_BYTES)
        fcntl.ioctl(self.fd, GET_KEYS, data)
        down = {code for code in range(8 * len(data)) if data[code // 8] >> code % 8 & 1}
        return frozenset(NAMES[KEY, code] for code in down if (KEY, code) in NAMES)

    def rumble(self, strength: float, duration: float) -> None:
        """Rumble with `strength` 0 .. 1 for `duration` [s], in place of the rumble before. Raises OSError."""
        if strength > 0.0:
            self._effect = self._send(effect_bytes(self._effect, strength, duration))
        if self._effect >= 0:
            self._play(event_bytes(FF, self._effect, int(strength > 0.0)))

    def _send(self, effect: bytes) -> int:
        data = bytearray(effect)
        fcntl.ioctl(self.fd, SEND_EFFECT, data)
        return int(EFFECT.unpack(data)[1])

    def _play(self, event: bytes) -> None:
        os.write(self.fd, event)

    def close(self) -> None:
        """Give the device back; its rumble ends."""
        os.close(self.fd)
