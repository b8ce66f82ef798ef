"""Map files: the package's own fit the devices they are for; a bad one is refused with file, line and key."""

import pytest
from recorded_device import GAMEPAD_BUTTONS, Recorded, mouse_3d

from telerobot_nodes.errors import ParameterFileError
from telerobot_nodes.operator.evdev import InputFolder, NoMapError, folder_of, read_map, read_maps

MAP = """\
map: mine
doc: My own.
match: {names: [test pad]}
axes:
  linear_x: {code: ABS_RY, sign: -1}
buttons:
  deadman: BTN_TR
"""


@pytest.fixture
def maps():
    return read_maps(folder_of())


def device(root, recorded):
    recorded.plug()
    return InputFolder(root).devices()[-1]


def test_the_packages_own_maps_can_be_read(maps):
    assert maps.broken == ()
    assert {found.map for found in maps.maps} == {"gamepad", "mouse_3d"}


def test_a_gamepad_gets_its_sticks_and_shoulder_button(tmp_path, maps):
    fitted = maps.map_of(device(tmp_path, Recorded(tmp_path)))
    assert fitted.map.map == "gamepad"
    assert fitted.axes == ("ABS_Y", "ABS_X", "ABS_RY", "", "", "ABS_RX")
    assert fitted.buttons == ("BTN_TL", "BTN_EAST", "BTN_SELECT", "", "")


def test_a_gamepad_that_names_its_controls_as_a_joystick_has_the_same_map(tmp_path, maps):
    axes = ("ABS_X", "ABS_Y", "ABS_Z", "ABS_RZ")
    buttons = ("BTN_TRIGGER", "BTN_THUMB", "BTN_THUMB2", "BTN_TOP", "BTN_TOP2", "BTN_PINKIE")
    fitted = maps.map_of(device(tmp_path, Recorded(tmp_path, axes=axes, buttons=buttons)))
    assert fitted.axes == ("ABS_Y", "ABS_X", "ABS_RZ", "", "", "ABS_Z")
    assert fitted.buttons[:2] == ("BTN_TOP2", "BTN_THUMB")


@pytest.mark.parametrize("kind", ["ABS", "REL"])
def test_a_3d_mouse_gets_all_six_axes(tmp_path, maps, kind):
    fitted = maps.map_of(device(tmp_path, mouse_3d(tmp_path, kind=kind)))
    assert fitted.map.map == "mouse_3d"
    assert fitted.axes == tuple(f"{kind}_{axis}" for axis in ("Y", "X", "Z", "RY", "RX", "RZ"))


def test_a_map_for_one_model_goes_before_one_for_all_of_its_kind(tmp_path):
    for name, text in (("general", "{axes: [ABS_X]}"), ("mine", "{names: [test pad]}"), ("zeal", "{ids: [045E:028e]}")):
        written = MAP.replace("map: mine", f"map: {name}").replace("{names: [test pad]}", text)
        (tmp_path / f"{name}.yaml").write_text(written)
    folder = read_maps(tmp_path)
    assert [found.map for found in folder.maps] == ["zeal", "mine", "general"]
    assert folder.map_of(device(tmp_path, Recorded(tmp_path))).map.map == "zeal"


def test_an_axis_or_dead_mans_button_that_the_device_lacks_is_refused_at_its_line(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(MAP)
    pad = device(tmp_path, Recorded(tmp_path, axes=("ABS_X", "ABS_Y")))
    with pytest.raises(ParameterFileError, match=r"mine\.yaml:5:14: axes\.linear_x: ABS_RY: .* has ABS_X, ABS_Y"):
        read_maps(tmp_path).map_of(pad)
    file.write_text(MAP.replace("BTN_TR", "BTN_TR2"))
    pad = device(tmp_path, Recorded(tmp_path, 1, buttons=GAMEPAD_BUTTONS))
    with pytest.raises(
        ParameterFileError, match=r"mine\.yaml:7:3: buttons\.deadman: BTN_TR2: this device has BTN_SOUTH"
    ):
        read_maps(tmp_path).map_of(pad)


def test_a_device_that_no_map_is_for_is_told_what_there_is(tmp_path, maps):
    odd = device(tmp_path, Recorded(tmp_path, axes=("ABS_WHEEL",), buttons=("BTN_DEAD",)[:0]))
    with pytest.raises(NoMapError, match="there are: gamepad, mouse_3d"):
        maps.map_of(odd)


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("ABS_RY", "ABS_RW", r":5:14: axes\.linear_x\.code: .*ABS_RW.*did you mean ABS_R"),
        ("ABS_RY", "BTN_TL", r":5:14: axes\.linear_x\.code"),
        ("sign: -1", "sign: 0", r":5:28: axes\.linear_x\.sign: 0: allowed: 1, -1"),
        ("sign: -1", "sign: -2", r":5:28: axes\.linear_x\.sign"),
        ("sign: -1", "dead_zone: 0.95", r":5:28: axes\.linear_x\.dead_zone"),
        ("sign: -1", "dead_zone: .nan", r"axes\.linear_x\.dead_zone: nan is not finite"),
        ("linear_x:", "linear_w:", r":5:3: axes\.linear_w: unknown key; did you mean linear_"),
        ("  linear_x: {code: ABS_RY, sign: -1}", "  {}", r":5:3: axes\.linear_x: None: .*one or more of linear_x"),
        ("BTN_TR", "BTN_LEFT_SHOULDER", r":7:3: buttons\.deadman"),
        ("  deadman: BTN_TR", "  halt: BTN_TR", r"buttons\.deadman: the key is missing"),
        ("{names: [test pad]}", "{}", r":3:\d+: match\.axes"),
        ("{names: [test pad]}", "{buttons: [BTN_A]}", r":3:9: match\.buttons.*BTN_A"),
        ("map: mine", "map: yours", r":1:1: map: 'yours'; allowed: mine"),
        ("doc: My own.", "doc: My own.\nenable: latch", r":3:1: enable: 'latch' is not allowed; allowed: hold, toggle"),
        ("doc: My own.", "doc: My own.\nrest: 0", r":3:1: rest: .*allowed: 1 \.\. 600"),
        ("doc: My own.", "doc: My own.\nspeed: 1", r":3:1: speed: unknown key"),
        ("doc: My own.", "doc: [", r"YAML: not readable"),
    ],
)
def test_a_bad_map_is_refused_with_file_line_and_key(tmp_path, old, new, names):
    assert old in MAP
    file = tmp_path / "mine.yaml"
    file.write_text(MAP.replace(old, new))
    with pytest.raises(ParameterFileError, match=r"mine\.yaml" + names if names.startswith(":") else names):
        read_map(file)


def test_a_broken_map_does_not_hide_the_others(tmp_path):
    (tmp_path / "mine.yaml").write_text(MAP)
    (tmp_path / "bad.yaml").write_text("map: bad\n")
    folder = read_maps(tmp_path)
    assert [found.map for found in folder.maps] == ["mine"]
    assert "bad.yaml" in str(folder.broken[0])
    with pytest.raises(NoMapError, match="no folder"):
        read_maps(tmp_path / "nowhere")


def test_the_operators_own_folder_goes_before_the_packages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert folder_of().name == "devices"
    assert folder_of().is_absolute()
    (tmp_path / "devices").mkdir()
    assert not folder_of().is_absolute()
