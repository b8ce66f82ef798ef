import dataclasses

import numpy as np
import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.parameters import FIELDS, GcmsfParameters, markdown_table, parameters_from


def test_the_default_set_is_valid_and_does_nothing():
    parameters = GcmsfParameters()
    assert not any(parameters.force.sel_vect_fc)
    assert not any(parameters.dither.dither_mag)
    assert parameters.trajectory.tr_tn_dest == ()
    assert parameters_from(parameters.flat()) == parameters


def test_arrays_lists_zeros_and_ones_are_taken_for_what_they_mean():
    parameters = parameters_from({"force_gains": np.full(6, 1e-3), "sel_vect_fc": [0, 0, 1, 0, 0, 0]})
    assert parameters.force.force_gains == (1e-3,) * 6
    assert parameters.force.sel_vect_fc == (False, False, True, False, False, False)


def test_quaternions_are_normalised():
    parameters = parameters_from({"tr_nom": [0, 0, 0.1, 0, 0, 0, 1.0005]})
    assert np.linalg.norm(parameters.trajectory.tr_nom[3:]) == pytest.approx(1.0, abs=1e-12)


BAD = [
    ({"tr_base": [0, 0, 0, 0, 0, 0, 2]}, "tr_base.orientation"),
    ({"tr_nom": [0, 0, np.nan, 0, 0, 0, 1]}, r"tr_nom\[2\]"),
    ({"tr_force": [0, 0, 0]}, r"tr_force \(length\)"),
    ({"tr_sense": "world"}, "tr_sense"),
    ({"tr_tn_dest": [0, 0, 0, 0, 0, 0, 0]}, "tr_tn_dest.orientation"),
    ({"mass_prop": [-1, 0, 0, 0]}, r"mass_prop\[0\]"),
    ({"period": 0}, "period"),
    ({"period": float("inf")}, "period"),
    ({"time_vel_sel": "speed"}, "time_vel_sel"),
    ({"time_vel_val": -1}, "time_vel_val"),
    ({"acc_time": -0.1}, "acc_time"),
    ({"time_vel_sel": "time", "time_vel_val": 1.0, "acc_time": 0.6}, "acc_time"),
    ({"joint_dest": [0.0] * 6, "tr_tn_dest": [0, 0, 0, 0, 0, 0, 1]}, "joint_dest"),
    ({"max_sf_vel": [0.1]}, r"max_sf_vel \(length\)"),
    ({"max_sf_vel": [-0.1, 0.1]}, r"max_sf_vel\[0\]"),
    ({"trans_threshold": np.nan}, "trans_threshold"),
    ({"ang_threshold": 4.0}, "ang_threshold"),
    ({"select": 256}, "select"),
    ({"select": -1}, "select"),
    ({"select": 1.0}, "select"),
    ({"select": 1, "end_time": 0.1}, "end_time"),
    ({"select": 16, "end_time": 5.0}, "select"),
    ({"select": 128, "end_time": 5.0, "sel_vect_fc": [1, 0, 0, 0, 0, 0]}, "select"),
    ({"test_time": 0.0}, "test_time"),
    ({"end_time": -1.0}, "end_time"),
    ({"sel_vect_fc": [1] * 5}, r"sel_vect_fc \(length\)"),
    ({"sel_vect_fc": [2, 0, 0, 0, 0, 0]}, r"sel_vect_fc\[0\]"),
    ({"sel_vect_fc": [1, 0, 0, 0, 0, 0], "comply_vect": [1, 0, 0, 0, 0, 0]}, r"comply_vect\[0\]"),
    ({"force_setpoints": [0, 0, 5, 0, 0, 0]}, r"force_setpoints\[2\]"),
    ({"dead_zone": [-1] * 6}, r"dead_zone\[0\]"),
    ({"force_gains": [np.nan] * 6}, r"force_gains\[0\]"),
    ({"force_gains": [-1e-3] * 6}, r"force_gains\[0\]"),
    ({"max_force_vel": [0.1, 0.1]}, r"max_force_vel \(length\)"),
    ({"min_force_thres": 10, "max_force_thres": 5}, "min_force_thres"),
    ({"min_torque_thres": 10, "max_torque_thres": 5}, "min_torque_thres"),
    ({"dither_wave": "saw"}, "dither_wave"),
    ({"dither_period": [0.0] * 6}, r"dither_period\[0\]"),
    ({"dither_mag": [0.2] * 6}, r"dither_mag\[0\]"),
    ({"spring_gains": [1] * 6}, r"spring_gains \(length\)"),
    ({"max_spring_vel": [0, 0, 0, -1]}, r"max_spring_vel\[3\]"),
    ({"tele_mode": "joint"}, "tele_mode"),
    ({"tele_gains": [100] * 6}, r"tele_gains\[0\]"),
    ({"sel_vect_sing": 1.5}, "sel_vect_sing"),
    ({"js_theta": [0.1, -1]}, r"js_theta\[1\]"),
    ({"stiffness": 5}, "stiffness"),
]


@pytest.mark.parametrize(("values", "names"), BAD, ids=[next(iter(v)) + f"-{i}" for i, (v, _) in enumerate(BAD)])
@pytest.mark.lengthy
def test_a_set_that_makes_no_sense_is_refused_as_a_whole_and_the_field_is_named(values, names):
    before = GcmsfParameters()
    with pytest.raises(InvalidValueError, match=names):
        before.changed({"trans_threshold": 0.1, **values})
    assert before == GcmsfParameters()


def test_a_set_for_another_arm_is_refused():
    with pytest.raises(InvalidValueError, match="joint_dest"):
        parameters_from({"joint_dest": [0.0] * 7}).check_robot(6)
    with pytest.raises(InvalidValueError, match="sel_vect_lim"):
        parameters_from({"sel_vect_lim": [1] * 5}).check_robot(6)


def test_values_cannot_be_changed_in_place():
    with pytest.raises(dataclasses.FrozenInstanceError):
        GcmsfParameters().force.max_force_thres = 1e9


def test_every_field_has_a_unit_or_is_a_choice_and_says_what_it_is():
    for row in FIELDS.values():
        assert row.doc
        assert row.unit or isinstance(row.default, (str, bool, int, tuple)), row.name


def test_the_sensor_is_needed_only_by_what_feels():
    quiet = {"max_force_thres": 0, "max_torque_thres": 0}
    assert not parameters_from(quiet).feels
    assert parameters_from({**quiet, "comply_vect": [1, 0, 0, 0, 0, 0]}).feels
    assert parameters_from({**quiet, "min_force_thres": 1}).feels


def test_the_table_for_the_docs_has_a_line_for_every_field():
    lines = markdown_table().splitlines()
    assert len(lines) == 2 + len(FIELDS)
    assert all(line.count("|") == 7 for line in lines)
