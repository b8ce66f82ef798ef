"""Names and numbers of the events of Linux input devices, as linux/input-event-codes.h has them."""

from __future__ import annotations

SYN, KEY, REL, ABS, FF = 0x00, 0x01, 0x02, 0x03, 0x15  # kinds of events
REPORT, DROPPED = 0, 3  # codes of SYN: a frame is complete; the kernel's buffer was full
RUMBLE = 0x50  # code of FF
ACCELEROMETER = 6  # property of a device that measures its own motion
TOUCH = 0x14A  # button of touch pads and tablets

_AXES = ("X", "Y", "Z", "RX", "RY", "RZ")
_ABSOLUTE = dict(enumerate((*_AXES, "THROTTLE", "RUDDER", "WHEEL", "GAS", "BRAKE")))
_ABSOLUTE |= {0x10 + 2 * i + j: f"HAT{i}{'XY'[j]}" for i in range(4) for j in range(2)}
_RELATIVE = dict(enumerate((*_AXES, "HWHEEL", "DIAL", "WHEEL", "MISC")))
_JOYSTICK = ("TRIGGER", "THUMB", "THUMB2", "TOP", "TOP2", "PINKIE", *(f"BASE{i}".rstrip("1") for i in range(1, 7)))
_GAMEPAD = (
    *("SOUTH", "EAST", "C", "NORTH", "WEST", "Z", "TL", "TR"),
    *("TL2", "TR2", "SELECT", "START", "MODE", "THUMBL", "THUMBR"),
)
_DPAD = ("DPAD_UP", "DPAD_DOWN", "DPAD_LEFT", "DPAD_RIGHT")
_BUTTONS = {
    **{0x100 + i: str(i) for i in range(10)},
    **{0x120 + i: name for i, name in enumerate(_JOYSTICK)},
    **{0x130 + i: name for i, name in enumerate(_GAMEPAD)},
    **{0x220 + i: name for i, name in enumerate(_DPAD)},
    **{0x2C0 + i: f"TRIGGER_HAPPY{i + 1}" for i in range(40)},
}

# (kind, code) -> name, and back. What has no name here is no axis or button of a gamepad, joystick or 3-D mouse.
NAMES: dict[tuple[int, int], str] = {
    **{(ABS, code): f"ABS_{name}" for code, name in _ABSOLUTE.items()},
    **{(REL, code): f"REL_{name}" for code, name in _RELATIVE.items()},
    **{(KEY, code): f"BTN_{name}" for code, name in _BUTTONS.items()},
}
CODES = {name: code for code, name in NAMES.items()}
AXES = tuple(name for name in CODES if not name.startswith("BTN_"))
BUTTONS = tuple(name for name in CODES if name.startswith("BTN_"))
