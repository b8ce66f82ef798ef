"""Schedules through made-up coordination spaces: shortest, monotone, in turns."""

import numpy as np
import pytest

from telerobot_nodes.cspace.multi_arm.schedule import NEVER, Schedule, _steps_left, monotone, single_moves, taking_turns


def plane(ticks, *blocked):
    """A free plane of `ticks` ticks for each arm, without some pairs of ticks (of rest)."""
    out = np.zeros((2 * ticks - 1, 2 * ticks - 1), dtype=bool)
    for i, j in blocked:
        out[2 * i, 2 * j] = True
    return out


def is_free(blocked, ticks):
    """True when no rest and no motion of a schedule of single moves is in a blocked cell."""
    rest = not blocked[2 * ticks[:, 0], 2 * ticks[:, 1]].any()
    moving = 2 * ticks[:-1] + np.diff(ticks, axis=0)
    return rest and not blocked[moving[:, 0], moving[:, 1]].any()


def test_a_free_plane_is_crossed_along_its_diagonal():
    assert monotone(plane(4)).tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]]


def test_an_arm_waits_where_it_must_and_no_longer():
    blocked = plane(5, (2, 2))
    ticks = monotone(blocked)
    assert len(ticks) == 6  # one more than along the diagonal
    assert (np.diff(ticks, axis=0) >= 0).all()
    assert ticks[-1].tolist() == [4, 4]
    assert is_free(blocked, single_moves(blocked, ticks))


@pytest.mark.parametrize("blocked", [plane(3, (0, 0)), plane(3, (2, 2)), plane(3, (1, 0), (1, 1), (1, 2))])
def test_a_wall_or_blocked_ends_leave_no_schedule(blocked):
    assert monotone(blocked) is None
    assert _steps_left(blocked, True)[0, 0] >= NEVER


def test_a_start_along_the_way_is_kept():
    assert monotone(plane(4), 2)[0].tolist() == [2, 0]


def test_single_moves_keep_the_ends_and_move_one_arm_at_a_time():
    blocked = plane(4)
    ticks = single_moves(blocked, monotone(blocked))
    assert np.abs(np.diff(ticks, axis=0)).sum(axis=1).max() == 1
    assert ticks[[0, -1]].tolist() == [[0, 0], [3, 3]]


def turns(blocked, count):
    times = (0.1 * np.arange(count),) * 2
    return taking_turns(Schedule(0.1, np.zeros((0, 2), dtype=np.int64), times, {(0, 1): blocked}))


def test_turns_change_as_seldom_as_they_can():
    free = turns(plane(4), 4)
    assert np.count_nonzero(np.diff(np.diff(free.ticks[:, 0]))) == 1
    blocked = plane(4, (3, 0), (0, 3))  # neither may finish before the other has begun
    found = turns(blocked, 4)
    assert is_free(blocked, found.ticks)
    assert np.abs(np.diff(found.ticks, axis=0)).sum(axis=1).max() == 1
    assert np.count_nonzero(np.diff(np.diff(found.ticks[:, 0]))) == 2


def test_no_turns_through_a_wall():
    assert turns(plane(3, (1, 0), (1, 1), (1, 2)), 3) is None


def test_the_duration_counts_periods_between_ticks():
    assert Schedule(0.5, np.zeros((5, 2), dtype=np.int64)).duration == pytest.approx(2.0)
