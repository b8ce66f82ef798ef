"""A person's device: its motion counts, its jumps do not."""

import math
from pathlib import Path

import numpy as np
import pytest

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.shaping.device import HISTORY, Device, DeviceConfig

UNTURNED = (0.0, 0.0, 0.0, 1.0)
HANDS = sorted((Path(__file__).parents[4] / "shared" / "data" / "hand").glob("*.csv"))
hands = pytest.mark.skipif(not HANDS, reason="recorded hands are not beside the project (../shared/data/hand)")


def swing(t):
    return (0.2 * math.sin(2.0 * t), 0.1 * math.cos(3.0 * t), 0.05 * t)


def moved(device, samples):
    steps = [device.move(t, position, UNTURNED) for t, position in samples]
    return np.sum([step.linear for step in steps], axis=0), [step.jump for step in steps if step.jump]


def test_the_first_sample_is_where_the_hand_begins_not_motion():
    assert Device().move(0.0, (5.0, 5.0, 5.0), UNTURNED).linear == (0.0, 0.0, 0.0)


def test_smooth_motion_passes_unchanged():
    total, jumps = moved(Device(), [(0.01 * k, swing(0.01 * k)) for k in range(300)])
    assert jumps == []
    assert np.allclose(total, np.subtract(swing(2.99), swing(0.0)))


@pytest.mark.parametrize("size", [0.02, 0.05, 0.15, 0.5])
def test_a_jump_is_taken_out_counted_once_and_measured(size):
    samples = [(0.01 * k, np.add(swing(0.01 * k), (size if k >= 150 else 0.0, 0.0, 0.0))) for k in range(300)]
    total, jumps = moved(Device(), [(t, tuple(p)) for t, p in samples])
    assert len(jumps) == 1
    assert jumps[0].distance == pytest.approx(size, abs=0.003)
    assert f"{100 * jumps[0].distance:.1f} cm" in str(jumps[0])
    assert np.allclose(total, np.subtract(swing(2.99), swing(0.0)), atol=0.003)


def test_a_jump_that_comes_back_is_two_jumps_and_no_motion():
    samples = [(0.01 * k, (0.1 if 50 <= k < 53 else 0.0, 0.0, 0.0)) for k in range(100)]
    total, jumps = moved(Device(), samples)
    assert len(jumps) == 2
    assert np.allclose(total, 0.0, atol=1e-9)


@pytest.mark.parametrize("late", [0.01, 0.05, 0.2])
def test_a_sample_that_a_later_one_has_overtaken_is_no_motion(late):
    samples = [(0.01 * k, (0.007 * k, 0.0, 0.0)) for k in range(100)]
    overtaken = (0.5 - late, (0.7 * (0.5 - late), 0.0, 0.0))
    total, jumps = moved(Device(), [*samples[:51], overtaken, *samples[51:]])
    assert jumps == []
    assert total[0] == pytest.approx(0.007 * 99)


@pytest.mark.parametrize("step", [-3600.0, -1.0, -0.2, 1.0, 1e9])
@pytest.mark.parametrize("back", [51, 100], ids=["once", "for good"])
def test_a_clock_that_steps_costs_a_few_samples_and_invents_no_motion(step, back):
    """Of one stamp of another clock, and of a clock that was set."""
    samples = [(0.01 * k + (step if 50 <= k < back else 0.0), (0.007 * k, 0.0, 0.0)) for k in range(100)]
    total, jumps = moved(Device(), samples)
    assert jumps == []
    assert 0.007 * (99 - HISTORY - 2) - 1e-9 <= total[0] <= 0.007 * 99 + 1e-9


def test_a_turn_of_the_tracker_in_one_sample_is_a_jump():
    device = Device()
    for k in range(20):
        device.move(0.01 * k, (0.0, 0.0, 0.0), UNTURNED)
    step = device.move(0.2, (0.0, 0.0, 0.0), (0.0, 0.0, math.sin(0.4), math.cos(0.4)))
    assert step.jump.angle == pytest.approx(0.8)
    assert step.angular == (0.0, 0.0, 0.0)


def test_samples_that_arrive_in_bursts_are_not_jumps():
    times = [0.05 * (k // 5) + 0.0002 * (k % 5) for k in range(300)]
    total, jumps = moved(Device(), [(t, swing(0.01 * k)) for k, t in enumerate(times)])
    assert jumps == []
    assert np.allclose(total, np.subtract(swing(2.99), swing(0.0)))


def test_after_staleness_the_hand_begins_anew_wherever_it_is():
    device = Device()
    device.move(0.0, (0.0, 0.0, 0.0), UNTURNED)
    step = device.move(1.0, (3.0, 0.0, 0.0), UNTURNED)
    assert step.linear == (0.0, 0.0, 0.0)
    assert step.jump is None


def test_a_timeout_outside_its_range_is_refused_by_name():
    with pytest.raises(InvalidValueError, match=r"device\.timeout"):
        DeviceConfig(timeout=0.0)


@hands
@pytest.mark.parametrize("scale", [1.0, 0.7])
@pytest.mark.parametrize("file", HANDS, ids=lambda path: path.stem)
def test_no_jump_of_a_recorded_hand_passes(file, scale):
    rows = np.genfromtxt(file, delimiter=",", skip_header=1)
    positions = scale * rows[:, 1:]
    steps = np.linalg.norm(np.diff(positions, axis=0), axis=1)
    real = np.flatnonzero(steps > scale * 0.0095)  # normal hand: 6 mm per sample at most
    device = Device()
    passed = [device.move(t, tuple(p), UNTURNED) for t, p in zip(rows[:, 0], positions, strict=True)]
    assert [i for i, step in enumerate(passed) if step.jump] == [i + 1 for i in real]
    assert max(np.linalg.norm(step.linear) for step in passed) < scale * 0.007
