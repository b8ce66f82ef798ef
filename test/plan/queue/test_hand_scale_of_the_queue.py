"""The hand's scale as a control of the queue: points laid from now on, refusals counted, settings kept."""

import numpy as np
import pytest
from queue_session import assert_executed_as_shown, drawing, ready

from telerobot_nodes.errors import InvalidValueError


@pytest.mark.lengthy
@pytest.mark.parametrize("engaged", [True, False], ids=["time clutch engaged", "time clutch disengaged"])
def test_points_are_laid_by_the_scale_in_force_and_executed_as_shown(make, engaged):
    session = ready(make())
    session.queue.set_time_clutch(session.now, engaged)
    ways = []
    for linear in (1.0, 0.2):
        session.queue.set_hand_scale(session.now, linear=linear)
        before = session.state().target_pose[1]
        session.run(1.0, drawing(session))
        session.run(1.0)
        ways.append(session.state().target_pose[1] - before)
    assert ways[1] == pytest.approx(0.2 * ways[0], rel=0.02)
    session.run(4.0)
    assert_executed_as_shown(session)


def test_the_state_shows_what_is_in_force(make):
    session = ready(make())
    session.queue.set_hand_scale(session.now, linear=0.5, turns=False)
    session.queue.set_hand_scale(session.now, angular=2.0)
    state = session.state()
    assert (state.linear_scale, state.angular_scale, state.orientation_clutch) == (0.5, 2.0, False)


@pytest.mark.parametrize("change", [{"linear": -1.0}, {"angular": np.nan}, {"linear": 11.0, "angular": 2.0}])
def test_a_scale_out_of_range_is_refused_and_nothing_changes(make, change):
    session = ready(make())
    before = session.state()
    with pytest.raises(InvalidValueError, match="_scale"):
        session.queue.set_hand_scale(session.now, **change)
    after = session.state()
    assert (after.linear_scale, after.angular_scale) == (1.0, 1.0)
    assert after.refused == before.refused + 1
