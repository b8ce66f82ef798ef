"""The rows of the law's arrays carry the parameters of their names."""

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.law.law_records import (
    FIELD_SHARE,
    GUARD_COLUMNS,
    Law,
    LawFrame,
    LawJoint,
    LawSix,
    LawValue,
    TeleMode,
    Wave,
    law_of,
    sensor_in_tool,
)
from telerobot_nodes.motion.parameters import FIELDS, parameters_from

PERIOD = 0.004
PARAMETERS = [row for row in LawSix if row not in (LawSix.COM, LawSix.GRAVITY)]


def a_pose(seed):
    return (
        pin.SE3.Random() if seed is None else pin.SE3(pin.exp3(0.1 * np.arange(seed, seed + 3)), np.arange(3.0) + seed)
    )


@pytest.mark.parametrize("frame", [frame for frame in LawFrame if frame is not LawFrame.SENSOR], ids=lambda f: f.name)
def test_each_frame_comes_from_its_parameter(arm, frame):
    T = a_pose(frame + 1)
    law = law_of(parameters_from({f"tr_{frame.name.lower()}": pose_from_se3(T)}), arm, PERIOD)
    np.testing.assert_allclose(law.R[frame], T.rotation, atol=1e-12)
    np.testing.assert_allclose(law.p[frame], T.translation, atol=1e-12)


def test_the_sensor_frame_comes_from_the_robot(arm):
    law = law_of(parameters_from({}), arm, PERIOD)
    np.testing.assert_allclose(law.p[LawFrame.SENSOR], sensor_in_tool(arm).translation)


@pytest.mark.parametrize("row", PARAMETERS, ids=lambda row: row.name)
def test_each_vector_row_is_the_parameter_of_its_name(arm, row):
    name = row.name.lower()
    default = FIELDS[name].default
    values = {name: [1] * 6} if isinstance(default[0], bool) else {name: [0.5 * x + 0.01 for x in default]}
    if name == "force_setpoints":
        values["sel_vect_fc"] = [1] * 6
    law = law_of(parameters_from(values), arm, PERIOD)
    np.testing.assert_allclose(law.six[row, : len(default)], values[name])


def test_scalars_are_parameters_or_derived_from_them(arm):
    values = {"dither_wave": "square", "tele_mode": "camera", "filter_time": 0.012, "max_force_thres": 7.0}
    law = law_of(parameters_from({**values, "mass_prop": [1.5, 0.1, 0.2, 0.3]}), arm, PERIOD)
    assert law.value[LawValue.SAMPLE_PERIOD] == PERIOD
    assert law.value[LawValue.FILTER] == pytest.approx(PERIOD / 0.016)
    assert law.value[LawValue.MAX_FORCE_THRES] == 7.0
    assert law.value[LawValue.DITHER_WAVE] == Wave.SQUARE
    assert law.value[LawValue.TELE_MODE] == TeleMode.CAMERA
    assert law.value[LawValue.MASS] == 1.5
    np.testing.assert_allclose(law.six[LawSix.COM, :3], [0.1, 0.2, 0.3])
    np.testing.assert_allclose(law.six[LawSix.GRAVITY, :3], [0.0, 0.0, -9.81])


def test_joint_rows_are_the_robots_limits(robot):
    law = law_of(parameters_from({"sel_vect_lim": [1] * robot.dof}), robot, PERIOD)
    np.testing.assert_allclose(law.joint[LawJoint.LOWER], robot.limits.lower)
    np.testing.assert_allclose(law.joint[LawJoint.UPPER], robot.limits.upper)
    np.testing.assert_allclose(law.joint[LawJoint.FIELD_SPEED], FIELD_SHARE * robot.limits.velocity)
    assert law.joint[LawJoint.SEL_VECT_LIM].all()


def test_every_array_has_one_row_for_each_name(arm):
    law = law_of(parameters_from({}), arm, PERIOD)
    rows = (LawFrame, LawFrame, LawSix, LawValue, LawJoint)
    assert [len(array) for array in law[:-1]] == [len(kind) for kind in rows]
    assert len(rows) == len(Law._fields) - 1
    assert law.guard.shape == (0, GUARD_COLUMNS)  # its rows are planes and points, as many as there are


def test_a_set_for_another_arm_is_rejected(arm):
    with pytest.raises(InvalidValueError, match="joint_dest"):
        law_of(parameters_from({"joint_dest": [0.0] * (arm.dof + 1)}), arm, PERIOD)
