"""Windows sampled from a planned motion."""

import numpy as np
import pytest
from motion_rig import DOF, LIMITS

from telerobot_nodes.plan.executor.path import JointPath
from telerobot_nodes.plan.executor.profile import Profile
from telerobot_nodes.plan.executor.window_maker import WindowMaker

PERIOD = 0.02


@pytest.fixture
def path():
    found = JointPath(LIMITS)
    times = 0.02 * np.arange(1, 101)
    found.append(np.arange(1, 101), times, 0.1 * np.outer(np.sin(times), np.ones(DOF)))
    return found


@pytest.fixture
def profile(path):
    rest = Profile.rest(10.0, 0.0)
    return rest.continued(10.1, path.rate_limits(0.0, 0.0, 1.5), 1.0, 0.3, 0.0)


def made(path, profile, limits=LIMITS, now=10.05, number=7):
    return WindowMaker(limits, PERIOD, 0.06).make(number, now, 10.1, path, profile)


def test_samples_lie_on_multiples_of_the_period():
    maker = WindowMaker(LIMITS, PERIOD, 0.06)
    assert maker.next_sample(1.001) == pytest.approx(1.02)
    assert maker.next_sample(1.02) == pytest.approx(1.02)


def test_a_window_begins_before_now_and_ends_at_rest(path, profile):
    window = made(path, profile)
    end = window.start + window.period * (len(window.position) - 1)
    assert (window.number, window.splice) == (7, 10.1)
    assert window.start <= 10.05 - 0.06
    assert profile.end <= end <= profile.end + 2.0 * PERIOD
    assert not window.velocity[-1].any()
    assert not window.acceleration[-1].any()


def test_positions_are_on_the_path_at_their_plan_times(path, profile):
    window = made(path, profile)
    assert window.position == pytest.approx(path.evaluate(window.plan_time)[0])
    assert np.all(np.diff(window.plan_time) >= 0.0)


def test_velocities_are_derivatives_of_positions(path, profile):
    window = made(path, profile)
    steps = np.diff(window.position, axis=0) / PERIOD
    means = 0.5 * (window.velocity[1:] + window.velocity[:-1])
    assert steps == pytest.approx(means, abs=2e-3)


def test_accelerations_are_derivatives_of_velocities(path, profile):
    window = made(path, profile)
    steps = np.diff(window.velocity, axis=0) / PERIOD
    means = 0.5 * (window.acceleration[1:] + window.acceleration[:-1])
    off, size = np.abs(steps - means).mean(), np.abs(steps).mean()
    assert off < 0.25 * size, (off, size)  # the change of the rate has corners between samples


@pytest.mark.parametrize("name", ["velocity", "acceleration"])
def test_a_motion_beyond_a_joint_limit_makes_no_window(path, profile, name):
    from dataclasses import replace

    slow = replace(LIMITS, **{name: np.full(DOF, 1e-3)})
    assert made(path, profile, slow) is None


def test_successive_windows_share_their_samples(path, profile):
    first, second = made(path, profile), made(path, profile, now=10.09, number=8)
    shift = round((second.start - first.start) / PERIOD)
    assert shift > 0
    assert np.array_equal(first.position[shift:], second.position)
