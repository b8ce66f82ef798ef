"""The estimate of the robot's present: advanced along the plan, and never beyond what can have reached the robot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from telerobot_nodes.simulation import PresentEstimator, RobotReport


def report(**values):
    known = {"plan_time": 3.0, "rate": 1.0, "rate_goal": 1.0, "committed_time": 3.5, "tail_time": 9.0, "running": True}
    return RobotReport(**{**known, **values})


def estimator(round_trip=2.0, now=10.0, head=None, **values):
    made = PresentEstimator()
    if head is not None:
        made.on_head(0.0, head)
    made.on_report(now, report(**values), round_trip)
    return made


def test_nothing_is_estimated_before_the_first_report():
    assert PresentEstimator().estimate(1.0) is None


def test_the_robot_has_gone_on_for_half_a_round_trip_and_the_time_since():
    estimate = estimator().estimate(10.5)
    assert estimate.plan_time == pytest.approx(4.5)
    assert estimate.age == pytest.approx(1.5)
    assert estimate.since_receipt == pytest.approx(0.5)


def test_a_robot_that_holds_is_estimated_where_it_comes_to_rest():
    estimate = estimator(running=False).estimate(60.0)
    assert 3.0 <= estimate.plan_time <= 3.5
    assert estimate.latest == 3.5


def test_the_robot_is_not_beyond_the_last_point_that_can_have_reached_it():
    made = estimator(head=4.0, tail_time=4.0)
    made.on_head(10.0, 20.0)
    assert made.estimate(10.5).latest == pytest.approx(4.0)
    assert made.estimate(11.5).latest > 4.0


def test_a_rate_above_one_advances_faster():
    assert estimator(rate=2.0, rate_goal=2.0).estimate(10.5).plan_time == pytest.approx(6.0)


def test_a_robot_that_starts_takes_up_the_rate_first():
    estimate = estimator(rate=0.0).estimate(10.0)
    assert 3.5 < estimate.plan_time < 4.0


@given(
    rate=st.floats(0, 10),
    goal=st.floats(0.1, 10),
    tail=st.floats(3, 50),
    wait=st.floats(0, 100),
    trip=st.floats(-1, 8),
    running=st.booleans(),
)
def test_the_estimate_lies_between_its_bounds_and_the_bounds_in_the_plan(rate, goal, tail, wait, trip, running):
    committed = min(3.5, tail)
    made = estimator(trip, rate=rate, rate_goal=goal, tail_time=tail, committed_time=committed, running=running)
    estimate = made.estimate(10.0 + wait)
    assert 3.0 == estimate.earliest <= estimate.plan_time <= estimate.latest <= max(tail, committed)
