"""Devices of a host, as /sys describes them: kinds, axes, buttons, and why one cannot be opened."""

import grp
import os
import pwd

import pytest
from recorded_device import Recorded, mouse_3d

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.evdev import InputFolder, Kind
from telerobot_nodes.operator.evdev import found as found_module
from telerobot_nodes.operator.evdev.codes import ACCELEROMETER, TOUCH


def found(root):
    return InputFolder(root).devices()


def test_a_gamepad_is_described(tmp_path):
    Recorded(tmp_path, 7).plug()
    (pad,) = found(tmp_path)
    assert (pad.name, pad.ids, pad.kind, pad.rumbles, pad.problem) == ("Test Pad", "045e:028e", Kind.GAMEPAD, True, "")
    assert pad.path == tmp_path / "dev/input/event7"
    assert {"ABS_X", "ABS_RY", "ABS_HAT0X"} <= set(pad.axes)
    assert "BTN_TL" in pad.buttons


@pytest.mark.parametrize("kind", ["ABS", "REL"])
def test_a_3d_mouse_is_told_by_its_six_axes(tmp_path, kind):
    mouse_3d(tmp_path, kind=kind).plug(rumbles=False)
    assert found(tmp_path)[0].kind is Kind.MOUSE_3D


def test_what_is_no_operators_device_is_of_another_kind(tmp_path):
    six = tuple(f"ABS_{axis}" for axis in ("X", "Y", "Z", "RX", "RY", "RZ"))
    Recorded(tmp_path, 1, "Keyboard", (), ()).plug(extra_keys=range(1, 100))
    Recorded(tmp_path, 2, "Mouse", ("REL_X", "REL_Y"), ()).plug(extra_keys=(0x110, 0x111))
    Recorded(tmp_path, 3, "Pad's touch pad", ("ABS_X", "ABS_Y"), ("BTN_SOUTH",)).plug(extra_keys=(TOUCH,))
    Recorded(tmp_path, 4, "Pad's own motion", six, ("BTN_0",)).plug(properties=(ACCELEROMETER,))
    assert [device.kind for device in found(tmp_path)] == [Kind.OTHER] * 4


def test_devices_are_in_the_order_of_their_numbers(tmp_path):
    for number in (10, 9, 2):
        Recorded(tmp_path, number).plug()
    assert [device.path.name for device in found(tmp_path)] == ["event2", "event9", "event10"]


def test_a_host_without_any_says_what_was_looked_at(tmp_path):
    assert found(tmp_path) == []
    assert InputFolder(tmp_path).looked_at()[0].endswith("sys/class/input: there is no such folder")
    Recorded(tmp_path).plug()
    assert InputFolder(tmp_path).looked_at()[1].endswith("dev/input: 1 input devices")
    with pytest.raises(InvalidValueError, match=r"^root"):
        InputFolder(tmp_path / "nowhere")


def test_a_device_whose_description_is_cut_or_whose_file_is_missing_hides_no_other(tmp_path):
    cut, missing = Recorded(tmp_path, 1).plug(), Recorded(tmp_path, 2).plug()
    Recorded(tmp_path, 3).plug()
    (cut.told / "capabilities" / "abs").write_text("not hexadecimal")
    missing.path.unlink()
    devices = found(tmp_path)
    assert [device.path.name for device in devices] == ["event2", "event3"]
    assert "No such file" in devices[0].problem
    assert "container" in devices[0].problem


def test_without_permission_the_group_to_join_is_named(tmp_path, monkeypatch):
    """As root every file may be read: what the system answers an ordinary user is put in its place."""
    device = Recorded(tmp_path).plug()
    device.path.chmod(0o660)
    monkeypatch.setattr(found_module.os, "access", lambda path, mode: False)
    group, user = grp.getgrgid(device.path.stat().st_gid), pwd.getpwuid(os.geteuid()).pw_name
    monkeypatch.setattr(found_module, "_members", lambda number: [])
    advice = f"no permission: {user} is not in the group {group.gr_name}; `sudo usermod -aG {group.gr_name} {user}`"
    assert found(tmp_path)[0].problem.startswith(advice)
    monkeypatch.setattr(found_module, "_members", lambda number: [user])
    assert "log in again" in found(tmp_path)[0].problem
    device.path.chmod(0o600)
    assert "mode 0600" in found(tmp_path)[0].problem
