"""A stand-by over a link: it aims at a part of the active plan that the robot has not passed when its claim arrives."""

import numpy as np
import pytest
from brief import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from two_agents import Far, Two, at, sweep

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


def to_and_fro(begin, speed=0.1):
    return lambda now: [0.4, 0.2 * abs((speed * (now - begin) / 0.2 + 1.0) % 2.0 - 1.0), 0.4, 0.0, 0.0, 0.0, 1.0]


def test_who_stands_by_for_long_has_forgotten_what_was_executed_and_still_meets_the_plan():
    two = Two(0.0, capacity=600)
    two.run(1.0)
    ann = to_and_fro(two.now)
    two.run(20.0, ann=ann, bob=at(0.55, 0.1))  # 1,000 points
    active = two.sides["bob"][0]._sync.standby.active.store
    assert two.robot.executed_seq > 900
    assert 0 < len(active) < 100
    assert active.last_seq >= two.robot.executed_seq
    two.say("bob", AuthorityKind.REQUEST)
    two.say("ann", AuthorityKind.CONSENT)
    two.run(5.0, ann=ann, bob=at(0.41, 0.1))
    assert two.robot.receiver.position.authority == "bob"


def test_a_stand_by_that_rests_does_not_fill_its_trial_path():
    two = Two(0.0, capacity=600)
    two.run(1.0)
    two.run(15.0, bob=at(0.45, 0.1))
    resting = two.state("bob").trial_length
    two.run(15.0, bob=at(0.45, 0.1))
    assert two.state("bob").trial_length == resting > 0
    two.run(2.0, bob=at(0.45, 0.15))
    assert two.state("bob").trial_length > resting
    assert two.sides["bob"][0]._recorder.trial.head_pose[1] == pytest.approx(0.15, abs=1e-3)


def test_who_plans_and_rests_lays_dwell():
    two = Two(0.0)
    two.run(1.0)
    two.run(2.0, ann=at(0.45, 0.0))
    resting = two.state("ann").head_seq
    two.run(1.0, ann=at(0.45, 0.0))
    assert two.state("ann").head_seq == resting + 50
