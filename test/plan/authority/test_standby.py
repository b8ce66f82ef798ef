"""A stand-by over a link: it aims at a part of the active plan that the robot has not passed when its claim arrives."""

import numpy as np
import pytest
from brief import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from two_agents import Far, at, sweep

from telerobot_nodes.core.protocol import AuthorityKind, UpdateKind
from telerobot_nodes.plan.authority import StandBy
from telerobot_nodes.plan.authority.standby import UNMEASURED, ActivePlan
from telerobot_nodes.plan.log import PlanPoints, PlanUpdate


def approached(delay, loss=0.0, offset=0.0):
    """Ann sweeps along y; Bob asks, is granted control, and comes to the line `offset` [m] ahead of where she began."""
    two = Far(delay, loss)
    two.run(1.0 + 4 * delay)
    begin = two.now
    ann = sweep(begin, 0.06)
    two.run(1.0, ann=ann, bob=at(0.55, offset))
    two.say("bob", AuthorityKind.REQUEST)
    two.run(1.0 + 3 * delay, ann=ann, bob=at(0.55, offset))
    two.say("ann", AuthorityKind.CONSENT)
    two.run(1.0 + 3 * delay, ann=ann, bob=at(0.41, offset))
    for _ in range(1200):
        y = min(0.06 * (two.now - begin), 0.6)
        two.step({"ann": ann, "bob": at(0.41, max(offset, y - 0.02))})
        if two.robot.receiver.position.authority == "bob":
            break
    return two


@pytest.mark.parametrize("delay", [0.0, 0.3, 1.5])
@pytest.mark.lengthy
def test_the_round_trip_is_measured_by_asking(delay):
    two = approached(delay)
    standby = two.sides["bob"][0]._sync.standby
    assert 2 * delay - 1e-6 <= standby.round_trip <= 2 * delay + 0.1
    assert two.robot.receiver.position.authority == "bob"


def test_without_a_measurement_the_stand_by_aims_rather_too_far_ahead():
    assert StandBy("bob", 1000, 0.05, 0.3).round_trip == UNMEASURED


@pytest.mark.nightly
@settings(max_examples=examples(4, 8), deadline=None)
@given(delay=st.floats(0.0, 1.5), loss=st.sampled_from([0.0, 0.1]), offset=st.floats(0.0, 0.5))
@pytest.mark.lengthy
def test_the_robot_keeps_the_active_plan_exactly_up_to_the_meeting_point(delay, loss, offset):
    two = approached(delay, loss, offset)
    assert two.robot.receiver.position.authority == "bob"
    notices = set()
    for _ in range(round((2.0 + 4 * delay) / 0.01)):
        two.step({"bob": at(0.41, 0.3)})
        notices.add(two.state("bob").notice)
    assert two.state("bob").has_authority
    assert not any("was committed" in notice for notice in notices)
    seqs = [seq for seq, _ in two.robot.executed]
    assert seqs == sorted(set(seqs))


def appended(first, times):
    pose = np.tile([0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0], (len(times), 1))
    points = PlanPoints(first, np.array(times), pose, np.zeros(len(times), np.uint8), "ann")
    return PlanUpdate(UpdateKind.APPEND, False, points)


@pytest.mark.parametrize(
    ("later", "numbers", "times"),
    [
        (appended(3, [0.06]), [1, 2, 3], [0.02, 0.04, 0.06]),
        (appended(1, [0.02, 0.04]), [1, 2], [0.02, 0.04]),  # of her restarted queue: the robot had received none
        (appended(2, [0.03]), [1, 2], [0.02, 0.03]),
        (appended(3, [0.04]), [3], [0.04]),  # earlier than what she had planned: another plan
    ],
)
def test_points_of_an_agent_that_was_restarted_replace_those_that_nobody_received(later, numbers, times):
    plan = ActivePlan(1000)
    plan.follow(appended(1, [0.02, 0.04]))
    plan.follow(later)
    block = plan.store.after(0)
    assert block.seq.tolist() == numbers
    assert block.time.tolist() == times
