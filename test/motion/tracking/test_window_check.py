import dataclasses

import numpy as np
import pytest

from telerobot_nodes.core.protocol import GRIPPER_UNCHANGED, MotionWindow
from telerobot_nodes.core.robot import JointLimits
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.tracking.window_check import LIMIT_SLACK, MAX_SAMPLES, check_window

DOF, PERIOD = 3, 0.1
LIMITS = JointLimits(np.full(DOF, -1.0), np.full(DOF, 1.0), np.full(DOF, 2.0), np.full(DOF, 10.0), np.full(DOF, 1.0))


def at_rest(count=4, **changes):
    rows = {name: np.zeros((count, DOF)) for name in ("position", "velocity", "acceleration")}
    window = MotionWindow(1, 0.0, 0.0, PERIOD, **rows, plan_time=np.arange(count) * PERIOD, gripper=np.zeros(0))
    return dataclasses.replace(window, **changes)


def with_value(name, row, joint, value):
    window = at_rest()
    array = getattr(window, name).copy()
    array[row, joint] = value
    return dataclasses.replace(window, **{name: array})


def test_a_window_at_rest_is_accepted_with_and_without_limits():
    check_window(at_rest(), DOF)
    check_window(at_rest(), DOF, LIMITS)
    check_window(at_rest(count=1), DOF, LIMITS)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"number": 0}, "number"),
        ({"period": 0.0}, "period"),
        ({"period": np.nan}, "period"),
        ({"start": np.inf}, "start"),
        ({"splice": -0.1}, "splice"),
        ({"position": np.zeros((4, DOF + 1))}, r"position \(shape\)"),
        ({"position": np.zeros((0, DOF))}, r"position \(shape\)"),
        ({"position": np.zeros((MAX_SAMPLES + 1, DOF))}, r"position \(shape\)"),
        ({"velocity": np.zeros((3, DOF))}, r"velocity \(shape\)"),
        ({"plan_time": np.zeros(5)}, r"plan_time \(shape\)"),
        ({"gripper": np.zeros(2)}, r"gripper \(length\)"),
        ({"gripper": np.full(4, -0.5)}, "gripper"),
        ({"gripper": np.full(4, 9.0)}, "gripper"),
        ({"gripper": np.full(4, np.nan)}, r"gripper\[0\]"),
    ],
)
def test_invalid_fields_are_rejected_by_name(change, field):
    with pytest.raises(InvalidValueError, match=rf"window\.{field}"):
        check_window(at_rest(**change), DOF)


def test_an_unchanged_gripper_is_allowed():
    check_window(at_rest(gripper=np.full(4, GRIPPER_UNCHANGED)), DOF)


@pytest.mark.parametrize("name", ["position", "velocity", "acceleration"])
def test_a_value_that_is_not_finite_is_rejected_with_its_place(name):
    with pytest.raises(InvalidValueError, match=rf"window\.{name}\[2\]\[1\]"):
        check_window(with_value(name, 2, 1, np.nan), DOF)


@pytest.mark.parametrize("name", ["velocity", "acceleration"])
def test_a_window_must_end_at_rest(name):
    with pytest.raises(InvalidValueError, match="ends at rest"):
        check_window(with_value(name, 3, 0, 0.1), DOF)


@pytest.mark.parametrize(
    ("name", "limit", "label"),
    [("position", 1.0, "position"), ("velocity", 2.0, "velocity"), ("acceleration", 10.0, "acceleration")],
)
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_sample_beyond_a_limit_is_rejected_with_sample_and_joint(name, limit, label, sign):
    with pytest.raises(InvalidValueError, match=rf"window\.{label}\[1\]\[2\]"):
        check_window(with_value(name, 1, 2, sign * (LIMIT_SLACK * limit + 1e-3)), DOF, LIMITS)


def test_speed_and_acceleration_between_samples_are_checked_as_well():
    jump = np.zeros((4, DOF))
    jump[2:, 1] = 0.25  # 2.5 rad/s between two samples at rest
    with pytest.raises(InvalidValueError, match=r"mean speed to this sample\)\[2\]\[1\]"):
        check_window(at_rest(position=jump), DOF, LIMITS)
    faster = np.zeros((4, DOF))
    faster[1, 0] = 1.5  # 15 rad/s^2
    with pytest.raises(InvalidValueError, match=r"mean acceleration to this sample\)\[1\]\[0\]"):
        check_window(at_rest(velocity=faster), DOF, LIMITS)
