"""One input device of the host: found, opened, read, lost, found again; samples at a bounded rate. Time is an argument.

While a device is connected samples repeat, so that silence means: unplugged. The last sample before the silence is
neutral. What was plugged in again moves nothing before it is enabled anew (`mapped.py`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from telerobot_nodes.core.config import parameter
from telerobot_nodes.core.values import in_range
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.operator.evdev.device_map import FittedMap, MapFolder
from telerobot_nodes.operator.evdev.found import FoundDevice, InputFolder, Kind
from telerobot_nodes.operator.evdev.kernel import DeviceFile, DeviceGoneError
from telerobot_nodes.operator.evdev.mapped import NEUTRAL, Enabling, MappedDevice, Sample

LOOK_PERIOD = 0.5  # [s] between two looks for a device
MOST_READS = 32  # of a device in one step, 64 events each; what is left waits for the next step
RUMBLE_HELD = 0.5  # [s] a rumble lasts when nothing follows
RUMBLE_REFRESH = 0.25  # [s]
RUMBLE_STEP = 0.03  # smaller changes of the strength are not sent
RATE_RANGE = (10.0, 200.0)  # [Hz]


class Connection(Enum):
    """Whether there is a device."""

    WAITING = "waiting for a device"
    CONNECTED = "connected"
    UNPLUGGED = "unplugged"


@dataclass(frozen=True)
class DeviceParameters:
    """Parameters of `input_device`; validated when made."""

    device: str = parameter("", doc="path, part of the name, or map of the device; empty: the first one that is usable")
    maps: str = parameter("", doc="folder of map files; empty: ./devices, else the package's own")
    root: str = parameter("/", doc="folder above dev/input and sys/class/input; another than / has recorded devices")
    rate: float = parameter(100.0, "Hz", *RATE_RANGE, doc="most samples while the device moves")
    repeat: float = parameter(20.0, "Hz", 5.0, 100.0, doc="samples while nothing changes")

    def __post_init__(self) -> None:
        in_range(self.rate, "rate", *RATE_RANGE, "Hz")
        in_range(self.repeat, "repeat", 5.0, min(100.0, self.rate), "Hz")


@dataclass(frozen=True)
class Candidate:
    """A device that may be an operator's, with its map, or why it is not usable."""

    device: FoundDevice
    fitted: FittedMap | None
    problem: str = ""


def candidates(folder: InputFolder, maps: MapFolder) -> list[Candidate]:
    """The gamepads, joysticks and 3-D mice of the host, and what a map names by name or ids."""
    found = []
    for device in folder.devices():
        named = any(entry.match.particular and entry.match.fits(device) for entry in maps.maps)
        if device.kind is not Kind.OTHER or named:
            found.append(_candidate(device, maps))
    return found


def _candidate(device: FoundDevice, maps: MapFolder) -> Candidate:
    try:
        return Candidate(device, maps.map_of(device), device.problem)
    except TelerobotError as error:
        return Candidate(device, None, device.problem or str(error))


def is_wanted(found: Candidate, wanted: str) -> bool:
    """True for a device with this path, this part of its name, or this map; empty: any."""
    if wanted.startswith("/"):
        return os.path.realpath(wanted) == os.path.realpath(found.device.path)
    of_map = found.fitted is not None and found.fitted.map.map == wanted
    return of_map or wanted.lower() in found.device.name.lower()


class DeviceSource:
    """The samples of one device."""

    def __init__(self, parameters: DeviceParameters, maps: MapFolder) -> None:
        """Raises InvalidValueError: there is no such root."""
        self.connection = Connection.WAITING
        self.device: FoundDevice | None = None  # the present one, or the one that was unplugged
        self.fitted: FittedMap | None = None  # its map
        self.problem = ""  # why the device that is there is not usable, or does not rumble
        self.events = self.samples = self.unplugged = 0
        self._parameters, self._maps = parameters, maps
        self._folder = InputFolder(Path(parameters.root))
        self._file: DeviceFile | None = None
        self._mapped: MappedDevice | None = None
        self._looked_at, self._looked = -LOOK_PERIOD, False
        self._sent_at, self._sent = -1.0, NEUTRAL
        self._rumble, self._rumble_at, self._no_rumble = 0.0, -1.0, False

    @property
    def enabling(self) -> Enabling | None:
        """Whether it moves anything; None: there is no device."""
        return self._mapped.enabling if self._mapped else None

    @property
    def dropped(self) -> int:
        """Times the kernel dropped events of the present device."""
        return self._mapped.dropped if self._mapped else 0

    @property
    def rumbles(self) -> bool:
        """True when the present device can rumble."""
        if self._mapped is None or self.device is None or self.fitted is None:
            return False
        return self.device.rumbles and self.fitted.map.rumble and not self._no_rumble

    def step(self, now: float) -> Sample | None:
        """Look, read, and the sample that is due at `now` [s]; None: none is due. Called at the parameter `rate`."""
        if self._mapped is None and now - self._looked_at >= LOOK_PERIOD:
            self._looked_at = now
            self._look()
        if self._mapped is None or self._file is None:
            return None
        try:
            self._read(self._file, self._mapped, now)
        except (DeviceGoneError, OSError):
            return self._lose()
        return self._due(self._mapped, now)

    def rumble(self, strength: float, now: float) -> None:
        """Let the device rumble with `strength` 0 .. 1 until the next call, and RUMBLE_HELD at most."""
        steady = abs(strength - self._rumble) < RUMBLE_STEP and (strength > 0.0) == (self._rumble > 0.0)
        due = strength > 0.0 and now - self._rumble_at >= RUMBLE_REFRESH
        if not self.rumbles or self._file is None or (steady and not due):
            return
        try:
            self._file.rumble(strength, RUMBLE_HELD)
        except OSError as error:
            self._no_rumble = True
            self.problem = f"no rumble: {os.strerror(error.errno or 0)}"
        self._rumble, self._rumble_at = strength, now

    def close(self) -> Sample | None:
        """Give the device back; the neutral sample to be published, if there was a device."""
        return self._release() if self._mapped else None

    def _look(self) -> None:
        """Open the device that is wanted; of several the one that was there before, else the first."""
        hot, self._looked = self._looked, True
        self.problem = ""
        found = candidates(self._folder, self._maps)
        known = self.device.identity if self.device else None
        wanted = [
            entry
            for entry in found
            if is_wanted(entry, self._parameters.device)
            or (entry.device.identity == known and self._parameters.device.startswith("/"))
        ]
        for entry in sorted(wanted, key=lambda entry: entry.device.identity != known):
            if entry.problem or entry.fitted is None:
                self.problem = self.problem or f"{entry.device}: {entry.problem}"
            elif self._open(entry.device, entry.fitted, hot):
                return

    def _open(self, device: FoundDevice, fitted: FittedMap, hot: bool) -> bool:
        try:
            file = device.open()
        except OSError as error:
            self.problem = f"{device}: {os.strerror(error.errno or 0)}"
            return False
        try:
            self._mapped = MappedDevice(fitted, file.ranges(fitted.axes), file.pressed(), hot)
        except (OSError, ValueError) as error:
            file.close()
            self.problem = f"{device}: not an input device that can be read: {error}"
            return False
        self._file, self.device, self.fitted = file, device, fitted
        self.connection, self.problem = Connection.CONNECTED, ""
        self._no_rumble = not file.writable
        self._sent, self._rumble = NEUTRAL, 0.0
        return True

    def _read(self, file: DeviceFile, mapped: MappedDevice, now: float) -> None:
        for _ in range(MOST_READS):
            events = file.read()
            if not events:
                return
            self.events += len(events)
            if mapped.receive(events, now):
                mapped.resume(file.ranges(mapped.axes), file.pressed(), now)

    def _due(self, mapped: MappedDevice, now: float) -> Sample | None:
        """A sample when something changed, or when it is time to repeat."""
        sample = mapped.sample(now)
        if sample == self._sent and now - self._sent_at < 1.0 / self._parameters.repeat:
            return None
        return self._send(sample, now)

    def _send(self, sample: Sample, now: float) -> Sample:
        self._sent, self._sent_at = sample, now
        self.samples += 1
        return sample

    def _lose(self) -> Sample:
        self.unplugged += 1
        self.connection = Connection.UNPLUGGED
        return self._release()

    def _release(self) -> Sample:
        if self._file is not None:
            self._file.close()
        self._file = self._mapped = None
        self.samples += 1
        return NEUTRAL
