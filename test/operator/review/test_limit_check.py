"""Setpoints against the limits of a robot with two joints."""

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.review.limit_check import check_limits, differences
from telerobot_nodes.operator.review.run_record import Rows

LIMITS = load_robot("arm").limits
DOF = LIMITS.velocity.size
COLUMNS = ("monotonic", "number", "position", "velocity", "acceleration")


def rows(n=5, **at_two):
    """Samples at rest in the middle; `at_two` replaces values of sample 2."""
    table = Rows(COLUMNS)
    middle = 0.5 * (LIMITS.lower + LIMITS.upper)
    for k in range(n):
        values = {"position": middle, "velocity": np.zeros(DOF), "acceleration": np.zeros(DOF)}
        values |= at_two if k == 2 else {}
        table.add(0.01 * k, k, *(values[name] for name in COLUMNS[2:]))
    return table


def one(value, others=0.0):
    return np.array([value, *[others] * (DOF - 1)])


def test_an_arm_at_rest_violates_nothing():
    found = check_limits(rows(), LIMITS, "test")
    assert (found.samples, found.pairs, found.violations) == (5, 4, 0)
    assert (found.velocity_use, found.acceleration_use) == (0.0, 0.0)


def test_no_samples_are_no_violation():
    assert check_limits(Rows(COLUMNS), LIMITS, "test").violations == 0


def test_a_position_beyond_a_limit_is_counted_once_per_joint():
    assert check_limits(rows(position=LIMITS.upper + 0.01), LIMITS, "test").position == DOF


def test_a_velocity_above_its_limit_is_counted_with_its_use():
    found = check_limits(rows(velocity=one(1.5 * LIMITS.velocity[0])), LIMITS, "test")
    assert found.velocity == 1
    assert found.velocity_use == pytest.approx(1.5)
    assert found.difference == 2  # up to it and down again


def test_an_acceleration_above_its_limit_is_counted():
    found = check_limits(rows(acceleration=one(-2.0 * LIMITS.acceleration[0])), LIMITS, "test")
    assert (found.acceleration, found.difference) == (1, 0)
    assert found.acceleration_use == pytest.approx(2.0)


def test_a_value_that_is_not_a_number_is_a_violation():
    assert check_limits(rows(position=one(np.nan, 0.0)), LIMITS, "test").position >= 1


def test_a_bag_of_another_robot_is_rejected_with_the_lengths():
    with pytest.raises(InvalidValueError, match=r"test.position \(length\)"):
        check_limits(rows(position=np.zeros(DOF + 1)), LIMITS, "test")


def test_differences_across_a_restart_are_left_out():
    velocity = np.array([[0.0], [0.1], [9.0], [9.1]])
    found = differences(np.array([0.0, 0.1, 5.0, 5.1]), np.array([1, 2, 1, 2]), velocity)
    assert found.ravel() == pytest.approx([1.0, 1.0])


def test_a_step_that_woke_late_and_the_next_count_their_period():
    velocity = np.array([[0.0], [0.1], [0.2], [0.3]])
    found = differences(np.array([0.0, 0.15, 0.2, 0.3]), np.arange(4), velocity)
    assert found.max() <= 1.0 + 1e-9
