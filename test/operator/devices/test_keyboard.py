"""Keys to velocity: a key moves while it repeats, and the arm is told to stop when it does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.operator.devices import Keyboard, single_keys
from telerobot_nodes.operator.devices.keyboard import ANGULAR, FIRST_HOLD, KEYS, LINEAR, RATIO_RANGE, REPEAT_HOLD


@pytest.mark.parametrize("key", KEYS)
def test_each_key_moves_its_own_component(key):
    keyboard = Keyboard()
    keyboard.press(key, 0.0)
    component, sign = KEYS[key]
    expected = np.zeros(6)
    expected[component] = sign * (LINEAR if component < 3 else ANGULAR)
    np.testing.assert_array_equal(keyboard.twist(0.01), expected)


def test_every_component_has_a_key_for_both_ways():
    assert {(component, sign) for component, sign in KEYS.values()} == {(i, s) for i in range(6) for s in (1.0, -1.0)}


def test_a_single_press_ends_by_itself_with_one_zero():
    keyboard = Keyboard()
    keyboard.press("w", 0.0)
    assert keyboard.twist(0.9 * FIRST_HOLD).any()
    assert not keyboard.twist(FIRST_HOLD).any()
    assert keyboard.twist(FIRST_HOLD + 0.01) is None


def test_a_repeating_key_moves_without_a_gap_and_ends_soon_after():
    keyboard = Keyboard()
    times = [0.0, *np.arange(0.5, 2.0, 0.04)]
    for now, following in zip(times, [*times[1:], None], strict=True):
        keyboard.press("w", now)
        if following is not None:
            assert keyboard.twist(following - 1e-6).any()
    assert not keyboard.twist(times[-1] + REPEAT_HOLD).any()


def test_opposite_keys_cancel():
    keyboard = Keyboard()
    keyboard.press("w", 0.0)
    keyboard.press("s", 0.0)
    assert keyboard.twist(0.01) is None


def test_space_stops_at_once_and_says_so():
    keyboard = Keyboard()
    keyboard.press("w", 0.0)
    keyboard.twist(0.01)
    keyboard.press(" ", 0.02)
    assert not keyboard.twist(0.02).any()


@given(st.text(max_size=40))
@pytest.mark.lengthy
def test_any_text_keeps_speed_inside_the_stated_range(text):
    keyboard = Keyboard()
    for i, key in enumerate(text):
        keyboard.press(key, 0.01 * i)
    velocity = keyboard.twist(0.01 * len(text))
    assert RATIO_RANGE[0] <= keyboard.ratio <= RATIO_RANGE[1]
    if velocity is not None:
        assert np.all(np.abs(velocity) <= RATIO_RANGE[1] * np.repeat([LINEAR, ANGULAR], 3))


@pytest.mark.parametrize("key", ["q", "\x03", "\x04"])
def test_quitting_stops_the_motion_first(key):
    keyboard = Keyboard()
    keyboard.press("w", 0.0)
    keyboard.twist(0.01)
    keyboard.press(key, 0.02)
    assert keyboard.quit
    assert not keyboard.twist(0.02).any()


def test_the_frame_key_changes_axes_and_lets_go():
    keyboard = Keyboard()
    keyboard.press("w", 0.0)
    keyboard.press("t", 0.01)
    assert keyboard.frame == "tool"
    assert keyboard.twist(0.02) is None


@pytest.mark.parametrize("key", ["h", "H", "\x1b"])
def test_h_and_esc_ask_for_a_halt_and_end_every_motion(key):
    keyboard = Keyboard()
    keyboard.press("w", 0.0)
    keyboard.twist(0.01)
    keyboard.press(key, 0.02)
    assert keyboard.halt
    assert not keyboard.twist(0.03).any()


@pytest.mark.parametrize(
    ("read", "keys"),
    [("\x1b[A", ""), ("\x1bOP", ""), ("\x1b[1;5Dw", "w"), ("\x1b", "\x1b"), ("a\x1b", "a\x1b"), ("\x1b\x1b[A", "\x1b")],
)
def test_an_arrow_key_is_no_esc_and_moves_nothing(read, keys):
    assert single_keys(read) == keys
