"""The scripted hand of a task: increments that add up to its waves or its recording, at the device's own rate."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid

from telerobot_nodes.errors import InvalidValueError, ModelError
from telerobot_nodes.tasks.hand import ScriptedHand
from telerobot_nodes.tasks.task import HandSegment, Wave

PHASES = st.floats(0.0, 2.0 * math.pi)


def moved(hand, until, period=0.002, begin=7.0):
    """Sum of the increments from `begin` on, every `period`."""
    total = np.zeros(6)
    for k in range(round(until / period) + 1):
        increment = hand.increment(begin + k * period)
        if increment is not None:
            total += increment
    return total


@given(st.floats(0.5, 5.0), st.floats(-0.2, 0.2), PHASES, PHASES)
def test_waves_have_the_velocity_of_their_docstring(period, size, phase, more):
    hand = ScriptedHand(HandSegment(("go",), (Wave(4, size, period, phase),)), more)
    t = np.linspace(0.0, 0.5, 2001)
    velocity = 2.0 * np.pi * size / period * np.cos(2.0 * np.pi * t / period + phase + more)
    expected = trapezoid(velocity, t)
    assert moved(hand, 0.5) == pytest.approx([0.0, 0.0, 0.0, 0.0, expected, 0.0], abs=1e-6)


def test_waves_of_one_axis_add_up():
    waves = (Wave(0, 0.02, 4.0), Wave(0, 0.01, 4.0, math.pi), Wave(2, 0.03, 4.0))
    assert moved(ScriptedHand(HandSegment(("go",), waves)), 1.0) == pytest.approx([0.01, 0, 0.03, 0, 0, 0], abs=1e-9)


def test_the_device_has_a_reading_at_its_own_rate_only():
    hand = ScriptedHand(HandSegment(("go",), (Wave(0, 0.1, 1.0),), rate=50.0))
    readings = [hand.increment(3.0 + 0.002 * k) is not None for k in range(101)]
    assert [k for k, new in enumerate(readings) if new] == list(range(10, 101, 10))


@pytest.mark.parametrize("begin", [0.0, 3.0, 7.0, 1234.5])
def test_a_reading_that_is_due_is_there(begin):
    hand = ScriptedHand(HandSegment(("go",), (Wave(0, 0.1, 1.0),)))
    assert [hand.increment(begin + 0.01 * k) is None for k in range(20)] == [True] + [False] * 19


def test_a_late_reading_loses_no_motion():
    hand = ScriptedHand(HandSegment(("go",), (Wave(0, 0.1, 1.0),)))
    assert hand.increment(0.0) is None
    first, second = hand.increment(0.133), hand.increment(0.25)
    assert (first + second)[0] == pytest.approx(0.1)


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A hand that plays a recording of the package's share."""

    def make(text, **values):
        (tmp_path / "share" / "telerobot").mkdir(parents=True)
        (tmp_path / "share" / "telerobot" / "hand.csv").write_text(text)
        monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
        return ScriptedHand(HandSegment(("go",), recording="hand.csv", **values))

    return make


LINE = "t,x,y,z\n5.0,1.0,2.0,3.0\n6.0,1.2,2.0,2.0\n7.0,1.2,2.4,2.0\n"


def test_a_recording_is_played_from_its_own_start_and_ends_where_it_ends(recorded):
    hand = recorded(LINE)
    assert moved(hand, 0.5) == pytest.approx([0.1, 0.0, -0.5, 0.0, 0.0, 0.0])
    assert moved(hand, 3.0) == pytest.approx([0.1, 0.4, -0.5, 0.0, 0.0, 0.0])


def test_a_recording_is_scaled_and_moves_the_axes_named(recorded):
    assert moved(recorded(LINE, scale=-2.0, axes=(5, 0)), 1.0) == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.0, -0.4])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t,x,y,z\n0,1,2,left\n", r"hand\.recording: 'hand\.csv'.*CSV of t, x, y, z"),
        ("t,x,y\n0,1,2\n", r"hand\.recording \(columns\): 3 .*t, x, y, z"),
        ("t,x,y,z\n0,1,2,nan\n", r"hand\.recording\[3\]: nan .*finite"),
    ],
)
def test_a_recording_that_is_none_is_rejected_by_name(recorded, text, message):
    with pytest.raises(InvalidValueError, match=message):
        recorded(text)


def test_a_recording_that_is_missing_is_rejected_with_where_it_was_looked_for():
    with pytest.raises(ModelError, match=r"nobody\.csv: not found in "):
        ScriptedHand(HandSegment(("go",), recording="nobody.csv"))


@pytest.mark.parametrize("values", [{}, {"waves": (Wave(0, 0.1, 1.0),), "recording": "hand.csv"}])
def test_a_hand_has_waves_or_a_recording(values):
    with pytest.raises(InvalidValueError, match=r"hand\.recording.*a recording, or waves, not both"):
        HandSegment(("go",), **values)
