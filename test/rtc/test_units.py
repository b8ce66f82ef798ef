"""Units: factors to SI, and the units of a dimension."""

import math

import pytest

from telerobot_nodes.rtc.language import UNITS, Quantity
from telerobot_nodes.rtc.language.units import units_of


@pytest.mark.parametrize(
    ("number", "unit", "si"),
    [
        (5, "cm", 0.05),
        (180, "deg", math.pi),
        (2, "min", 120),
        (250, "g", 0.25),
        (3, "%", 0.03),
        (7, "", 7),
        (4, "ms", 0.004),
    ],
)
def test_a_quantity_means_its_value_in_si(number, unit, si):
    assert Quantity(number, unit).si == pytest.approx(si)


def test_the_units_of_a_dimension_are_listed_and_no_unit_measures_nothing():
    assert units_of("length") == ("m", "cm", "mm")
    assert units_of("torque") == ("Nm",)
    assert units_of("") == ()
    assert Quantity(1.0).dimension == ""


def test_every_unit_can_be_typed():
    from telerobot_nodes.rtc.language.parser import parse_one

    for unit in filter(None, UNITS):
        assert parse_one(f"hold left_arm for 2 {unit}").amount == Quantity(2.0, unit)
