"""Counts of device samples: what is late, and what a person reads of it."""

import pytest

from telerobot_nodes.operator.devices.input_counts import LATE, InputCounts


def test_a_sample_is_late_when_it_comes_later_than_the_filter_allows_for():
    counts = InputCounts()
    assert [counts.receive(lateness) for lateness in (0.0, LATE, LATE + 1e-6, 0.08, -0.001)] == [
        False,
        False,
        True,
        True,
        False,
    ]
    assert (counts.received, counts.late, counts.worst) == (5, 2, 0.08)


def test_counts_survive_the_way_through_diagnostics():
    counts = InputCounts()
    for lateness in (0.001, 0.085):
        counts.receive(lateness)
    texts = {
        key: f"{value:.6g}" if isinstance(value, float) else str(value) for key, value in counts.diagnostics().items()
    }
    found = InputCounts.of(texts, {"poses_sent": "3"})
    assert (found.received, found.late, found.sent) == (2, 1, 3)
    assert found.worst == pytest.approx(0.085)
    assert str(found) == "2 of 3 samples received, 1 late by up to 85 ms"


def test_diagnostics_without_counts_are_zero():
    assert InputCounts.of({}, {}) == InputCounts()
    assert str(InputCounts()) == "0 samples, 0 late"
