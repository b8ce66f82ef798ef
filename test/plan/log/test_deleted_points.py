"""Points deleted here that the robot may have kept."""

import numpy as np
import pytest
from plan_values import store

from telerobot_nodes.plan.log.deleted_points import DeletedPoints


@pytest.fixture
def cut():
    """A plan of ten points, cut after 7 by operation 5, then after 4 by operation 6."""
    plan = store(10)
    deleted = DeletedPoints(plan)
    for number, after_seq in ((5, 7), (6, 4)):
        deleted.delete(number, after_seq)
    return plan, deleted


def seqs(plan):
    return plan.after(0).seq.tolist()


def test_a_tail_that_is_held_truncates_the_plan(cut):
    plan, deleted = cut
    assert deleted.restore(3) == 3
    assert seqs(plan) == [1, 2, 3]


@pytest.mark.parametrize("tail", [5, 7, 8, 10])
def test_points_the_robot_kept_are_appended_again(cut, tail):
    plan, deleted = cut
    assert deleted.restore(tail) == 4
    assert seqs(plan) == list(range(1, tail + 1))


def test_restored_points_have_their_old_times(cut):
    plan, deleted = cut
    deleted.restore(9)
    assert plan.after(0).time.tolist() == store(9).after(0).time.tolist()


def test_an_unknown_tail_changes_nothing(cut):
    plan, deleted = cut
    assert deleted.restore(11) is None
    assert seqs(plan) == [1, 2, 3, 4]


def test_confirmed_deletions_are_forgotten(cut):
    plan, deleted = cut
    assert len(deleted) == 2
    deleted.confirm(5)
    assert len(deleted) == 1
    assert deleted.restore(9) is None
    assert deleted.restore(6) == 4


def test_only_applied_operations_should_have_deleted_a_point(cut):
    _, deleted = cut
    assert deleted.holds(9, applied_number=5)
    assert not deleted.holds(6, applied_number=5)
    assert deleted.holds(6, applied_number=6)
    assert not deleted.holds(3, applied_number=6)


def test_nothing_is_remembered_of_an_empty_deletion():
    deleted = DeletedPoints(store(4))
    assert deleted.delete(2, 4) == 0
    assert len(deleted) == 0


def test_points_that_were_written_over_are_restored_with_their_own_values(cut):
    plan, deleted = cut
    before = store(10)
    plan.append(np.array([11, 12, 13, 14]), 1000.0 + np.arange(4.0), np.full((4, 7), 9.0), 0)
    assert deleted.restore(9) == 4
    assert seqs(plan) == list(range(1, 10))
    assert plan.after(0).time.tolist() == before.after(0, 9).time.tolist()
    assert plan.after(0).pose.tolist() == before.after(0, 9).pose.tolist()


def test_points_that_were_deleted_before_the_plan_was_cleared_are_restored(cut):
    plan, deleted = cut
    deleted.delete(7, 0)
    plan.clear()
    plan.append(np.array([11]), np.array([1000.0]), np.full((1, 7), 9.0), 0)
    plan.clear()
    assert [deleted.holds(seq, 7) for seq in (1, 4, 5, 8, 10, 11)] == [True] * 5 + [False]
