"""Input devices as folders of a fake root: the kernel's files in /sys, and a pipe with the events in /dev/input."""

import os
import struct

from telerobot_nodes.operator.evdev.codes import ABS, CODES, DROPPED, FF, KEY, REL, REPORT, RUMBLE, SYN
from telerobot_nodes.operator.evdev.kernel import EFFECT, EVENT, event_bytes

WORD = 8 * struct.calcsize("L")
GAMEPAD_AXES = ("ABS_X", "ABS_Y", "ABS_Z", "ABS_RX", "ABS_RY", "ABS_RZ", "ABS_HAT0X", "ABS_HAT0Y")
GAMEPAD_BUTTONS = ("BTN_SOUTH", "BTN_EAST", "BTN_NORTH", "BTN_WEST", "BTN_TL", "BTN_TR", "BTN_SELECT", "BTN_START")
SIX = ("X", "Y", "Z", "RX", "RY", "RZ")


def bits(numbers):
    """A bit field as /sys shows it."""
    whole = sum(1 << number for number in numbers)
    words = []
    while True:
        words.append(f"{whole & ((1 << WORD) - 1):x}")
        whole >>= WORD
        if not whole:
            return " ".join(reversed(words)) + "\n"


class Recorded:
    """One device that the test plugs in, moves and unplugs."""

    def __init__(
        self, root, number=0, name="Test Pad", axes=GAMEPAD_AXES, buttons=GAMEPAD_BUTTONS, ids=("045e", "028e")
    ):
        self.event, self.name, self.axes, self.buttons, self.ids = f"event{number}", name, axes, buttons, ids
        self.path = root / "dev" / "input" / self.event
        self.told = root / "sys" / "class" / "input" / self.event / "device"
        self.values = {}  # of axes when it is plugged in
        self._end = None

    def plug(self, rumbles=True, extra_keys=(), properties=()):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        for folder in ("id", "capabilities"):
            (self.told / folder).mkdir(parents=True, exist_ok=True)
        files = {
            "name": self.name,
            "id/vendor": self.ids[0],
            "id/product": self.ids[1],
            "properties": bits(properties),
            "capabilities/abs": bits(self._codes(ABS, self.axes)),
            "capabilities/rel": bits(self._codes(REL, self.axes)),
            "capabilities/key": bits([*self._codes(KEY, self.buttons), *extra_keys]),
            "capabilities/ff": bits([RUMBLE] if rumbles else []),
            "ranges": "".join(
                f"{axis} {self.values.get(axis, 0)} -32768 32767\n" for axis in self.axes if axis.startswith("ABS")
            ),
        }
        for file, text in files.items():
            (self.told / file).write_text(text)
        os.mkfifo(self.path)
        self._end = os.open(self.path, os.O_RDWR | os.O_NONBLOCK)
        return self

    def unplug(self):
        """As the kernel does it: the files go, then whoever reads is told."""
        for file in sorted(self.told.parent.rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
        self.told.parent.rmdir()
        self.path.unlink()
        os.close(self._end)

    def write(self, data):
        os.write(self._end, data)

    def send(self, **values):
        """One frame: ABS_X=100, BTN_TL=1."""
        self.write(frame(**values))

    def feedback(self):
        """Rumbles played: strength 0 .. 1 of each effect, and values of the plays."""
        file = self.path.with_name(self.path.name + ".feedback")
        data, effects, plays = (file.read_bytes() if file.exists() else b""), [], []
        while data:
            if struct.unpack_from("H", data)[0] == RUMBLE and len(data) >= EFFECT.size:
                effects.append(EFFECT.unpack_from(data)[-2] / 0xFFFF)
                data = data[EFFECT.size :]
            else:
                _, _, kind, code, value = EVENT.unpack_from(data)
                assert (kind, code) == (FF, 0)
                plays.append(value)
                data = data[EVENT.size :]
        return effects, plays

    @staticmethod
    def _codes(kind, names):
        return [CODES[name][1] for name in names if CODES[name][0] == kind]


def events(**values):
    """Events without the end of their frame."""
    return b"".join(event_bytes(*CODES[name], value) for name, value in values.items())


END = event_bytes(SYN, REPORT, 0)
LOST = event_bytes(SYN, DROPPED, 0)


def frame(**values):
    """One whole frame."""
    return events(**values) + END


def mouse_3d(root, number=0, kind="ABS", **more):
    """A 3-D mouse with absolute or relative axes."""
    axes = tuple(f"{kind}_{axis}" for axis in SIX)
    return Recorded(root, number, "Test SpaceMouse", axes, ("BTN_0", "BTN_1"), ("256f", "c635"), **more)
