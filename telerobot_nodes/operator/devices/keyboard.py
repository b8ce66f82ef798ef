"""Keys of a terminal to tool velocity. A terminal reports no release: a key counts as held while it repeats."""

from __future__ import annotations

import re

import numpy as np

from telerobot_nodes.core.values import FloatArray

FIRST_HOLD = 0.6  # [s] a single press counts as held: longer than the wait before a keyboard repeats
REPEAT_HOLD = 0.15  # [s] after a repetition
LINEAR, ANGULAR = 0.08, 0.4  # [m/s], [rad/s] at ratio 1
RATIO_STEP, RATIO_RANGE = 1.25, (0.1, 4.0)
QUIT = ("q", "\x03", "\x04")  # q, Ctrl-C, Ctrl-D
STOP, FASTER, SLOWER, FRAME = " ", "+", "-", "t"
HALT = ("h", "\x1b")  # h, Esc
SEQUENCE = re.compile(
    r"\x1b[\[O][0-9;]*[A-Za-z~]?"
)  # what a terminal sends for an arrow or another key without a letter

# key -> component of [linear, angular], sign
KEYS: dict[str, tuple[int, float]] = {
    "w": (0, 1.0),
    "s": (0, -1.0),
    "a": (1, 1.0),
    "d": (1, -1.0),
    "r": (2, 1.0),
    "f": (2, -1.0),
    "u": (3, 1.0),
    "o": (3, -1.0),
    "i": (4, 1.0),
    "k": (4, -1.0),
    "j": (5, 1.0),
    "l": (5, -1.0),
}

HELP = """\
w s  forward, back (x)     u o  roll  (about x)
a d  left, right   (y)     i k  pitch (about y)
r f  up, down      (z)     j l  yaw   (about z)
space stop    + - faster, slower    t  world or tool axes    q  quit
h Esc  HALT the robot"""


def single_keys(text: str) -> str:
    """The keys of `text`, as read from a terminal, without those that have no letter: an arrow is not Esc."""
    return SEQUENCE.sub("", text)


class Keyboard:
    """Velocity requested by the keys; the time is an argument."""

    def __init__(self) -> None:
        self.ratio = 1.0
        self.frame = "world"
        self.quit = False
        self.halt = False  # asked for; whoever halts the robot sets it back
        self._until: dict[str, float] = {}  # [s] key counts as held until then
        self._moving = False

    def press(self, key: str, now: float) -> None:
        """A key arrived at `now` [s]; keys without a meaning do nothing."""
        key = key if key in KEYS else key.lower()
        if key in KEYS:
            repeated = self._until.get(key, -np.inf) >= now
            self._until[key] = max(now + (REPEAT_HOLD if repeated else FIRST_HOLD), self._until.get(key, -np.inf))
        elif key == STOP:
            self._until.clear()
        elif key in HALT:
            self._until.clear()
            self.halt = True
        elif key in (FASTER, "=", SLOWER):
            step = 1.0 / RATIO_STEP if key == SLOWER else RATIO_STEP
            self.ratio = float(np.clip(self.ratio * step, *RATIO_RANGE))
        elif key == FRAME:
            self.frame = "tool" if self.frame == "world" else "world"
            self._until.clear()
        elif key in QUIT:
            self._until.clear()
            self.quit = True

    def twist(self, now: float) -> FloatArray | None:
        """(6,) [m/s], [rad/s] at `now` [s]; zero once when the last key is let go, then None."""
        velocity = np.zeros(6)
        for key, until in self._until.items():
            if now < until:
                component, sign = KEYS[key]
                velocity[component] += sign
        velocity *= self.ratio * np.repeat((LINEAR, ANGULAR), 3)
        was_moving, self._moving = self._moving, bool(velocity.any())
        return velocity if self._moving or was_moving else None
