"""Maps of input devices, YAML files: which axis moves which component of the tool's velocity, which button does what.

A code may be a list: the first one that the device has counts, so that one map serves devices that name the same
stick differently.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal

from telerobot_nodes.core.config import SOURCE, FileMapping, Key, Spot, build, read_yaml, share_path
from telerobot_nodes.errors import InvalidValueError, ParameterFileError, TelerobotError
from telerobot_nodes.operator.devices import ROLES
from telerobot_nodes.operator.evdev.codes import AXES, BUTTONS
from telerobot_nodes.operator.evdev.found import FoundDevice

OWN = Path("devices")  # the operator's folder, below the working directory
REST_LIMIT = 20.0  # [s]


class NoMapError(TelerobotError):
    """No map is for this device."""


@dataclass(frozen=True)
class Match:
    """The devices that a map is for: those that have all of this; what is not given is not asked for."""

    axes: tuple[str, ...] = ()
    buttons: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # parts of the device's name, one of them
    ids: tuple[str, ...] = ()  # vendor:product as lsusb shows them, one of them

    def __post_init__(self) -> None:
        _known(self.axes, "axes", AXES)
        _known(self.buttons, "buttons", BUTTONS)
        if not any(getattr(self, entry.name) for entry in fields(self)):
            raise InvalidValueError("axes", None, "allowed: axes, buttons, names or ids, one or more")

    def fits(self, device: FoundDevice) -> bool:
        """True for a device that has all of it."""
        return (
            set(self.axes) <= set(device.axes)
            and set(self.buttons) <= set(device.buttons)
            and (not self.names or any(part.lower() in device.name.lower() for part in self.names))
            and (not self.ids or device.ids.lower() in (one.lower() for one in self.ids))
        )

    @property
    def particular(self) -> int:
        """How particular it is: a map for one model goes before one for all of its kind."""
        return 2 * bool(self.ids) + bool(self.names)


@dataclass(frozen=True)
class MappedAxis:
    """One axis of the device."""

    code: tuple[str, ...]
    sign: Annotated[int, Key(low=-1, high=1)] = 1  # -1: the other way
    dead_zone: Annotated[float | None, Key(low=0.0, high=0.9)] = None  # of the full deflection; None: the map's
    source: Annotated[FileMapping, SOURCE] = field(default_factory=FileMapping, compare=False, repr=False)

    def __post_init__(self) -> None:
        _known(self.code, "code", AXES)
        if self.sign not in (1, -1):
            raise InvalidValueError("sign", self.sign, "allowed: 1, -1")


@dataclass(frozen=True)
class MappedAxes:
    """The axis of each component: x forward, y to the left, z up."""

    linear_x: MappedAxis | None = None
    linear_y: MappedAxis | None = None
    linear_z: MappedAxis | None = None
    angular_x: MappedAxis | None = None
    angular_y: MappedAxis | None = None
    angular_z: MappedAxis | None = None

    def __post_init__(self) -> None:
        if not any(self):
            raise InvalidValueError("linear_x", None, "allowed: one or more of linear_x, _y, _z, angular_x, _y, _z")

    def __iter__(self) -> Iterator[MappedAxis | None]:
        return (getattr(self, entry.name) for entry in fields(self))


@dataclass(frozen=True)
class MappedButtons:
    """The button of each role; the device moves nothing without its dead man's button."""

    deadman: tuple[str, ...]
    halt: tuple[str, ...] = ()
    estop: tuple[str, ...] = ()
    reset: tuple[str, ...] = ()
    tare: tuple[str, ...] = ()
    source: Annotated[FileMapping, SOURCE] = field(default_factory=FileMapping, compare=False, repr=False)

    def __post_init__(self) -> None:
        for role in ROLES:
            _known(getattr(self, role), role, BUTTONS)


@dataclass(frozen=True)
class DeviceMap:
    """One map file."""

    map: str  # its name, that of the file
    doc: str
    match: Match
    axes: MappedAxes
    buttons: MappedButtons
    enable: Literal["hold", "toggle"] = "hold"  # toggle: a press of the dead man's button enables, the next one ends it
    rest: Annotated[float, Key(low=1.0, high=600.0)] = REST_LIMIT  # [s] at rest after which a toggled enable ends
    dead_zone: Annotated[float, Key(low=0.0, high=0.9)] = 0.1  # of the full deflection
    full: Annotated[float, Key(low=1.0, high=1e6)] = 350.0  # counts of a relative axis at full deflection
    fade: Annotated[float, Key(low=0.02, high=1.0)] = 0.15  # [s] after which a relative axis that is silent is at rest
    rumble: bool = True
    source: Annotated[FileMapping, SOURCE] = field(default_factory=FileMapping, compare=False, repr=False)


@dataclass(frozen=True)
class FittedMap:
    """A map with the codes that one device has."""

    map: DeviceMap
    axes: tuple[str, ...]  # of the six components; empty: the map does not move it
    buttons: tuple[str, ...]  # of ROLES; empty: the device has none for it


def fit(found: DeviceMap, device: FoundDevice) -> FittedMap:
    """The map for this device; raises ParameterFileError at the axis or dead man's button that the device lacks."""
    names = [entry.name for entry in fields(MappedAxes)]
    axes = [_one(axis, f"axes.{name}", found, device) for name, axis in zip(names, found.axes, strict=True)]
    buttons = [next((code for code in getattr(found.buttons, r) if code in device.buttons), "") for r in ROLES]
    if not buttons[0]:
        _lacks(found, found.buttons.source, "deadman", "buttons.deadman", found.buttons.deadman, device.buttons)
    return FittedMap(found, tuple(axes), tuple(buttons))


def _one(axis: MappedAxis | None, key: str, found: DeviceMap, device: FoundDevice) -> str:
    if axis is None:
        return ""
    code = next((code for code in axis.code if code in device.axes), "")
    return code or _lacks(found, axis.source, "code", key, axis.code, device.axes)


def _lacks(
    found: DeviceMap, source: FileMapping, key: str, shown: str, codes: Sequence[str], has: Sequence[str]
) -> str:
    line, column = source.at(key)
    problem = f"{', '.join(codes)}: this device has {', '.join(has) or 'none'}"
    raise ParameterFileError(found.source.file, line, shown, problem, column)


@dataclass(frozen=True)
class MapFolder:
    """The maps of a folder, the most particular first, and the error of each file that cannot be read."""

    folder: Path
    maps: tuple[DeviceMap, ...]
    broken: tuple[ParameterFileError, ...] = ()

    def map_of(self, device: FoundDevice) -> FittedMap:
        """The first map that matches and fits. Raises NoMapError, or ParameterFileError of a map that does not fit."""
        matching = [found for found in self.maps if found.match.fits(device)]
        if not matching:
            known = ", ".join(found.map for found in self.maps) or "none"
            raise NoMapError(f"no map in {self.folder} is for it; there are: {known}")
        for found in matching[:-1]:
            try:
                return fit(found, device)
            except ParameterFileError:
                continue
        return fit(matching[-1], device)


def folder_of(named: Path | None = None) -> Path:
    """The folder of maps: the one named, else ./devices, else the package's own."""
    return named or (OWN if OWN.is_dir() else share_path("config/devices"))


def read_maps(folder: Path) -> MapFolder:
    """Every map of a folder; a broken file does not hide the others. Raises NoMapError: there is no folder."""
    if not folder.is_dir():
        raise NoMapError(f"there is no folder {folder}")
    maps, broken = [], []
    for file in sorted(folder.glob("*.yaml")):
        try:
            maps.append(read_map(file))
        except ParameterFileError as error:
            broken.append(error)
    return MapFolder(folder, tuple(sorted(maps, key=lambda found: -found.match.particular)), tuple(broken))


def read_map(file: Path) -> DeviceMap:
    """The map of a file. Raises ParameterFileError naming file, line, column and key."""
    raw = read_yaml(file)
    found = build(DeviceMap, raw, Spot(str(file)))
    if found.map != file.stem:
        raw.reject("map", f"{found.map!r}; allowed: {file.stem}, the name of the file")
    return found


def _known(codes: tuple[str, ...], key: str, known: Sequence[str]) -> None:
    for code in codes:
        if code not in known:
            near = get_close_matches(code.upper(), known, 3)
            hint = f"did you mean {', '.join(near)}?" if near else f"as {known[0]}"
            raise InvalidValueError(key, code, f"allowed: names of linux/input-event-codes.h, {hint}")
