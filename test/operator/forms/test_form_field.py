"""A field of a form: what is typed is read as it was meant, or refused with field, value and what is allowed."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.forms import Filled, Form, FormField, MenuItem, Sort

SPEED = FormField("speed", Sort.NUMBER, 0.05, "m/s", 1e-4, 0.25)
WAY = FormField("way", Sort.NUMBERS, (0.0, 0.1), "m", -1.0, 1.0, count=2)
AXES = FormField("axes", Sort.FLAGS, (True, False, True), count=3)
MODE = FormField("mode", Sort.CHOICE, "tool", choices=("tool", "world"))
BITS = FormField("bits", Sort.WHOLE, 0, "", 0, 255)
FELT = FormField("felt", Sort.FLAG, False)


@pytest.mark.parametrize(
    ("field", "typed", "value"),
    [
        (SPEED, " 0.1 ", 0.1),
        (SPEED, "1e-3", 1e-3),
        (SPEED, 0.25, 0.25),
        (WAY, "[0.5, -1]", (0.5, -1.0)),
        (WAY, "0.5 -1", (0.5, -1.0)),
        (WAY, (1, 1), (1.0, 1.0)),
        (AXES, "1 0 1", (True, False, True)),
        (AXES, "on, off, yes", (True, False, True)),
        (MODE, " world", "world"),
        (BITS, "48", 48),
        (FELT, "on", True),
        (FELT, False, False),
    ],
)
def test_what_is_typed_is_read(field, typed, value):
    read = field.read(typed)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("field", "typed", "allowed"),
    [
        (SPEED, "0.3", "allowed: 0.0001 .. 0.25 [m/s]"),
        (SPEED, "fast", "allowed: 0.0001 .. 0.25 [m/s]"),
        (SPEED, "", "allowed: 0.0001 .. 0.25 [m/s]"),
        (SPEED, "nan", "allowed: 0.0001"),
        (SPEED, "0_1", "allowed: 0.0001"),
        (SPEED, True, "allowed: 0.0001"),
        (WAY, "1", "allowed: 2 numbers, each -1 .. 1 [m]"),
        (WAY, "1 2", "allowed: 2 numbers, each -1 .. 1 [m]"),
        (WAY, "1 1 1", "allowed: 2 numbers, each -1 .. 1 [m]"),
        (AXES, "1 0 2", "allowed: 3 values, each 0 or 1"),
        (MODE, "camera", "allowed: tool, world"),
        (BITS, "1.5", "allowed: whole numbers 0 .. 255 [-]"),
        (BITS, "256", "allowed: whole numbers 0 .. 255 [-]"),
        (FELT, "perhaps", "allowed: on, off"),
        (FormField("x", Sort.NUMBER, 0.0, "m"), "inf", "allowed: numbers [m]"),
        (FormField("x", Sort.NUMBER, 0.0, "m", 0.0), "-1", "allowed: 0 or more [m]"),
    ],
)
def test_a_refusal_names_the_field_the_value_and_what_is_allowed(field, typed, allowed):
    with pytest.raises(InvalidValueError) as refused:
        field.read(typed)
    assert (refused.value.field, refused.value.value) == (field.name, typed)
    assert allowed in str(refused.value)


numbers = st.floats(-1.0, 1.0)


@given(st.lists(numbers, min_size=2, max_size=2))
def test_numbers_shown_are_the_numbers_read(values):
    assert WAY.read(WAY.text(tuple(values))) == tuple(values)


@given(st.one_of(st.floats(), st.text()))
def test_nothing_outside_the_bounds_is_ever_read(typed):
    try:
        value = SPEED.read(typed)
    except InvalidValueError:
        return
    assert isinstance(value, float)
    assert math.isfinite(value)
    assert SPEED.low <= value <= SPEED.high


@pytest.mark.parametrize("field", [SPEED, WAY, AXES, MODE, BITS, FELT])
def test_the_default_shown_is_read_as_the_default(field):
    assert field.read(field.text()) == field.default


def test_a_form_takes_defaults_for_what_is_not_typed_and_refuses_each_field_by_its_name():
    form = Form((SPEED, MODE))
    assert form.read({"speed": "0.1"}) == Filled({"speed": 0.1, "mode": "tool"}, {})
    bad = form.read({"speed": "9", "mode": "hand", "sped": "1"})
    assert set(bad.refusals) == {"speed", "mode", "sped"}
    assert "allowed fields: speed, mode" in bad.refusals["sped"]


def test_labels_are_for_people():
    assert SPEED.label == "speed [m/s]"
    assert FormField("stop_force", Sort.NUMBER, 1.0, "N").label == "stop force [N]"
    assert MODE.label == "mode"
    assert MenuItem("to_place").title == "to place"
