"""From the events of one connected device to components and roles; the enabling rule. Time is an argument.

Rules: frames count whole or not at all. After a connection nothing moves before every axis is at rest and the dead
man's button is let go, and then the button is pressed anew. Of a device that was plugged in a moment ago, a button in
its very first frame may have been down before: it is not pressed anew. Stops act always. No press is lost, however
short.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum

from telerobot_nodes.operator.devices import ROLES, STOPS
from telerobot_nodes.operator.evdev.codes import DROPPED, KEY, REL, REPORT, SYN
from telerobot_nodes.operator.evdev.device_map import FittedMap, MappedAxis
from telerobot_nodes.operator.evdev.kernel import AxisRange, Event

KEPT = 2  # changes of a button between two samples: its last press and release


class Enabling(Enum):
    """Whether the device moves anything."""

    LET_GO = "let go of everything"
    READY = "press the dead man's button"
    ENABLED = "enabled"


@dataclass(frozen=True)
class Sample:
    """State of a device at one time."""

    axes: tuple[float, ...]  # (6,) -1 .. 1, linear x y z, angular x y z
    buttons: tuple[int, ...]  # of ROLES


NEUTRAL = Sample((0.0,) * 6, (0,) * len(ROLES))


class _Axis:
    """Deflection of one axis, -1 .. 1, with its dead zone."""

    def __init__(self, code: str, mapped: MappedAxis, fitted: FittedMap, span: AxisRange | None) -> None:
        found = fitted.map
        self.code, self._sign = code, mapped.sign
        self._dead_zone = found.dead_zone if mapped.dead_zone is None else mapped.dead_zone
        self._middle = 0.5 * (span.minimum + span.maximum) if span else 0.0
        self._half = 0.5 * (span.maximum - span.minimum) if span and span.maximum > span.minimum else found.full
        self._fade = None if span else found.fade
        self._value = float(span.value) if span else 0.0
        self._at = -math.inf

    def set(self, value: int, now: float) -> None:
        self._value, self._at = float(value), now

    def deflection(self, now: float) -> float:
        if self._fade is not None and now - self._at > self._fade:
            return 0.0  # a relative axis reports nothing at rest
        raw = (self._value - self._middle) / self._half
        size = (min(abs(raw), 1.0) - self._dead_zone) / (1.0 - self._dead_zone)
        return self._sign * math.copysign(size, raw) if size > 0.0 else 0.0


class MappedDevice:
    """One connected device behind its map."""

    def __init__(
        self,
        fitted: FittedMap,
        ranges: Mapping[str, AxisRange],
        pressed: Collection[str],
        hot: bool = False,
    ) -> None:
        """`pressed`: buttons that are down now; `hot`: it was plugged in a moment ago."""
        self.enabling = Enabling.LET_GO
        self.axes = fitted.axes
        self.frames = self.dropped = 0
        self._map = fitted.map
        self._roles = {code: role for code, role in zip(fitted.buttons, ROLES, strict=True) if code}
        self._axes = [
            _Axis(code, mapped, fitted, ranges.get(code)) if mapped else None
            for code, mapped in zip(fitted.axes, fitted.map.axes, strict=True)
        ]
        self._by_code: dict[str, list[_Axis]] = {}
        for axis in filter(None, self._axes):
            self._by_code.setdefault(axis.code, []).append(axis)
        self._down = {role for code, role in self._roles.items() if code in pressed}
        self._hot = hot
        self._frame: list[Event] = []
        self._lost = False  # the rest of a frame of which the kernel dropped events
        self._changes: dict[str, deque[int]] = {role: deque(maxlen=KEPT) for role in ROLES}
        self._sent = dict.fromkeys(ROLES, 0)
        self._moved_at = -math.inf

    def receive(self, events: list[Event], now: float) -> bool:
        """Take events; True when some were lost before: the state has to be read anew (`resume`)."""
        lost = False
        for event in events:
            if event.kind != SYN:
                self._frame.append(event)
            elif event.code == DROPPED:
                self._lost = True
                self.dropped += 1
            elif event.code == REPORT:
                frame, self._frame = self._frame, []
                if self._lost:
                    self._lost, lost = False, True
                else:
                    self._apply(frame, now)
        del self._frame[:-1024]  # a device that never ends its frame
        return lost

    def resume(self, ranges: Mapping[str, AxisRange], pressed: Collection[str], now: float) -> None:
        """Go on from the state that the kernel has, after events were lost."""
        for code, span in ranges.items():
            for axis in self._by_code.get(code, ()):
                axis.set(span.value, now)
        for code, role in self._roles.items():
            self._press(role, code in pressed)
        self._enable(now)

    def sample(self, now: float) -> Sample:
        """What to publish now; a short press is published, and then its release."""
        self._enable(now)
        buttons = []
        for role in ROLES:
            if self._changes[role]:
                self._sent[role] = self._changes[role].popleft()
            buttons.append(self._sent[role])
        moves = bool(buttons[0]) and self.enabling is Enabling.ENABLED
        return Sample(self._deflections(now) if moves else NEUTRAL.axes, tuple(buttons))

    @property
    def waits(self) -> bool:
        """True while changes of buttons are not published yet."""
        return any(self._changes.values())

    def _apply(self, frame: list[Event], now: float) -> None:
        self.frames += 1
        for event in frame:
            name = event.name
            if event.kind == KEY:
                role = self._roles.get(name)
                if role and event.value in (0, 1):  # 2: the kernel repeats
                    self._press(role, bool(event.value))
            elif event.kind != REL or event.value:
                for axis in self._by_code.get(name, ()):
                    axis.set(event.value, now)
        if not self._hot:
            self._enable(now)
        self._hot = False

    def _press(self, role: str, down: bool) -> None:
        if down == (role in self._down):
            return
        (self._down.add if down else self._down.discard)(role)
        if role in STOPS:
            self._change(role, down)
        elif role == "deadman":
            self._on_deadman(down)
        elif not down or self.enabling is Enabling.ENABLED:
            self._change(role, down)

    def _on_deadman(self, down: bool) -> None:
        toggles = self._map.enable == "toggle"
        if down and self.enabling is Enabling.READY:
            self._moved_at = -math.inf  # its rest is counted from now on
            self._set(Enabling.ENABLED)
        elif self.enabling is Enabling.ENABLED and down == toggles:
            self._set(Enabling.READY)

    def _enable(self, now: float) -> None:
        """What follows from rest: ready to be enabled, or a toggled enable that ends."""
        moves = any(self._deflections(now))
        if moves or self._moved_at == -math.inf:
            self._moved_at = now
        if self.enabling is Enabling.LET_GO and not moves and "deadman" not in self._down and not self._hot:
            self._set(Enabling.READY)
        rested = now - self._moved_at > self._map.rest
        if self.enabling is Enabling.ENABLED and self._map.enable == "toggle" and rested:
            self._set(Enabling.READY)

    def _set(self, enabling: Enabling) -> None:
        was, self.enabling = self.enabling is Enabling.ENABLED, enabling
        if was != (enabling is Enabling.ENABLED):
            self._change("deadman", not was)

    def _change(self, role: str, down: bool) -> None:
        """Keep a change to be published; of many the last press and release."""
        changes = self._changes[role]
        if (changes[-1] if changes else self._sent[role]) != int(down):
            changes.append(int(down))

    def _deflections(self, now: float) -> tuple[float, ...]:
        return tuple(axis.deflection(now) if axis else 0.0 for axis in self._axes)
