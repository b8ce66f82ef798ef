"""The share of a motion in which a force was kept."""

import pytest

from telerobot_nodes.motion.law import StateSix
from telerobot_nodes.motion.law import law_records as lr
from telerobot_nodes.motion.parameters import parameters_from
from telerobot_nodes.motion.primitives.kept_force import KeptForce


def share(setpoints, errors):
    """Of samples with these force errors (n, 6) [N], [N m]."""
    values = {"sel_vect_fc": [1, 1, 1, 1, 1, 1], "force_setpoints": setpoints}
    readings = {}
    kept, state = KeptForce(parameters_from(values), readings), lr.new_state(6)
    for error in errors:
        state.six[StateSix.FORCE_ERROR] = error
        kept.watch(state)
    return readings["force_kept"]


def test_samples_within_half_of_the_setpoint_count():
    errors = [(0, 0, e, 0, 0, 0) for e in (5.0, 2.6, 2.4, -2.4)]
    assert share([0, 0, 5.0, 0, 0, 0], errors) == pytest.approx(0.5)


def test_a_force_in_the_other_direction_is_kept_too():
    assert share([0, 0, -5.0, 0, 0, 0], [(0, 0, -5.0, 0, 0, 0), (0, 0, 1.0, 0, 0, 0)]) == pytest.approx(0.5)


def test_all_forces_and_torques_have_to_be_kept():
    assert share([0, 0, 5.0, 0, 1.0, 0], [(0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0.6, 0)]) == pytest.approx(0.5)


def test_where_none_is_to_be_kept_all_are():
    assert share([0.0] * 6, [(9.0,) * 6]) == share([0.0] * 6, []) == 1.0
