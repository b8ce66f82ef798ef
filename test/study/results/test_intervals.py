"""Bootstrap intervals: as known formulas give them, narrow where seeds agree, wide where they do not."""

import numpy as np
import pytest

from telerobot_nodes.study.results import mean_interval, ratio_interval


def test_the_interval_of_a_mean_is_that_of_the_normal_distribution():
    values = np.random.default_rng(3).normal(20.0, 2.0, 400)
    mean, low, high = mean_interval(values)
    half = 1.96 * values.std() / np.sqrt(values.size)
    assert mean == pytest.approx(values.mean())
    assert (low, high) == pytest.approx((mean - half, mean + half), abs=0.05 * half + 0.01)


@pytest.mark.lengthy
def test_of_ten_studies_nine_or_so_hold_the_truth():
    random = np.random.default_rng(5)
    held = [low <= 10.0 <= high for _, low, high in (mean_interval(random.normal(10.0, 1.0, 20)) for _ in range(200))]
    assert 0.88 <= np.mean(held) <= 0.98


def test_equal_seeds_are_compared_with_each_other():
    base = np.random.default_rng(7).uniform(10.0, 40.0, 20)
    ratio, low, high = ratio_interval(1.2 * base, base)
    assert (ratio, low, high) == pytest.approx((1.2, 1.2, 1.2))


def test_the_ratio_is_that_of_the_means():
    ratio, low, high = ratio_interval([10.0, 30.0], [10.0, 10.0])
    assert ratio == 2.0
    assert low <= 1.0 < 3.0 <= high


def test_what_never_ended_is_not_hidden():
    assert mean_interval([10.0, float("inf")]).estimate == float("inf")
