"""One planned motion along the path."""

import numpy as np
import pytest

from telerobot_nodes.plan.executor.profile import Profile

WIDTH = 0.08


@pytest.fixture
def moving():
    """Rate 1 from 10 s to 11 s, then to rest within 0.5 s."""
    return Profile(np.array([10.0, 11.0, 11.5]), np.array([2.0, 3.0, 3.25]), np.array([1.0, 1.0, 0.0]), WIDTH)


def test_rest_stays_where_it_is():
    rest = Profile.rest(5.0, 2.0)
    assert rest.raw(0.0) == rest.raw(9.0) == (2.0, 0.0)
    assert (rest.end, rest.end_tau, rest.rested_since(9.0)) == (5.0, 2.0, np.inf)


def test_the_raw_motion_is_integrated_exactly(moving):
    assert moving.raw(10.5) == pytest.approx((2.5, 1.0))
    assert moving.raw(11.25) == pytest.approx((3.0 + 0.1875, 0.5))
    assert moving.raw(12.0) == (3.25, 0.0)


def test_the_average_ends_its_width_later(moving):
    assert moving.end == pytest.approx(11.5 + WIDTH)
    tau, rate, change = moving.sample(np.array([moving.end]))[:, 0]
    assert (tau, rate, change) == pytest.approx((3.25, 0.0, 0.0), abs=1e-9)


def test_the_average_is_the_mean_of_the_raw_motion(moving):
    at = 11.2
    raw = [moving.raw(t)[1] for t in np.linspace(at - WIDTH, at, 2001)]
    assert moving.sample(np.array([at]))[1, 0] == pytest.approx(np.mean(raw), abs=1e-4)


def test_the_rate_is_the_derivative_of_plan_time(moving):
    at = np.linspace(10.2, 11.7, 3001)
    tau, rate, _ = moving.sample(at)
    assert np.gradient(tau, at)[1:-1] == pytest.approx(rate[1:-1], abs=1e-3)


def test_time_at_rest_is_negative_while_it_moves(moving):
    assert moving.rested_since(11.0) == pytest.approx(-0.5)
    assert moving.rested_since(12.0) == pytest.approx(0.5)


def test_what_the_rates_reach_within_the_average_is_committed(moving):
    assert moving.committed(10.5) == pytest.approx(3.25)
    fast = Profile(np.array([0.0, 1.0, 1.01]), np.array([0.0, 10.0, 10.05]), np.array([10.0, 10.0, 0.0]), WIDTH)
    assert fast.committed(0.5) == pytest.approx(10.0 + 10.0 * WIDTH)
