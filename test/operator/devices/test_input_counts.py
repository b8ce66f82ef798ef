"""Counts of device samples: what is late, and what a person reads of it."""

import pytest

from telerobot_nodes.operator.devices.input_counts import LATE, InputCounts


def test_a_sample_is_late_when_it_comes_later_than_the_filter_allows_for():
    counts = InputCounts()
    late = []
    for lateness in (0.0, LATE, LATE + 1e-6, 0.08, -0.001):
        before = counts.late
        assert counts.receive(lateness, 1.0)
        late.append(counts.late - before)
    assert late == [0, 0, 1, 1, 0]
    assert (counts.received, counts.late, counts.worst, counts.dropped) == (5, 2, 0.08, 0)


def test_a_sample_that_is_too_late_is_counted_and_not_followed():
    counts = InputCounts()
    assert [counts.receive(lateness, 1.0) for lateness in (0.9, 1.0, 1.001, 13.0)] == [True, True, False, False]
    assert (counts.received, counts.late, counts.worst, counts.dropped) == (4, 4, 13.0, 2)


def test_counts_survive_the_way_through_diagnostics():
    counts = InputCounts()
    for lateness in (0.001, 0.085, 2.0):
        counts.receive(lateness, 1.0)
    texts = {
        key: f"{value:.6g}" if isinstance(value, float) else str(value) for key, value in counts.diagnostics().items()
    }
    found = InputCounts.of(texts, {"poses_sent": "3"})
    assert (found.received, found.late, found.dropped, found.sent) == (3, 2, 1, 3)
    assert found.worst == pytest.approx(2.0)
    assert str(found) == "3 of 3 samples received, 2 late by up to 2000 ms, 1 too late to be followed"


def test_diagnostics_without_counts_are_zero():
    assert InputCounts.of({}, {}) == InputCounts()
    assert str(InputCounts()) == "0 samples, 0 late"
