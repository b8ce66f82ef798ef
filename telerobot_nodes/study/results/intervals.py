"""Means and ratios of means with 95 % intervals, by the bootstrap over seeds [EfronTibshirani1993]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

RESAMPLES = 10_000
COVERAGE = 0.95


class Interval(NamedTuple):
    """An estimate and its interval."""

    estimate: float
    low: float
    high: float


def mean_interval(values: Sequence[float]) -> Interval:
    """Mean of `values` (n,), one per seed."""
    return ratio_interval(values, np.ones(len(values)))


def ratio_interval(upper: Sequence[float] | np.ndarray, lower: Sequence[float] | np.ndarray) -> Interval:
    """Mean of `upper` (n,) to mean of `lower` (n,), drawn together: entry i of both belongs to seed i."""
    above, below = np.asarray(upper, dtype=np.float64), np.asarray(lower, dtype=np.float64)
    drawn = np.random.default_rng(1).integers(0, above.size, (RESAMPLES, above.size))
    ratios = above[drawn].mean(axis=1) / below[drawn].mean(axis=1)
    low, high = np.quantile(ratios, (0.5 - 0.5 * COVERAGE, 0.5 + 0.5 * COVERAGE), method="inverted_cdf")
    return Interval(float(above.mean() / below.mean()), float(low), float(high))
