"""Gamepad or 3-D mouse (`sensor_msgs/Joy`): tool velocity with a dead zone and a dead-man's button; stops.

Two layouts: that of the parameters, and for messages with the frame id ROLE_FRAME that of `input_device`, whose map
files have put every axis and button in its place: COMPONENTS, then ROLES.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from telerobot_nodes.core.config import parameter
from telerobot_nodes.core.values import FloatArray, finite_array, in_range, one_of
from telerobot_nodes.errors import InvalidValueError

COMPONENTS = ("linear x", "linear y", "linear z", "angular x", "angular y", "angular z")
UNUSED = -1
MAX_INDEX = 63
FRAMES = ("world", "tool")
STOPS = ("halt", "estop")  # buttons that act at once
HELD = ("reset", "tare")  # buttons that act only while the dead-man's button is held
BUTTONS = (*STOPS, *HELD)
ROLES = ("deadman", *BUTTONS)  # in the order of Joy.buttons of `input_device`
ROLE_FRAME = "telerobot"
SILENT = 1.0  # [s] without a message: the device is gone


@dataclass(frozen=True)
class JoyMapping:
    """Which axis moves what; validated when made, raises InvalidValueError naming the field."""

    axes: tuple[int, ...] = parameter(
        (1, 0, 4, UNUSED, UNUSED, 3), low=UNUSED, high=MAX_INDEX, doc="Joy.axes index per component; -1: unused"
    )
    signs: tuple[float, ...] = parameter((1.0,) * 6, low=-1.0, high=1.0, doc="1 or -1 per component")
    linear: float = parameter(0.15, "m/s", 0.0, 1.0, "linear speed at full deflection")
    angular: float = parameter(0.6, "rad/s", 0.0, 3.0, "angular speed at full deflection")
    dead_zone: float = parameter(0.08, "-", 0.0, 0.9, "deflection below which the input is zero")
    deadman: int = parameter(4, low=UNUSED, high=MAX_INDEX, doc="Joy.buttons index that must be held; -1: none")
    frame: str = parameter("world", choices=FRAMES, doc="frame of the velocity")
    halt: int = parameter(1, low=UNUSED, high=MAX_INDEX, doc="Joy.buttons index that halts the arm; -1: none")
    estop: int = parameter(6, low=UNUSED, high=MAX_INDEX, doc="Joy.buttons index that latches the e-stop; -1: none")
    reset: int = parameter(
        UNUSED,
        low=UNUSED,
        high=MAX_INDEX,
        doc="Joy.buttons index that releases the e-stop, with the dead man's; -1: none",
    )
    tare: int = parameter(
        UNUSED, low=UNUSED, high=MAX_INDEX, doc="Joy.buttons index that tares the force, with the dead man's; -1: none"
    )

    def __post_init__(self) -> None:
        for name, values in (("axes", self.axes), ("signs", self.signs)):
            if len(values) != len(COMPONENTS):
                raise InvalidValueError(f"{name} (length)", len(values), f"allowed: {len(COMPONENTS)}")
        for i, index in enumerate((*self.axes, self.deadman)):
            field = f"axes[{i}] ({COMPONENTS[i]})" if i < len(self.axes) else "deadman"
            in_range(index, field, UNUSED, MAX_INDEX)
        for name in BUTTONS:
            in_range(getattr(self, name), name, UNUSED, MAX_INDEX)
        for i, sign in enumerate(self.signs):
            if sign not in (1.0, -1.0):
                raise InvalidValueError(f"signs[{i}] ({COMPONENTS[i]})", sign, "allowed: 1, -1")
        in_range(self.linear, "linear", 0.0, 1.0, "m/s")
        in_range(self.angular, "angular", 0.0, 3.0, "rad/s")
        in_range(self.dead_zone, "dead_zone", 0.0, 0.9)
        one_of(self.frame, "frame", FRAMES)


def in_roles(mapping: JoyMapping) -> JoyMapping:
    """The layout of `input_device`, which has its dead zone already; speeds and frame of `mapping`."""
    axes, (deadman, halt, estop, reset, tare) = tuple(range(len(COMPONENTS))), range(len(ROLES))
    buttons = replace(mapping, deadman=deadman, halt=halt, estop=estop, reset=reset, tare=tare)
    return replace(buttons, axes=axes, signs=(1.0,) * len(axes), dead_zone=0.0)


class Joystick:
    """Velocities from Joy messages: zero once when the hand lets go, then None."""

    def __init__(self, mapping: JoyMapping) -> None:
        self.mapping = mapping
        self.active = False
        self._holds = False  # the latest message: its dead-man's button, or without one its axes
        self._gone = False  # what it holds does not count, until it was let go
        self._down: set[str] = set()  # of BUTTONS

    def twist(self, axes: Sequence[float], buttons: Sequence[int]) -> FloatArray | None:
        """(6,) [m/s], [rad/s] requested, or None: nothing to send.

        Raises InvalidValueError naming the axis or button the device does not have, or a value that is not finite.
        """
        deflection = self._deflection(finite_array(axes, "joy.axes"))
        held, moves = self._held(buttons), bool(deflection.any())
        self._holds = moves if self.mapping.deadman == UNUSED else held
        self._gone = self._gone and self._holds
        was_active, self.active = self.active, held and moves and not self._gone
        if self.active:
            scale = np.repeat((self.mapping.linear, self.mapping.angular), 3)
            velocity: FloatArray = scale * deflection * np.array(self.mapping.signs)
            return velocity
        return np.zeros(6) if was_active else None

    def let_go(self) -> bool:
        """What the device holds counts no more, until it was let go. True: it was moving."""
        was_active, self.active, self._gone = self.active, False, self._holds
        return was_active

    def presses(self, buttons: Sequence[int]) -> list[str]:
        """The names of BUTTONS pressed since the last message, stops first. A device without the button has none."""
        down = {name for name in BUTTONS if 0 <= getattr(self.mapping, name) < len(buttons)}
        down = {name for name in down if buttons[getattr(self.mapping, name)]}
        new, self._down = down - self._down, down
        return [name for name in BUTTONS if name in new and (name in STOPS or self._held(buttons))]

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


class JoyInput:
    """The Joy messages of an operator, by their layout, and their silence. Times are `now` [s].

    A device that publishes changes only is silent while nobody touches it: that is no fault while nothing is held.
    """

    def __init__(self, mapping: JoyMapping) -> None:
        self._as_set, self._in_roles = Joystick(mapping), Joystick(in_roles(mapping))
        self._received = np.inf  # [s] time of the latest message; infinite: none since the silence
        self.gone = 0  # times that a device fell silent

    @property
    def active(self) -> bool:
        """True while a device moves something."""
        return self._as_set.active or self._in_roles.active

    @property
    def frame(self) -> str:
        """Frame of the velocities."""
        return self._as_set.mapping.frame

    def receive(self, frame_id: str, now: float) -> Joystick:
        """The joystick that a message with this frame id belongs to."""
        self._received = now
        return self._in_roles if frame_id == ROLE_FRAME else self._as_set

    def fall_silent(self, now: float) -> bool:
        """True once when a device that was moving has sent nothing for SILENT [s]: its motion ends."""
        if now - self._received <= SILENT:
            return False
        self._received = np.inf
        self.gone += 1
        return self.let_go()

    def let_go(self) -> bool:
        """What the devices hold counts no more, until they were let go. True: one of them was moving."""
        return any([self._as_set.let_go(), self._in_roles.let_go()])


def beyond_dead_zone(deflection: FloatArray, dead_zone: float) -> FloatArray:
    """Deflection rescaled to start from 0 at the edge of the dead zone and end at 1; odd and continuous."""
    out: FloatArray = np.sign(deflection) * np.maximum(np.abs(deflection) - dead_zone, 0.0) / (1.0 - dead_zone)
    return out
