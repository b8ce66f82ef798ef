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
