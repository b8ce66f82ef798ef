"""Updates of a plan for displays."""

import numpy as np
import pytest
from plan_values import poses, store

from telerobot_nodes.core.protocol import UpdateKind
from telerobot_nodes.plan.log import PlanFeed

APPEND, TRUNCATE, RESET = UpdateKind.APPEND, UpdateKind.TRUNCATE, UpdateKind.RESET


@pytest.fixture
def feed():
    return PlanFeed("ann")


def brief(updates):
    found = []
    for update in updates:
        points = update.points
        found.append((update.kind, (points.first_seq, points.last_seq) if points is not None else update.after_seq))
    return found


def test_new_points_are_published_once(feed):
    plan = store(5)
    assert brief(feed.drain(plan)) == [(APPEND, (1, 5))]
    assert feed.drain(plan) == []
    assert feed.published_seq == 5


def test_a_gap_in_the_numbers_divides_an_update(feed):
    plan = store(3)
    plan.append(np.array([9, 10]), np.array([1.0, 1.1]), poses(2), 0)
    assert brief(feed.drain(plan)) == [(APPEND, (1, 3)), (APPEND, (9, 10))]


def test_points_with_and_without_gripper_are_divided(feed):
    plan = store(3)
    plan.append(np.array([4]), np.array([1.0]), poses(1), 0, 0.05)
    assert [u.points.gripper.tolist() for u in feed.drain(plan)] == [[], [0.05]]


def test_a_truncation_of_published_points_is_published(feed):
    plan = store(5)
    feed.drain(plan)
    plan.truncate(3)
    feed.truncate(3)
    assert brief(feed.drain(plan)) == [(TRUNCATE, 3)]


def test_a_truncation_of_unpublished_points_is_not(feed):
    plan = store(5)
    feed.drain(plan)
    feed.truncate(7)
    assert feed.drain(plan) == []


def test_a_reset_replaces_earlier_updates(feed):
    plan = store(5)
    feed.drain(plan)
    feed.truncate(2)
    feed.reset()
    assert brief(feed.drain(plan)) == [(RESET, 0), (APPEND, (1, 5))]


def test_a_new_subscriber_receives_the_whole_plan_once(feed):
    plan = store(5)
    feed.drain(plan)
    feed.republish()
    assert brief(feed.drain(plan)) == [(RESET, (1, 5))]
    assert feed.drain(plan) == []


def test_an_empty_plan_is_republished_as_empty(feed):
    feed.republish()
    (update,) = feed.drain(store(0))
    assert (update.kind, update.points) == (RESET, None)
