"""The judge of a trial: targets in their order, the last one in sight, a plate, time, and who gives up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.study.design import PLATE, TASKS, Ending, Judge, task_named

START = np.array([0.4, 0.0, 0.6])


def judge(task="trace", limit=60.0, begun=5.0):
    return Judge(task_named(task), 3, START, begun, limit)


def work(one, points, now=5.0, step=0.1):
    """Show the arm at each of the points, `step` [s] apart."""
    for point in points:
        now += step
        one.see(now, np.asarray(point))
    return now


def to_the_end(one):
    return [goal.position for goal in one.goals[:-1]] + [one.goals[-1].position] * 4


def test_the_trial_ends_once_the_arm_is_seen_to_stay_in_the_last_target():
    one = judge()
    work(one, to_the_end(one)[:-2])
    assert one.ending is None
    work(one, to_the_end(one)[-2:], now=5.0 + 0.1 * len(one.goals) + 0.1)
    assert (one.ending, one.done) == (Ending.REACHED, 10)
    assert one.seconds(4.0) == pytest.approx(1.2)


def test_targets_out_of_order_do_not_count():
    one = judge()
    work(one, to_the_end(one)[1:])
    assert (one.done, one.ending) == (0, None)


def test_a_target_between_two_sights_is_passed():
    one = judge()
    first, second = (goal.position for goal in one.goals[:2])
    work(one, [first - 0.5 * (second - first), second])
    assert one.done == 2


@given(st.floats(0.0, 0.05))
def test_a_target_is_passed_within_half_its_width_only(beside):
    one = judge("reach")
    goal = one.goals[0]
    above = np.array([0.0, 0.0, 0.1])
    at = goal.position + np.array([beside, 0.0, 0.0])
    work(one, [at + above, at - above])
    assert one.done == (beside <= 0.5 * goal.width)


def test_touches_of_the_plate_cost_and_each_counts_once():
    one = judge("plate")
    down = START + np.array([0.0, 0.0, PLATE - 0.001])
    work(one, [down, down, START, down, START])
    assert one.touches == 2
    work(one, to_the_end(one), now=6.0)
    assert one.seconds(1.0) == pytest.approx(one.elapsed + 2 * 11.0)


def test_targets_move_when_the_arm_is_seen_to_pass_and_must_be_passed_there():
    one = judge("moving-target")
    before = [goal.position for goal in one.goals]
    work(one, before[:3])
    moved = [not np.array_equal(goal.position, old) for goal, old in zip(one.goals, before, strict=True)]
    assert moved == [False] * 5 + [True] * 5
    work(one, before[3:] + [before[-1]] * 5, now=6.0)
    assert (one.done, one.ending) == (5, None)


def test_time_runs_out():
    one = judge(limit=1.0)
    work(one, [START] * 11)
    assert (one.ending, one.elapsed, one.seconds(0.0)) == (Ending.TIMED_OUT, 1.0, None)


def test_who_gives_up_is_believed_and_nothing_after_it_counts():
    one = judge()
    one.abandon(7.0)
    work(one, to_the_end(one), now=7.0)
    assert (one.ending, one.elapsed, one.done) == (Ending.ABANDONED, 2.0, 0)


@pytest.mark.parametrize("name", [*TASKS, "reach"])
def test_what_is_planned_is_counted_along_the_plan_as_the_arm_will_be(name):
    one = judge(name)
    points = np.array([goal.position for goal in one.goals])
    assert one.planned(np.empty((0, 3))) == 0
    assert one.planned(points[:1]) == (0 if len(points) == 1 else 1)
    assert one.planned(points[:-1]) == len(points) - 1
    assert one.planned(points) == len(points)
    assert one.planned(points[::-1]) <= 2  # in one stretch the order is not seen
