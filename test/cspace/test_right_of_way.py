"""What each arm is granted: never a rectangle with a blocked cell, always a way to the end for both."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.cspace.multi_arm import InTurns, taking_turns
from telerobot_nodes.cspace.multi_arm.right_of_way import RightOfWay
from telerobot_nodes.cspace.multi_arm.schedule import Schedule, monotone
from telerobot_nodes.errors import InvalidValueError

TICKS = 12


def schedule_of(blocked):
    """The schedule through a plane of `TICKS` ticks a side, 0.1 s apart; None when there is none."""
    ticks = monotone(blocked)
    times = 0.1 * np.arange(TICKS)
    return None if ticks is None else Schedule(0.1, ticks, (times, times), {(0, 1): blocked})


def plane(seed, share):
    """Random rectangles of blocked cells, ends free."""
    rng = np.random.default_rng(seed)
    blocked = np.zeros((2 * TICKS - 1, 2 * TICKS - 1), dtype=bool)
    for _ in range(share):
        i, j = rng.integers(0, 2 * TICKS - 1, 2)
        a, b = rng.integers(1, 8, 2)
        blocked[i : i + a, j : j + b] = True
    blocked[:3, :3] = blocked[-3:, -3:] = False
    return blocked


def cell(clock):
    """The cell of a clock on ticks 0.1 s apart."""
    k = int(np.floor(clock / 0.1 + 1e-6))
    return 2 * k if abs(clock - 0.1 * k) < 1e-6 else 2 * k + 1


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 9), st.lists(st.sampled_from([0, 1]), min_size=30, max_size=30))
@pytest.mark.lengthy
def test_whichever_arm_is_late_the_arms_never_enter_a_blocked_cell_and_both_arrive(seed, share, order):
    blocked = plane(seed, share)
    schedule = schedule_of(blocked)
    if schedule is None:
        return
    way, clocks = RightOfWay(schedule), [0.0, 0.0]
    last = 0.1 * (TICKS - 1)
    for turn in range(4 * 30):
        granted = way.grant(clocks)
        now, then = [cell(c) for c in clocks], [cell(g) for g in granted]
        assert not blocked[now[0] : then[0] + 1, now[1] : then[1] + 1].any()
        for arm in (order[turn % 30], 1 - order[turn % 30]):
            step = 0.05 if arm == order[turn % 30] else 0.02  # one arm is slower, which one changes
            clocks[arm] = max(min(clocks[arm] + step, granted[arm]), clocks[arm])
        if min(clocks) > last - 1e-6:
            break
    assert clocks == pytest.approx([last, last])


def test_where_no_cell_is_blocked_both_may_go_to_the_end_at_once():
    way = RightOfWay(schedule_of(plane(0, 0)))
    assert way.grant([0.0, 0.0]) == pytest.approx([1.1, 1.1])


def test_the_second_arm_is_granted_the_shared_place_when_the_first_has_passed_it():
    blocked = np.zeros((2 * TICKS - 1, 2 * TICKS - 1), dtype=bool)
    blocked[4:9, 6:15] = True
    way = RightOfWay(schedule_of(blocked))
    assert way.grant([0.0, 0.0])[1] == pytest.approx(0.2)
    assert way.grant([0.39, 0.2])[1] == pytest.approx(0.2)
    assert way.grant([0.45, 0.2])[1] == pytest.approx(1.1)


def test_in_turns_only_one_arm_may_move_at_a_time():
    schedule = taking_turns(schedule_of(plane(0, 0)))
    way, clocks = InTurns(schedule), [0.0, 0.0]
    for _ in range(200):
        granted = way.grant(clocks)
        moving = [g > c + 1e-9 for g, c in zip(granted, clocks, strict=True)]
        assert sum(moving) <= 1
        clocks = [min(c + 0.02, g) for c, g in zip(clocks, granted, strict=True)]
    assert clocks == pytest.approx([1.1, 1.1])


def test_a_schedule_without_its_planes_is_refused():
    with pytest.raises(InvalidValueError, match="schedule"):
        RightOfWay(Schedule(0.1, np.zeros((3, 2), dtype=np.int64)))
