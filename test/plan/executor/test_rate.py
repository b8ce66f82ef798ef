"""The look-ahead speed plan: the averaged motion keeps every cell's limits, and always ends at rest inside the path."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.plan.executor.path import RateLimits
from telerobot_nodes.plan.executor.profile import FILTER, Profile, rate_ceiling, stop_distance

CELL = 0.01
SLACK = 1e-6


def stretch_of(rate, change=None, open_end=False):
    rate = np.asarray(rate, float)
    change = np.full(rate.size, 5.0) if change is None else np.asarray(change, float)
    return RateLimits(CELL * np.arange(rate.size + 1), rate, change, open_end)


def run(stretch, goal=1.0, nominal=100.0, start=0.0):
    return Profile.rest(0.0, start).continued(0.0, stretch, goal, nominal, -1.0)


def sampled(profile):
    return profile.sample(np.arange(0.0, profile.end + 0.02, 0.001))


def test_a_free_path_is_run_at_the_goal_and_ends_at_rest_at_its_end():
    profile = run(stretch_of(np.full(400, 8.0)))
    tau, rate, _ = sampled(profile)
    assert rate.max() == pytest.approx(1.0)
    assert tau[-1] == pytest.approx(4.0)
    assert rate[-1] == 0.0


def test_after_the_nominal_stretch_the_motion_brakes_to_rest():
    profile = run(stretch_of(np.full(400, 8.0)), nominal=0.25)
    assert profile.end_tau < 0.5
    assert sampled(profile)[1, -1] == 0.0


def test_an_open_end_is_not_reached():
    profile = run(stretch_of(np.full(100, 8.0), open_end=True))
    assert profile.end_tau <= 1.0 - CELL + SLACK


def test_the_rate_and_its_change_are_continuous():
    _, rate, change = sampled(run(stretch_of(np.full(300, 2.0)), goal=3.0))
    assert np.abs(np.diff(rate)).max() <= 5.0 * 0.001 + SLACK
    assert np.abs(np.diff(change)).max() <= 2.0 * 5.0 / FILTER * 0.001 + SLACK


def test_a_lower_goal_is_reached_by_slowing_down_inside_the_limits():
    stretch = stretch_of(np.full(1000, 8.0))
    fast = run(stretch, goal=5.0, nominal=1.0)
    slower = fast.continued(0.9, stretch, 0.5, 1.0, 0.0)
    _, rate, change = slower.sample(np.arange(0.9, 2.2, 0.001))
    assert rate[0] > 3.0
    assert rate[-300] == pytest.approx(0.5, abs=0.01)
    assert np.abs(change).max() <= 5.0 + SLACK


def test_rest_that_cannot_be_reached_is_said_and_the_motion_held_stays():
    fast = run(stretch_of(np.full(1000, 8.0)), goal=5.0, nominal=1.0)
    short = stretch_of(np.full(int(fast.raw(0.9)[0] / CELL) + 3, 8.0))
    assert fast.continued(0.9, short, 1.0, 1.0, 0.0) is None


def test_the_stop_distance_grows_with_the_rate_and_ends_inside_the_path():
    stretch = stretch_of(np.full(200, 8.0))
    near, far = stop_distance(stretch, 0.2, 0.5), stop_distance(stretch, 0.2, 1.5)
    assert 0.0 < near < far < 1.8
    assert near == pytest.approx(0.5**2 / (2 * 5.0), rel=0.05)


def test_before_the_splice_motion_is_unchanged():
    stretch = stretch_of(np.full(400, 8.0))
    first = run(stretch, nominal=0.3)
    second = first.continued(0.2, stretch, 1.0, 0.3, -1.0)
    at = np.arange(0.0, 0.2, 0.001)
    np.testing.assert_array_equal(first.sample(at), second.sample(at))


def test_the_ceiling_is_zero_at_the_end_and_falls_no_faster_than_allowed():
    ceiling = rate_ceiling(stretch_of(np.full(100, 8.0)))
    assert ceiling[-1] == 0.0
    assert np.diff(ceiling**2).min() >= -2.0 * 5.0 * CELL - SLACK


LIMIT = st.floats(0.05, 10.0)


@settings(max_examples=60, deadline=None)
@given(
    blocks=st.lists(st.tuples(LIMIT, st.floats(0.5, 100.0), st.integers(1, 30)), min_size=2, max_size=12),
    goal=st.floats(0.1, 10.0),
    open_end=st.booleans(),
)
def test_the_averaged_motion_keeps_the_limits_of_the_place_it_is_at(blocks, goal, open_end):
    rate = np.concatenate([np.full(n, r) for r, _, n in blocks])
    change = np.concatenate([np.full(n, c) for _, c, n in blocks])
    stretch = stretch_of(rate, change, open_end)
    profile = run(stretch, goal=goal)
    tau, r, c = sampled(profile)
    cell = np.clip((tau / CELL + 1e-6).astype(int), 0, rate.size - 1)
    other = np.clip((tau / CELL - 1e-6).astype(int), 0, rate.size - 1)
    assert np.all(r <= np.maximum(rate[cell], rate[other]) * (1 + SLACK) + SLACK)
    assert np.all(np.abs(c) <= np.maximum(change[cell], change[other]) * (1 + SLACK) + SLACK)
    assert r[-1] == 0.0
    assert tau[-1] <= stretch.edge[-1] + SLACK


@pytest.mark.parametrize("span", [0.002, 0.01])
def test_a_last_cell_that_takes_longer_than_the_nominal_stretch_is_run_to_its_end(span):
    """Planned anew every 0.03 s, as in a tick; the motion rises again before it falls to rest at the cell's end."""
    limits = RateLimits(np.array([0.0, span]), np.array([0.007]), np.array([0.0075]), False)
    profile, now = Profile.rest(0.0, 0.0), 0.0
    while profile.raw(now)[0] < span and now < 20.0:
        now += 0.03
        profile = profile.continued(now, limits, 1.0, 0.25, -1.0) or profile
    assert profile.raw(now)[0] == pytest.approx(span)
    assert now < 3.0 + span / 0.0025
    times = np.linspace(0.0, profile.end, 4000)
    _, rate, change = profile.sample(times)
    assert rate.max() <= 0.007
    assert np.abs(change).max() <= 0.0075 * (1.0 + 1e-6)
