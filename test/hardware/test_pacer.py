from __future__ import annotations

import numpy as np
import pytest

from telerobot_nodes.hardware.pacer import Pacer


def serve(pacer: Pacer, now: float) -> int:
    due = pacer.due(now)
    for _ in range(due):
        pacer.served()
    return due


def test_simulated_time_follows_the_clock_without_drift():
    pacer = Pacer(0.001, 5.0)
    clock = 5.0
    for gap in np.random.default_rng(0).uniform(0.0, 0.012, 2000):
        clock += gap
        serve(pacer, clock)
        assert -1e-8 <= clock - pacer.time < 0.001 + 1e-8
    assert pacer.dropped == 0.0
    assert pacer.real_time_factor == pytest.approx(1.0, abs=0.02)


def test_a_long_pause_is_given_up_not_made_up():
    pacer = Pacer(0.001, 0.0, max_burst=0.05)
    assert serve(pacer, 2.0) == 50
    assert pacer.dropped == pytest.approx(1.95)
    assert pacer.time == pytest.approx(2.0)
    assert serve(pacer, 2.005) == 5


def test_a_host_too_slow_shows_in_the_real_time_factor():
    pacer = Pacer(0.001, 0.0, max_burst=0.05)
    for k in range(1, 40):
        serve(pacer, 0.1 * k)
    assert pacer.real_time_factor == pytest.approx(0.5, abs=0.05)


def test_time_that_stands_still_or_goes_back_serves_nothing():
    pacer = Pacer(0.001, 1.0)
    assert serve(pacer, 1.0) == 0
    assert serve(pacer, 0.5) == 0
    assert pacer.time == 1.0
