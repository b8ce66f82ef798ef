"""The arm waits before the points after a limit, inside its own limits, and goes on when the limit is lifted."""

import numpy as np
import pytest
from executor_side import ROBOT, K, Side

from telerobot_nodes.core.protocol import ExecutorMode


def side_at_work(points=200, **values):
    side = Side(**values)
    side.lay(points)
    return side


def waits_within(side, seconds):
    side.run(seconds)
    report = side.report()
    assert report.mode is ExecutorMode.PAUSED
    assert side.still()
    return report


@pytest.mark.parametrize("limit", [10, 57, 100, 199])
def test_the_arm_rests_at_the_last_points_before_the_limit(limit):
    side = side_at_work()
    side.send(K.LIMIT, after_seq=limit)
    report = waits_within(side, 8.0)
    assert limit - 2 <= max(side.executed) <= limit  # none that could be made is left out
    assert report.committed_seq <= limit  # all that follows can be deleted
    assert f"before point {limit + 1}" in report.reason
    assert report.queue_length == 200 - max(side.executed)


def test_it_goes_on_when_the_limit_is_lifted():
    side = side_at_work()
    side.send(K.LIMIT, after_seq=60)
    waits_within(side, 4.0)
    side.send(K.LIMIT, after_seq=0)
    assert side.finish().mode is ExecutorMode.IDLE
    assert side.executed == list(range(1, 201))


def test_a_limit_that_comes_late_stops_the_arm_as_soon_as_it_can():
    side = side_at_work()
    side.run(2.0)
    at = max(side.executed)
    paused = side_at_work()
    paused.run(2.0)
    side.send(K.LIMIT, after_seq=at - 5)
    paused.send(K.PAUSE)
    waits_within(side, 3.0)
    paused.run(3.0)
    assert max(side.executed) == max(paused.executed)


def test_deleting_the_points_after_it_ends_it():
    for kind, values in ((K.TRUNCATE, {"after_seq": 60}), (K.CLEAR, {})):
        side = side_at_work()
        side.send(K.LIMIT, after_seq=60)
        tail = waits_within(side, 4.0).executed_seq
        report = side.send(kind, **values)
        assert report.limit_seq == 0
        assert tail <= report.tail_seq <= 60
        assert side.finish().mode is ExecutorMode.IDLE


def test_deleting_points_farther_on_does_not_end_it():
    side = side_at_work()
    side.send(K.LIMIT, after_seq=60)
    assert side.send(K.TRUNCATE, after_seq=61).limit_seq == 60
    assert waits_within(side, 4.0).tail_seq == 61


@pytest.mark.lengthy
def test_a_limit_at_or_after_the_end_of_the_plan_holds_nothing():
    for limit in (200, 2**63):
        side = side_at_work()
        side.send(K.LIMIT, after_seq=limit)
        assert side.finish().mode is ExecutorMode.IDLE
        assert max(side.executed) == 200


@pytest.mark.lengthy
def test_velocity_and_acceleration_stay_inside_their_limits():
    side = side_at_work(400)
    worst = np.zeros(2)
    for limit in (40, 80, 0, 160, 120, 300, 0):
        side.send(K.LIMIT, after_seq=limit)
        for _ in range(350):
            side.run(0.002)
            use = side.follower.v / ROBOT.limits.velocity, side.follower.a / ROBOT.limits.acceleration
            worst = np.maximum(worst, np.abs(use).max(axis=1))
    side.finish()
    assert side.executed == list(range(1, 401))
    assert worst.max() <= 1.0


def test_the_stopping_time_is_what_a_pause_takes():
    side = side_at_work()
    assert side.report().stopping_time == 0.0
    side.run(2.0)
    told = side.report().stopping_time
    side.send(K.PAUSE)
    taken = 0.0
    while not side.still() or taken == 0.0:
        side.run(0.01)
        taken += 0.01
    assert told == pytest.approx(taken, abs=0.06)
    side.run(0.2)
    assert side.report().stopping_time == 0.0
