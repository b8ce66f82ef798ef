"""Linux's input interface: the structures as the kernel's headers have them; events from pipes and from the kernel."""

import os
import shutil
import struct
import subprocess
import time
from pathlib import Path

import pytest
from recorded_device import END, LOST, Recorded, events, frame

from telerobot_nodes.operator.evdev import DeviceParameters, DeviceSource, Kind, folder_of, read_maps
from telerobot_nodes.operator.evdev.codes import CODES, DROPPED, FF, KEY, REPORT, RUMBLE, SYN
from telerobot_nodes.operator.evdev.found import InputFolder
from telerobot_nodes.operator.evdev.kernel import (
    EFFECT,
    EVENT,
    GET_KEYS,
    GET_RANGE,
    KEY_BYTES,
    RANGE,
    SEND_EFFECT,
    DeviceGoneError,
    effect_bytes,
    events_of,
)

HEADER = Path("/usr/include/linux/uinput.h")
UINPUT = Path("/dev/uinput")
STRONG = "offsetof(struct ff_effect, u.rumble.strong_magnitude)"


def test_the_structures_and_requests_are_those_of_the_kernels_headers(tmp_path):
    if not HEADER.is_file() or shutil.which("gcc") is None:
        pytest.skip(f"{HEADER} or gcc is not installed here")
    names = {name: code for name, (_, code) in CODES.items()}
    rows = {"sizeof(struct input_event)": EVENT.size, "sizeof(struct input_absinfo)": RANGE.size}
    rows |= {"sizeof(struct ff_effect)": EFFECT.size, STRONG: 16, "EVIOCGABS(5)": GET_RANGE[5], "EVIOCSFF": SEND_EFFECT}
    rows |= {f"EVIOCGKEY({KEY_BYTES})": GET_KEYS, "KEY_MAX / 8 + 1": KEY_BYTES, "FF_RUMBLE": RUMBLE, "EV_FF": FF}
    rows |= {"SYN_REPORT": REPORT, "SYN_DROPPED": DROPPED, **names}
    lines = "".join(f'  if ((unsigned)({what}) != {value}u) puts("{what}");\n' for what, value in rows.items())
    source = tmp_path / "check.c"
    source.write_text(f"#include <stdio.h>\n#include <stddef.h>\n#include <linux/input.h>\nint main() {{\n{lines}}}\n")
    subprocess.run(["gcc", str(source), "-o", str(tmp_path / "check")], check=True)
    different = subprocess.run([tmp_path / "check"], check=True, capture_output=True, text=True).stdout
    assert different == ""


def test_bytes_become_events_and_a_cut_one_waits_for_its_rest():
    data = frame(ABS_X=-5, BTN_TL=1)
    found, rest = events_of(data[:-7])
    assert [(event.name, event.value) for event in found] == [("ABS_X", -5), ("BTN_TL", 1)]
    more, rest = events_of(rest + data[-7:])
    assert [tuple(event) for event in more] == [(SYN, REPORT, 0)]
    assert rest == b""


def test_a_recorded_device_is_read_in_pieces_and_its_end_is_told(tmp_path):
    device = Recorded(tmp_path).plug()
    file = InputFolder(tmp_path).devices()[0].open()
    assert file.read() == []
    data = frame(ABS_X=100)
    device.write(data[:10])
    assert file.read() == []
    device.write(data[10:])
    assert [event.value for event in file.read()] == [100, 0]
    device.write(data[:30])  # vanishes in the middle of an event
    device.unplug()
    assert len(file.read()) == 1
    with pytest.raises(DeviceGoneError, match="event0: end of its events"):
        file.read()
    file.close()


def test_a_rumble_has_its_strength_and_duration_where_the_kernel_reads_them():
    effect = effect_bytes(-1, 0.5, 0.25)
    kind, number = struct.unpack_from("Hh", effect)
    length, _delay, strong, weak = struct.unpack_from("HH2xHH", effect, 10)
    assert (kind, number, length, strong, weak) == (RUMBLE, -1, 250, 0x8000, 0x8000)
    assert struct.unpack_from("H", effect_bytes(0, 7.0, 0.1), 16) == (0xFFFF,)


def test_a_lost_and_an_ended_frame_are_told_apart():
    assert [event.code for event in events_of(LOST + END)[0]] == [DROPPED, REPORT]
    assert events(ABS_X=1)[: struct.calcsize("@LL")] == bytes(struct.calcsize("@LL"))


@pytest.fixture
def kernel_pad():
    """A gamepad of the kernel itself, made by uinput."""
    if not os.access(UINPUT, os.W_OK):
        pytest.skip(f"{UINPUT} is not here or may not be written: no input device can be made")
    import fcntl

    fd = os.open(UINPUT, os.O_WRONLY | os.O_NONBLOCK)
    wanted = ["ABS_X", "ABS_Y", "ABS_RX", "ABS_RY", "BTN_SOUTH", "BTN_EAST", "BTN_TL", "BTN_SELECT"]
    setters = {KEY: 101, CODES["ABS_X"][0]: 103}  # UI_SET_KEYBIT, UI_SET_ABSBIT
    for kind in setters:
        fcntl.ioctl(fd, 0x40045564, kind)  # UI_SET_EVBIT
    for name in wanted:
        kind, code = CODES[name]
        fcntl.ioctl(fd, 0x40045500 | setters[kind], code)
    ends = [high if code < 5 else 0 for high in (32767, -32768, 0, 0) for code in range(64)]
    os.write(fd, struct.pack("@80s4HI256i", b"uinput pad", 3, 0x1234, 0x5678, 1, 0, *ends))
    fcntl.ioctl(fd, 0x5501)  # UI_DEV_CREATE
    yield fd
    os.close(fd)


def test_a_device_of_the_kernel_is_found_read_and_lost(kernel_pad):
    def until(ready):
        end = time.monotonic() + 5.0
        while not ready() and time.monotonic() < end:
            time.sleep(0.01)  # the kernel and udev have no event to wait for
        return ready()

    mine = [None]

    def usable():
        mine[0] = next((d for d in InputFolder().devices() if d.name == "uinput pad"), None)
        return mine[0] is not None and not mine[0].problem

    assert until(usable)
    assert mine[0].kind is Kind.GAMEPAD
    source = DeviceSource(DeviceParameters(device="uinput pad"), read_maps(folder_of()))
    assert source.step(0.0) is not None
    os.write(kernel_pad, frame(BTN_TL=1))
    assert until(lambda: source.step(time.monotonic()) is not None and source.enabling.name == "ENABLED")
    os.write(kernel_pad, frame(ABS_Y=-32768))
    last = [None]

    def moves():
        last[0] = source.step(time.monotonic()) or last[0]
        return last[0] is not None and last[0].axes[0] == 1.0

    assert until(moves)
    os.close(kernel_pad)
    os.dup2(os.open(os.devnull, os.O_RDONLY), kernel_pad)
    assert until(lambda: source.step(time.monotonic()) is None and source.unplugged == 1)
