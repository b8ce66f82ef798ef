"""What became of the points of a plan, by hand-made updates and reports."""

import numpy as np
import pytest

from telerobot_nodes.core.protocol import UpdateKind
from telerobot_nodes.operator.review.history import check_history, laid_over_time, planned_path
from telerobot_nodes.operator.review.run_record import Executed, PlanChange

APPEND, TRUNCATE, RESET, _ = UpdateKind


def change(time, kind, first, count, after=0):
    return PlanChange(time, kind, first, 0.02 * np.arange(count), np.full((count, 3), time), after)


def history(changes, executed):
    return check_history(planned_path(changes, executed), changes, executed)


def test_a_truncation_keeps_the_points_up_to_its_number():
    path = planned_path([change(0.0, APPEND, 1, 10), change(1.0, TRUNCATE, 0, 0, after=4)])
    assert path.seq.tolist() == [1, 2, 3, 4]
    assert path.laid_at.tolist() == [0.0] * 4


def test_a_reset_keeps_what_was_executed_before_it():
    changes = [change(0.0, APPEND, 1, 10), change(2.0, RESET, 20, 2)]
    assert planned_path(changes, [Executed(1.0, 1, 3), Executed(3.0, 4, 6)]).seq.tolist() == [1, 2, 3, 20, 21]


def test_without_updates_there_is_no_plan():
    path = planned_path([])
    assert path.seq.size == 0
    assert path.position.shape == (0, 3)


def test_points_recorded_and_deleted_are_counted_over_time():
    changes = [change(0.0, APPEND, 1, 10), change(1.0, TRUNCATE, 0, 0, after=4), change(2.0, APPEND, 50, 3)]
    time, count = laid_over_time(changes, [Executed(1.5, 1, 2)])
    assert time.tolist() == [0.0, 1.0, 2.0]
    assert count.tolist() == [10, 4, 7]


def test_points_executed_once_and_in_order_are_no_fault():
    found = history([change(0.0, APPEND, 1, 6)], [Executed(1.0, 1, 3), Executed(2.0, 4, 6)])
    assert (found.planned, found.executed) == (6, 6)
    assert (found.duplicates, found.lost, found.out_of_order, found.unknown) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("executed", "field", "count"),
    [
        ([(1, 3), (3, 6)], "duplicates", 1),
        ([(1, 3)], "lost", 3),
        ([(1, 3)], "pending", 3),
        ([(1, 2), (4, 6)], "lost", 1),
        ([(1, 2), (4, 6)], "pending", 0),
        ([(4, 6), (1, 3)], "out_of_order", 3),
        ([(1, 6), (90, 91)], "unknown", 2),
    ],
)
def test_each_fault_is_counted(executed, field, count):
    reports = [Executed(float(k), first, last) for k, (first, last) in enumerate(executed)]
    assert getattr(history([change(0.0, APPEND, 1, 6)], reports), field) == count


def test_a_range_over_deleted_numbers_is_no_fault():
    changes = [change(0.0, APPEND, 1, 6), change(0.5, TRUNCATE, 0, 0, after=3), change(0.6, APPEND, 7, 2)]
    found = history(changes, [Executed(1.0, 1, 8)])
    assert (found.planned, found.executed, found.unknown, found.duplicates) == (5, 5, 0, 0)
