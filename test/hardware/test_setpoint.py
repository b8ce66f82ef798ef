import dataclasses

import numpy as np
import pytest

from telerobot_nodes.core.protocol import ENGAGE_DISTANCE
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware.setpoint import (
    CLOCK_SLACK,
    MAX_GRIP_FORCE,
    MAX_OPENING,
    POSITION_SLACK,
    check_engagement,
    check_setpoint,
)

NOW, TIMEOUT = 100.0, 0.1
ARM = load_robot("arm")


@pytest.fixture
def good(setpoint):
    return setpoint(ARM, NOW)


def check(setpoint, now=NOW):
    return check_setpoint(setpoint, ARM.limits, now, TIMEOUT)


def test_a_good_setpoint_passes_unchanged(good):
    checked = check(good)
    for entry in dataclasses.fields(good):
        assert np.array_equal(getattr(checked, entry.name), getattr(good, entry.name))


@pytest.mark.parametrize("field", ["position", "velocity", "acceleration"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_rejected_by_field(good, field, bad):
    values = getattr(good, field).copy()
    values[2] = bad
    with pytest.raises(InvalidValueError, match=rf"setpoint\.{field}"):
        check(dataclasses.replace(good, **{field: values}))


@pytest.mark.parametrize("field", ["position", "velocity", "acceleration"])
def test_a_wrong_length_is_rejected(good, field):
    with pytest.raises(InvalidValueError, match=rf"setpoint\.{field}"):
        check(dataclasses.replace(good, **{field: np.zeros(ARM.dof - 1)}))


def test_old_and_future_setpoints_are_rejected_and_a_little_future_is_not(good):
    check(good, NOW + TIMEOUT - 1e-6)
    check(good, NOW - CLOCK_SLACK + 1e-6)
    for now in (NOW + 1.01 * TIMEOUT, NOW - 1.01 * CLOCK_SLACK):
        with pytest.raises(InvalidValueError, match="age"):
            check(good, now)


def test_rounding_at_a_position_limit_is_clipped_and_more_is_rejected(good):
    at_limit = dataclasses.replace(good, position=ARM.limits.upper + 0.5 * POSITION_SLACK)
    assert np.array_equal(check(at_limit).position, ARM.limits.upper)
    with pytest.raises(InvalidValueError, match=r"setpoint\.position"):
        check(dataclasses.replace(good, position=ARM.limits.upper + 2.0 * POSITION_SLACK))


def test_velocity_and_acceleration_are_clipped_to_the_limits_after_a_tolerance_for_velocity(good):
    fast = dataclasses.replace(good, velocity=1.005 * ARM.limits.velocity, acceleration=-9.0 * ARM.limits.acceleration)
    checked = check(fast)
    assert np.array_equal(checked.velocity, ARM.limits.velocity)
    assert np.array_equal(checked.acceleration, -ARM.limits.acceleration)
    with pytest.raises(InvalidValueError, match=r"setpoint\.velocity"):
        check(dataclasses.replace(good, velocity=1.02 * ARM.limits.velocity))


@pytest.mark.parametrize("force", [-1.0, np.nan, 1.1 * MAX_GRIP_FORCE])
def test_a_force_that_no_gripper_has_is_rejected(good, force):
    with pytest.raises(InvalidValueError, match=r"setpoint\.gripper_force"):
        check(dataclasses.replace(good, gripper_force=force))


def test_an_opening_wider_than_any_gripper_is_rejected(good):
    with pytest.raises(InvalidValueError, match=r"setpoint\.gripper"):
        check(dataclasses.replace(good, gripper=1.1 * MAX_OPENING))


def test_a_hold_ends_only_near_where_the_arm_is_held(good):
    held = np.array(good.position)
    held[1] -= 0.99 * ENGAGE_DISTANCE
    check_engagement(good, held)
    held[1] -= 0.02 * ENGAGE_DISTANCE
    with pytest.raises(InvalidValueError, match=r"position\[1\]"):
        check_engagement(good, held)
