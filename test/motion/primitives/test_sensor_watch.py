import numpy as np
import pytest

from telerobot_nodes.motion.law import Termination
from telerobot_nodes.motion.primitives.sensor_watch import SENSOR_TIMEOUT, SensorWatch


@pytest.fixture
def watch():
    watch = SensorWatch()
    watch.restart(10.0)
    return watch


def test_a_sensor_never_heard_of_is_stale():
    assert SensorWatch().check(0.0, 0.0) is Termination.STALE_SENSOR


def test_the_first_reading_may_take_the_timeout(watch):
    assert watch.check(10.0 + 0.99 * SENSOR_TIMEOUT, 0.0) is Termination.RUNNING
    assert watch.check(10.0 + 1.01 * SENSOR_TIMEOUT, 0.0) is Termination.STALE_SENSOR


def test_a_reading_is_copied_and_counts_from_its_time(watch):
    held = np.zeros(6)
    watch.receive(10.5, np.arange(6.0), held)
    assert held.tolist() == [0, 1, 2, 3, 4, 5]
    assert watch.check(10.55, 0.0) is Termination.RUNNING


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_reading_that_is_not_finite_is_invalid_until_a_restart_and_not_copied(watch, bad):
    held = np.zeros(6)
    watch.receive(10.1, np.full(6, bad), held)
    assert not held.any()
    watch.receive(10.11, np.ones(6), held)
    assert watch.check(10.12, 0.0) is Termination.INVALID_SENSOR
    watch.restart(11.0)
    assert watch.check(11.0, 0.0) is Termination.RUNNING


def test_a_constant_reading_is_frozen_only_if_asked_and_only_when_no_digit_changes(watch):
    held = np.ones(6)
    for k in range(50):
        watch.receive(10.0 + 0.01 * k, np.ones(6), held)
    assert watch.check(10.5, 0.0) is Termination.RUNNING
    assert watch.check(10.5, 0.4) is Termination.FROZEN_SENSOR
    watch.receive(10.5, np.nextafter(np.ones(6), 2.0), held)
    assert watch.check(10.5, 0.4) is Termination.RUNNING


def test_a_late_process_is_no_frozen_sensor(watch):
    held = np.zeros(6)
    watch.receive(10.01, np.ones(6), held)
    assert watch.check(10.08, 0.05) is Termination.RUNNING


def steps(watch, rows, begin=10.0, q=None):
    held = np.zeros(6)
    q = np.zeros((len(rows), 2)) if q is None else q
    for k, row in enumerate(rows):
        watch.receive(begin + 0.005 * (k + 1), np.array(row, dtype=float), held)
        watch.feel(held[:3], q[k])
    return watch.check(begin + 0.005 * len(rows), 0.05)


def test_a_channel_that_stays_at_its_largest_value_is_at_the_end_of_its_range(watch):
    noise = np.random.default_rng(1).normal(0.0, 0.05, (20, 6))
    pressed = noise + np.linspace(0.0, 8.0, 20)[:, None] * np.eye(6)[2]
    clipped = [[*row[:2], 8.5, *row[3:]] for row in noise]
    assert steps(watch, pressed) is Termination.RUNNING
    assert steps(watch, clipped, 10.1) is Termination.FROZEN_SENSOR


def test_a_channel_that_measures_nothing_is_not_at_the_end_of_its_range(watch):
    rows = np.random.default_rng(1).normal(0.0, 2.0, (40, 6))
    rows[:, 3:] = 0.0  # forces only
    assert steps(watch, rows) is Termination.RUNNING


@pytest.mark.parametrize(
    ("then", "reason"),
    [(0.0, Termination.RUNNING), (-1.5, Termination.RUNNING), (-3.0, Termination.INVALID_SENSOR)],
)
def test_a_steady_contact_can_end_but_not_pull(watch, then, reason):
    rows = np.random.default_rng(1).normal(0.0, 0.05, (60, 6)) + 10.0 * np.eye(6)[2]
    rows[-1, 2] = then
    assert steps(watch, rows) is reason


@pytest.mark.parametrize(
    ("pressed", "then"),
    [((3.4, 4.4, 0.5), (1.1, -8.2, -4.6)), ((4.2, 3.3, 0.8), (3.8, -8.6, -3.2))],  # [N] a crank, as it was turned
)
def test_what_is_gripped_may_be_thrown_to_another_side_of_the_fingers(watch, pressed, then):
    rows = np.random.default_rng(1).normal(0.0, 0.05, (60, 6))
    rows[:, :3] += pressed
    rows[-1, :3] = then
    assert steps(watch, rows) is Termination.RUNNING


def test_a_contact_that_swings_is_no_jump(watch):
    rows = np.random.default_rng(1).normal(0.0, 0.05, (200, 6))
    rows[:, 2] += 5.0 * np.sin(0.5 * np.arange(200))
    assert steps(watch, rows) is Termination.RUNNING


def pressed(*then):
    """60 readings of 10 N along z, then these [N]."""
    rows = np.random.default_rng(1).normal(0.0, 0.05, (60 + len(then), 6))
    rows[:60, 2] += 10.0
    rows[60:, 2] += then
    return rows


@pytest.mark.parametrize("to", [2.0, 5.0, 15.0, 40.0])
def test_a_force_that_steps_without_motion_and_stays_is_the_sensors(watch, to):
    assert steps(watch, pressed(to)) is Termination.RUNNING
    watch.restart(10.0)
    assert steps(watch, pressed(to, to)) is Termination.INVALID_SENSOR


@pytest.mark.parametrize("to", [7.0, 13.0])
def test_a_small_step_is_no_jump(watch, to):
    assert steps(watch, pressed(to, to, to)) is Termination.RUNNING


def test_a_force_that_swings_back_is_a_slip_or_a_knock(watch):
    assert steps(watch, pressed(2.0, 5.0, 9.0, 10.0)) is Termination.RUNNING


def test_a_step_may_be_as_large_as_the_tool_moved_into_a_stiff_surface(watch):
    rows, q = pressed(40.0, 40.0), np.zeros((62, 2))
    q[60:, 1] = 40e-6  # [rad]
    assert steps(watch, rows, q=q) is Termination.RUNNING
    watch.restart(10.0)
    q[60:, 1] = 20e-6
    assert steps(watch, rows, q=q) is Termination.INVALID_SENSOR


def test_readings_at_once_do_not_show_that_a_force_stays(watch):
    steps(watch, pressed())
    held = np.zeros(6)
    for k in range(4):
        watch.receive(10.305 + 0.001 * k, np.array([0, 0, 15.0 + 0.01 * k, 0, 0, 0]), held)
        watch.feel(held[:3], np.zeros(2))
    assert watch.check(10.309, 0.05) is Termination.RUNNING


def test_a_force_after_another_tare_is_no_jump(watch):
    steps(watch, pressed())
    watch.expect_another_force()
    assert steps(watch, pressed(0.0, 0.0)[60:], 10.3) is Termination.RUNNING
