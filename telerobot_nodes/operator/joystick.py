"""Gamepad or 3-D mouse (`sensor_msgs/Joy`) to tool velocity, with a dead zone and a dead-man's button."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from telerobot_nodes.core.parameters import parameter
from telerobot_nodes.core.validation import FloatArray, finite_array, in_range, one_of
from telerobot_nodes.errors import InvalidValueError

COMPONENTS = ("linear x", "linear y", "linear z", "angular x", "angular y", "angular z")
UNUSED = -1
MAX_INDEX = 63
FRAMES = ("world", "tool")


@dataclass(frozen=True)
class JoyMapping:
    """Which axis moves what; validated when made, raises InvalidValueError naming the field."""

    axes: tuple[int, ...] = parameter(
        (1, 0, 4, UNUSED, UNUSED, 3), low=UNUSED, high=MAX_INDEX, doc="Joy.axes index per component; -1: unused"
    )
    signs: tuple[float, ...] = parameter((1.0,) * 6, low=-1.0, high=1.0, doc="1 or -1 per component")
    linear: float = parameter(0.15, "m/s", 0.0, 1.0, "at full deflection")
    angular: float = parameter(0.6, "rad/s", 0.0, 3.0, "at full deflection")
    dead_zone: float = parameter(0.08, "-", 0.0, 0.9, "deflection that counts as none")
    deadman: int = parameter(4, low=UNUSED, high=MAX_INDEX, doc="Joy.buttons index that must be held; -1: none")
    frame: str = parameter("world", choices=FRAMES, doc="axes the velocity is expressed in")

    def __post_init__(self) -> None:
        for name, values in (("axes", self.axes), ("signs", self.signs)):
            if len(values) != len(COMPONENTS):
                raise InvalidValueError(f"{name} (length)", len(values), f"allowed: {len(COMPONENTS)}")
        for i, index in enumerate((*self.axes, self.deadman)):
            field = f"axes[{i}] ({COMPONENTS[i]})" if i < len(self.axes) else "deadman"
            in_range(index, field, UNUSED, MAX_INDEX)
        for i, sign in enumerate(self.signs):
            if sign not in (1.0, -1.0):
                raise InvalidValueError(f"signs[{i}] ({COMPONENTS[i]})", sign, "allowed: 1, -1")
        in_range(self.linear, "linear", 0.0, 1.0, "m/s")
        in_range(self.angular, "angular", 0.0, 3.0, "rad/s")
        in_range(self.dead_zone, "dead_zone", 0.0, 0.9)
        one_of(self.frame, "frame", FRAMES)


class Joystick:
    """Turns Joy messages into velocities; says zero once when the hand lets go, then nothing."""

    def __init__(self, mapping: JoyMapping) -> None:
        self.mapping = mapping
        self.active = False

    def twist(self, axes: Sequence[float], buttons: Sequence[int]) -> FloatArray | None:
        """(6,) [m/s], [rad/s] asked for, or None: nothing to say.

        Raises InvalidValueError naming the axis or button the device does not have, or a value that is not finite.
        """
        deflection = self._deflection(finite_array(axes, "joy.axes"))
        held = self._held(buttons)
        was_active, self.active = self.active, held and bool(deflection.any())
        if self.active:
            scale = np.repeat((self.mapping.linear, self.mapping.angular), 3)
            velocity: FloatArray = scale * deflection * np.array(self.mapping.signs)
            return velocity
        return np.zeros(6) if was_active else None

    def _held(self, buttons: Sequence[int]) -> bool:
        index = self.mapping.deadman
        if index == UNUSED:
            return True
        if index >= len(buttons):
            raise InvalidValueError("deadman", index, f"allowed: below {len(buttons)}, the buttons of this device")
        return bool(buttons[index])

    def _deflection(self, axes: FloatArray) -> FloatArray:
        out = np.zeros(len(COMPONENTS))
        for i, index in enumerate(self.mapping.axes):
            if index == UNUSED:
                continue
            if index >= axes.size:
                allowed = f"allowed: below {axes.size}, the axes of this device"
                raise InvalidValueError(f"axes[{i}] ({COMPONENTS[i]})", index, allowed)
            out[i] = axes[index]
        return beyond_dead_zone(np.clip(out, -1.0, 1.0), self.mapping.dead_zone)


def beyond_dead_zone(deflection: FloatArray, dead_zone: float) -> FloatArray:
    """Deflection rescaled to start from 0 at the edge of the dead zone and end at 1; odd and continuous."""
    out: FloatArray = np.sign(deflection) * np.maximum(np.abs(deflection) - dead_zone, 0.0) / (1.0 - dead_zone)
    return out
