"""Whether the robot lost points that it had taken."""

import pytest
from plan_values import report

from telerobot_nodes.plan.log.tail_tracker import TailTracker


@pytest.fixture
def tracker():
    found = TailTracker()
    found.expect(2, 10)
    found.follow(report(applied_number=2, tail_seq=10), refused=False)
    return found


def test_a_tail_that_operations_leave_is_not_a_loss(tracker):
    tracker.expect(3, 20)
    tracker.follow(report(applied_number=2, tail_seq=10), refused=False)  # not applied yet
    tracker.follow(report(applied_number=3, tail_seq=20), refused=False)
    assert not tracker.lost


def test_a_shorter_tail_without_an_operation_is_a_loss_until_reset(tracker):
    tracker.follow(report(applied_number=2, tail_seq=4), refused=False)
    assert tracker.lost
    tracker.follow(report(applied_number=2, tail_seq=10), refused=False)
    assert tracker.lost
    tracker.reset()
    tracker.follow(report(applied_number=2, tail_seq=4), refused=False)
    assert not tracker.lost


def test_a_truncation_shortens_the_tail_without_a_loss(tracker):
    tracker.expect(3, 6)
    tracker.follow(report(applied_number=3, tail_seq=7), refused=False)  # 7 was committed
    assert not tracker.lost


def test_points_of_a_refused_append_are_not_expected(tracker):
    tracker.expect(3, 20)
    tracker.follow(report(applied_number=3, tail_seq=10), refused=True)
    assert not tracker.lost


def test_points_of_an_applied_append_are_expected(tracker):
    tracker.expect(3, 20)
    tracker.follow(report(applied_number=3, tail_seq=10), refused=False)
    assert tracker.lost
