"""Schedules in which arms wait only where their paths rest."""

import numpy as np
import pytest

from telerobot_nodes.core.timing import time_path
from telerobot_nodes.cspace.multi_arm import tick_times
from telerobot_nodes.cspace.service.waiting_schedule import follow_schedule, schedule_waits

PERIOD = 0.02


@pytest.fixture(scope="module")
def timed(planar):
    """A path with a rest in its middle."""
    return time_path(np.array([[0.0, 0.0], [0.5, 0.0], [1.0, 0.0]]), planar.robot.limits)


def plane(timed):
    size = 2 * len(tick_times(timed, PERIOD)) - 1
    return np.zeros((size, size), dtype=bool)


def rest_of(timed):
    """The tick of the waypoint in the middle."""
    return int(np.abs(tick_times(timed, PERIOD) - timed.times[1]).argmin())


def test_with_nothing_in_the_way_both_go_at_once(timed):
    ticks = schedule_waits(plane(timed), timed, timed, PERIOD)
    assert np.array_equal(ticks[:, 0], ticks[:, 1])
    assert np.array_equal(ticks[:, 0], np.arange(len(ticks)))


def test_an_arm_waits_at_its_rest_until_the_other_has_passed(timed):
    blocked, rest = plane(timed), rest_of(timed)
    blocked[: 2 * rest + 1, 2 * rest + 2 :] = True  # the second may pass its middle only after the first has
    ticks = schedule_waits(blocked, timed, timed, PERIOD)
    assert not blocked[2 * ticks[:, 0], 2 * ticks[:, 1]].any()
    standing = ticks[1:][np.diff(ticks[:, 1]) == 0][:, 1]
    assert set(standing.tolist()) <= {0, rest}
    assert ticks[-1].tolist() == [len(tick_times(timed, PERIOD)) - 1] * 2


def test_an_arm_that_may_not_reach_its_rest_waits_at_its_start(timed):
    blocked, rest = plane(timed), rest_of(timed)
    blocked[: 2 * rest + 1, 2 * rest - 5 :] = True  # between two waypoints the second must not stop
    ticks = schedule_waits(blocked, timed, timed, PERIOD)
    assert set(ticks[1:][np.diff(ticks[:, 1]) == 0][:, 1].tolist()) == {0}


def test_a_wall_across_the_plane_has_no_schedule(timed):
    blocked = plane(timed)
    blocked[len(blocked) // 2] = True
    assert schedule_waits(blocked, timed, timed, PERIOD) is None


def test_a_late_arm_stands_first_and_blocks_if_the_other_passes_its_start(timed):
    ticks = schedule_waits(plane(timed), timed, timed, PERIOD, late=5)
    assert ticks[:6, 1].tolist() == [0] * 6
    assert ticks[5, 0] == 5
    blocked = plane(timed)
    blocked[6, 0] = True
    assert schedule_waits(blocked, timed, timed, PERIOD, late=5) is None


def test_an_arm_that_waits_stands_still_and_one_that_goes_keeps_its_timing(timed):
    ticks = np.array([0, 0, 0, 1, 2, 3])
    positions, velocities = follow_schedule(timed, ticks, PERIOD)
    times = tick_times(timed, PERIOD)
    assert positions == pytest.approx(np.array([timed.at(times[k])[0] for k in ticks]))
    assert velocities[:2] == pytest.approx(np.zeros((2, 2)))
    assert np.abs(velocities).max() <= timed.at(times[3])[1].max() * 1.01
