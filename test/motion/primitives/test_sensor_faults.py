"""A wrist sensor that fails while the tool presses: the motion stops with a reason, below twice the set force."""

from __future__ import annotations

import pytest

from telerobot_nodes.bench.contact.contact import SET, clipped, frozen, jumped, pressed, silent

pytestmark = pytest.mark.lengthy


@pytest.mark.parametrize(("gain", "stiffness"), [(1e-4, 1e5), (1e-3, 1e4), (1e-3, 1e5)])
@pytest.mark.parametrize("before", [0.1, 0.25, 1.0])
@pytest.mark.brief(3)
def test_a_frozen_sensor(gain, stiffness, before):
    reason, peak = pressed(frozen, gain, stiffness, before)
    assert reason == "FROZEN_SENSOR"
    assert peak < 2.0 * SET


@pytest.mark.parametrize(
    ("gain", "stiffness", "most"), [(1e-4, 1e5, 4.0), (1e-4, 1e5, 8.0), (1e-3, 1e4, 4.0), (1e-3, 1e5, 8.0)]
)
@pytest.mark.brief(2)
def test_a_saturated_sensor(gain, stiffness, most):
    reason, peak = pressed(clipped(most), gain, stiffness, before=0.0, after=1.5)
    assert reason == "FROZEN_SENSOR"
    assert peak < 2.0 * SET


@pytest.mark.parametrize("gain", [1e-4, 1e-3])
@pytest.mark.parametrize("by", [-100.0, -15.0, -8.0, 30.0])
@pytest.mark.brief(2)
def test_a_sensor_that_jumps(gain, by):
    reason, peak = pressed(jumped(by), gain, 1e5, after=0.3)
    assert reason == "INVALID_SENSOR"
    assert peak < 1.5 * SET


@pytest.mark.brief(1)
@pytest.mark.parametrize("gain", [1e-4, 1e-3])
def test_a_silent_sensor(gain):
    reason, peak = pressed(silent, gain, 1e5)
    assert reason == "INVALID_SENSOR"  # the graph publishes no such wrench: STALE_SENSOR there
    assert peak < 2.0 * SET
