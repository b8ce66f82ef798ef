"""`telerobot devices` without a graph: what is listed, why a device is not usable, exit codes."""

import json

import pytest
from recorded_device import Recorded, mouse_3d

from telerobot_nodes.cli import main
from telerobot_nodes.operator.evdev import found


def listed(capsys, root, *words, code=0):
    assert main(["devices", *words, "--root", str(root)]) == code
    return capsys.readouterr().out


def test_without_a_device_it_says_what_was_looked_at_and_ends_with_1(tmp_path, capsys):
    text = listed(capsys, tmp_path, code=1)
    assert "no gamepad, joystick or 3-D mouse on this host" in text
    assert f"{tmp_path}/dev/input: there is no such folder" in text
    assert json.loads(listed(capsys, tmp_path, "--json", code=1))["devices"] == []


def test_devices_are_listed_with_axes_buttons_and_map(tmp_path, capsys):
    Recorded(tmp_path, 3).plug()
    mouse_3d(tmp_path, 4).plug(rumbles=False)
    Recorded(tmp_path, 5, "Keyboard", (), ()).plug(extra_keys=range(100))
    text = listed(capsys, tmp_path)
    assert f"path     {tmp_path}/dev/input/event3" in text
    assert "axes     ABS_X ABS_Y" in text
    assert "buttons  BTN_0 BTN_1" in text
    assert "Keyboard" not in text
    pad, mouse = json.loads(listed(capsys, tmp_path, "--json"))["devices"]
    assert (pad["usable"], pad["rumble"], pad["kind"]) == (True, True, "gamepad")
    assert pad["map"].endswith("config/devices/gamepad.yaml")
    assert mouse["map"].endswith("config/devices/mouse_3d.yaml")
    assert "BTN_TL" in pad["buttons"]


def test_one_device_can_be_named(tmp_path, capsys):
    Recorded(tmp_path, 3).plug()
    mouse_3d(tmp_path, 4).plug()
    assert "Test Pad" not in listed(capsys, tmp_path, "spacemouse")
    assert "Test Pad" in listed(capsys, tmp_path, str(tmp_path / "dev/input/event3"))
    assert "no device is called 'wheel'" in listed(capsys, tmp_path, "wheel", code=1)


def test_a_device_without_permission_or_fitting_map_is_listed_with_the_reason(tmp_path, capsys, monkeypatch):
    Recorded(tmp_path, 3, axes=("ABS_X", "ABS_Y")).plug()
    assert "NOT USABLE: " in listed(capsys, tmp_path, code=1)
    monkeypatch.setattr(found.os, "access", lambda path, mode: "event" not in str(path))
    Recorded(tmp_path, 4, "Mine").plug()
    assert "no permission" in listed(capsys, tmp_path, "mine", code=1)


def test_a_broken_map_is_named_with_its_line_and_the_device_has_none(tmp_path, capsys):
    Recorded(tmp_path).plug()
    (tmp_path / "mine.yaml").write_text("map: mine\ndoc: x\nmatch: {names: [pad]}\naxes: {linear_q: 1}\n")
    text = listed(capsys, tmp_path, "--maps", str(tmp_path), code=1)
    assert "mine.yaml:4:8: axes.linear_q: unknown key" in text
    assert f"no map in {tmp_path} is for it" in text


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["--root", "/nowhere"], "root: '/nowhere' is not allowed"),
        (["--maps", "/nowhere"], "there is no folder /nowhere"),
    ],
)
def test_a_folder_that_is_not_there_is_refused(capsys, words, names):
    assert main(["devices", *words]) == 2
    assert names in capsys.readouterr().err
