from __future__ import annotations

import threading
import time
import tracemalloc

import pytest

from telerobot_nodes.core.timing import AbsoluteTimer, Histogram, PeriodStatistics
from telerobot_nodes.errors import InvalidValueError


def test_deadlines_are_multiples_of_the_period_from_the_start():
    start = time.monotonic()
    timer = AbsoluteTimer(0.002, start)
    for _ in range(10):
        assert timer.wait() >= 0.0
    periods = (timer.deadline - start) / 0.002
    assert periods == pytest.approx(round(periods), abs=1e-3)
    assert round(periods) == 10 + timer.missed


def test_it_never_wakes_before_its_deadline():
    timer = AbsoluteTimer(0.001)
    for _ in range(50):
        timer.wait()
        assert time.monotonic() >= timer.deadline - 1e-9


def test_missed_periods_are_skipped_and_counted_not_made_up():
    start = time.monotonic() - 0.1
    timer = AbsoluteTimer(0.01, start)
    timer.wait()
    assert timer.missed >= 9
    assert timer.deadline >= start + 0.1
    assert (timer.deadline - start) / 0.01 == pytest.approx(1 + timer.missed, abs=1e-3)


def test_waiting_lets_other_threads_run():
    timer = AbsoluteTimer(0.2)
    seen = threading.Event()
    thread = threading.Thread(target=seen.set)
    thread.start()
    timer.wait()
    assert seen.is_set()
    thread.join()


@pytest.mark.parametrize("period", [0.0, -1.0, float("nan")])
def test_a_period_that_is_not_positive_is_refused(period):
    with pytest.raises(InvalidValueError, match="period"):
        AbsoluteTimer(period)


def test_quantiles_are_right_within_a_bin():
    histogram = Histogram()
    for i in range(1, 1001):
        histogram.add(i * 1e-6)
    for fraction in (0.5, 0.99, 0.999):
        assert histogram.quantile(fraction) == pytest.approx(fraction * 1e-3, rel=0.07)
    assert histogram.maximum == 1e-3


def test_extreme_durations_are_counted():
    histogram = Histogram()
    for duration in (0.0, -1.0, 1e9):
        histogram.add(duration)
    assert histogram.count == 3 and histogram.maximum == 1e9


def test_adding_allocates_nothing_that_stays():
    statistics = PeriodStatistics(0.005)
    statistics.add(0.0, 1e-4)
    tracemalloc.start()
    for i in range(2000):
        statistics.add(0.005 * i, 1e-4)
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert grown < 2000


def test_a_gap_of_three_periods_counts_two_missed():
    statistics = PeriodStatistics(0.005)
    for now in (0.0, 0.005, 0.020, 0.025):
        statistics.add(now, 0.0)
    summary = statistics.summary()
    assert summary.missed == 2
    assert summary.steps == 4
    assert summary.period_max == pytest.approx(0.015)
    statistics.clear()
    assert statistics.summary().steps == 0
