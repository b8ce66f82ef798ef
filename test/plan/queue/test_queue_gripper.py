"""The gripper in the path plan: it travels with the points, also through brake and joins."""

import numpy as np
import pytest
from queue_session import assert_executed_as_shown, drawing, ready

from telerobot_nodes.errors import InvalidValueError, TransitionError
from telerobot_nodes.plan.queue import Join


def test_the_gripper_travels_with_the_points(make):
    session = ready(make())
    assert session.state().gripper < 0.0
    assert session.queue.set_gripper(session.now, 0.05) == 0.05
    session.run(0.5, drawing(session))
    assert session.updates[-1].points.gripper[-1] == 0.05
    with pytest.raises(InvalidValueError, match="gripper"):
        session.queue.set_gripper(session.now, 0.5)
    assert session.state().gripper == 0.05


@pytest.mark.parametrize("engaged", [True, False])
def test_the_gripper_of_a_resting_hand_moves_at_once_and_what_was_drawn_keeps_its_own(make, engaged):
    session = ready(make())
    session.queue.set_gripper(session.now, 0.02)
    session.queue.set_time_clutch(session.now, engaged)
    session.run(1.0, drawing(session))
    session.run(2.0)  # the device is silent: nothing is laid any more
    drawn = session.state().head_seq
    session.queue.set_gripper(session.now, 0.08)
    assert session.state().head_seq == drawn + 1
    session.run(3.0)
    opening = np.concatenate(
        [u.points.gripper for u in session.updates if u.points is not None and u.points.gripper.size]
    )
    assert opening[-1] == 0.08
    assert np.all(opening[:-1] == 0.02)
    assert session.queue.remaining(10).size == 0
    assert_executed_as_shown(session)


def test_the_brake_takes_an_opening_back(make):
    session = ready(make())
    session.queue.set_time_ratio(session.now, 4.0)  # the robot is far behind
    session.queue.set_gripper(session.now, 0.02)
    session.run(2.0, drawing(session))
    session.queue.set_gripper(session.now, 0.08)
    session.run(0.5, drawing(session))
    assert session.state().gripper == 0.08
    session.queue.set_brake(session.now, 10.0)
    session.run(0.3)
    session.queue.set_brake(session.now, 0.0)
    assert session.state().gripper == 0.02
    session.run(0.3, drawing(session))
    assert session.updates[-1].points.gripper[-1] == 0.02


@pytest.mark.parametrize(("join", "opening"), [(Join.CONNECT, 0.08), (Join.ADOPT, 0.08), (Join.DISCARD, 0.02)])
def test_an_opening_tried_on_the_trial_path_comes_with_what_is_joined(make, join, opening):
    session = ready(make())
    session.queue.set_gripper(session.now, 0.02)
    session.queue.set_position_clutch(session.now, False)
    session.run(0.5, drawing(session))
    session.queue.set_gripper(session.now, 0.08)
    session.run(0.5)
    assert session.queue.set_position_clutch(session.now, True, join).engaged
    assert session.state().gripper == opening
    session.run(3.0)
    assert_executed_as_shown(session)
    laid = [update.points for update in session.updates if not update.trial and update.points is not None]
    assert laid[-1].gripper[-1] == opening


def test_the_gripper_has_no_plan_to_be_part_of_before_there_is_authority(make):
    session = make()
    with pytest.raises(TransitionError, match="gripper"):
        session.queue.set_gripper(session.now, 0.02)


def test_a_gripper_set_under_the_brake_waits_for_the_next_point(make):
    session = ready(make())
    session.run(1.0, drawing(session))
    session.queue.set_brake(session.now, 0.5)
    session.run(0.1)
    head = session.state().head_seq
    session.queue.set_gripper(session.now, 0.03)
    assert session.state().head_seq <= head
    session.queue.set_brake(session.now, 0.0)
    session.run(0.5, drawing(session))
    assert session.updates[-1].points.gripper[-1] == 0.03
