"""Joy to velocity: dead zone, dead-man's button, and refusals that name the axis."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.devices import ROLE_FRAME, ROLES, JoyInput, JoyMapping, Joystick
from telerobot_nodes.operator.devices.joystick import beyond_dead_zone

FREE = JoyMapping(axes=(0, 1, 2, 3, 4, 5), linear=0.2, angular=0.5, dead_zone=0.1, deadman=0)
deflections = st.lists(st.floats(-1.0, 1.0), min_size=6, max_size=6)


@given(deflections)
def test_velocity_stays_inside_the_full_deflection_speeds(axes):
    velocity = Joystick(FREE).twist(axes, [1])
    if velocity is not None:
        assert np.all(np.abs(velocity) <= np.repeat([0.2, 0.5], 3) + 1e-12)


@given(st.floats(-1.0, 1.0), st.floats(0.0, 0.9))
def test_the_dead_zone_is_odd_and_gives_nothing_inside(value, zone):
    out = beyond_dead_zone(np.array([value, -value]), zone)
    assert out[0] == -out[1]
    assert abs(out[0]) <= 1.0
    assert (out[0] == 0.0) == (abs(value) <= zone)


def test_full_deflection_gives_full_speed_in_each_component():
    for i in range(6):
        axes = np.zeros(6)
        axes[i] = 1.0
        expected = np.zeros(6)
        expected[i] = 0.2 if i < 3 else 0.5
        np.testing.assert_allclose(Joystick(FREE).twist(axes, [1]), expected)


def test_a_sign_turns_a_component_around():
    mapping = JoyMapping(axes=(0, 1, 2, 3, 4, 5), signs=(-1.0, 1, 1, 1, 1, 1), dead_zone=0.0, deadman=-1)
    assert Joystick(mapping).twist([1.0, 0, 0, 0, 0, 0], [])[0] == -mapping.linear


def test_without_the_deadman_nothing_is_said():
    assert Joystick(FREE).twist([1.0] * 6, [0]) is None


def test_letting_go_says_zero_once_and_then_nothing():
    joystick = Joystick(FREE)
    assert joystick.twist([1.0] * 6, [1]).any()
    assert not joystick.twist([1.0] * 6, [0]).any()
    assert joystick.twist([1.0] * 6, [0]) is None


@pytest.mark.parametrize(
    ("axes", "buttons", "names"),
    [
        ([0.0] * 5, [1], r"^axes\[5\] \(angular z\): 5"),
        ([], [1], r"^axes\[0\] \(linear x\)"),
        ([0.0] * 6, [], r"^deadman: 0"),
        ([0.0, np.nan, 0, 0, 0, 0], [1], r"^joy\.axes\[1\]"),
        ([np.inf] * 6, [1], r"^joy\.axes\[0\]"),
    ],
)
def test_a_message_the_mapping_does_not_fit_is_refused_by_name(axes, buttons, names):
    with pytest.raises(InvalidValueError, match=names):
        Joystick(FREE).twist(axes, buttons)


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"axes": (0, 1)}, r"^axes \(length\)"),
        ({"axes": (0, 1, 2, 3, 4, 99)}, r"^axes\[5\] \(angular z\)"),
        ({"axes": (-2, 1, 2, 3, 4, 5)}, r"^axes\[0\]"),
        ({"signs": (1.0, 1, 1, 1, 1, 0.5)}, r"^signs\[5\]"),
        ({"linear": 2.0}, "^linear"),
        ({"dead_zone": np.nan}, "^dead_zone"),
        ({"deadman": 64}, "^deadman"),
        ({"frame": "camera"}, "^frame"),
    ],
)
def test_a_bad_mapping_is_refused_by_name(values, names):
    with pytest.raises(InvalidValueError, match=names):
        JoyMapping(**values)


STOPS = JoyMapping(deadman=0, halt=1, estop=2, reset=3, tare=4)


def test_a_stop_acts_once_when_pressed_with_and_without_the_dead_mans_button():
    device = Joystick(STOPS)
    assert device.presses([0, 1, 0, 0, 0]) == ["halt"]
    assert device.presses([0, 1, 1, 0, 0]) == ["estop"]
    assert device.presses([0, 0, 0, 0, 0]) == []
    assert device.presses([1, 1, 1, 0, 0]) == ["halt", "estop"]


def test_reset_and_tare_need_the_dead_mans_button():
    device = Joystick(STOPS)
    assert device.presses([0, 0, 0, 1, 1]) == []
    assert device.presses([1, 0, 0, 0, 0]) == []
    assert device.presses([1, 0, 0, 1, 1]) == ["reset", "tare"]


def test_a_device_with_fewer_buttons_has_none_of_the_others():
    assert Joystick(STOPS).presses([1, 1]) == ["halt"]
    assert Joystick(JoyMapping(halt=-1, estop=-1)).presses([1] * 12) == []


@pytest.mark.parametrize("name", ["halt", "estop", "reset", "tare"])
def test_a_button_out_of_range_is_refused_by_name(name):
    with pytest.raises(InvalidValueError, match=name):
        JoyMapping(**{name: 64})


@pytest.mark.parametrize("frame", ["joy", ROLE_FRAME])
def test_a_device_that_falls_silent_ends_its_motion_and_moves_again_only_after_it_was_let_go(frame):
    joy, axes = JoyInput(FREE), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    assert joy.receive(frame, 0.0).twist(axes, [1, 0, 0, 0, 0]).any()
    assert not joy.fall_silent(0.9)
    assert joy.active
    assert joy.fall_silent(1.1)
    assert not joy.fall_silent(5.0)  # once
    assert joy.gone == 1
    joystick = joy.receive(frame, 6.0)
    assert joystick.twist(axes, [1, 0, 0, 0, 0]) is None  # still held
    assert joystick.twist([0.0] * 6, [1, 0, 0, 0, 0]) is None
    assert joystick.twist(axes, [1, 0, 0, 0, 0]) is None
    assert joystick.twist(axes, [0, 0, 0, 0, 0]) is None
    assert joystick.twist(axes, [1, 0, 0, 0, 0]).any()


def test_a_silent_device_without_a_dead_mans_button_moves_again_only_after_it_was_at_rest():
    joystick = Joystick(JoyMapping(axes=(0, 1, 2, 3, 4, 5), deadman=-1))
    assert joystick.twist([1.0] * 6, []).any()
    joystick.let_go()
    assert joystick.twist([1.0] * 6, []) is None
    assert joystick.twist([0.0] * 6, []) is None
    assert joystick.twist([1.0] * 6, []).any()


def test_the_layout_of_input_device_needs_no_parameters_and_keeps_the_speeds():
    joy = JoyInput(JoyMapping(linear=0.3, angular=0.4, dead_zone=0.5, axes=(5, 4, 3, 2, 1, 0), deadman=7, halt=9))
    device = joy.receive(ROLE_FRAME, 0.0)
    axes = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    np.testing.assert_allclose(device.twist(axes, [1, 0, 0, 0, 0]), np.array(axes) * np.repeat([0.3, 0.4], 3))
    assert device.presses([1, 1, 1, 1, 1]) == list(ROLES[1:])


def test_a_device_that_publishes_changes_only_may_be_silent_while_nothing_is_held():
    joy, axes = JoyInput(FREE), [1.0] * 6
    assert joy.receive("joy", 0.0).twist(axes, [0]) is None
    assert not joy.fall_silent(60.0)
    assert joy.receive("joy", 60.0).twist(axes, [1]).any()
