"""A recorded device: a pipe with the events of a device, for tests and for trying out without the device."""

from __future__ import annotations

import os
from pathlib import Path

from telerobot_nodes.operator.evdev.kernel import AxisRange, DeviceFile

RANGES = "ranges"  # file beside the capabilities: a line `ABS_X value minimum maximum` for each axis
FEEDBACK = ".feedback"  # ending of the file that receives the effects and plays of the rumble


class RecordedDevice(DeviceFile):
    """What a pipe cannot be asked is in files beside it."""

    def __init__(self, path: Path, description: Path) -> None:
        """`description`: the folder of its name and capabilities. Raises OSError."""
        self._description = description
        super().__init__(path)

    def _open(self) -> int:
        return os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def ranges(self, axes: tuple[str, ...]) -> dict[str, AxisRange]:
        """The absolute ones of `axes`, at the values of the file."""
        lines = [line.split() for line in (self._description / RANGES).read_text().splitlines()]
        return {name: AxisRange(*map(int, numbers)) for name, *numbers in lines if name in axes}

    def pressed(self) -> frozenset[str]:
        """None is known to be down."""
        return frozenset()

    def _send(self, effect: bytes) -> int:
        self._play(effect)
        return 0

    def _play(self, event: bytes) -> None:
        with self.path.with_name(self.path.name + FEEDBACK).open("ab") as file:
            file.write(event)
