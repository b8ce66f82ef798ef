"""An arm is followed from made-up samples: poses and motions as in a recording; gaps, repeats and NaN are borne."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.macros import MotionFollower, Track, learn
from telerobot_nodes.macros.learn import pieces

ARM = load_robot("arm")
RATE = 200.0  # [1/s]
EPOCH = 1.7e9  # [s] as in stamps of a graph
TURN = 0.05  # [rad] of the first joint, which is some centimetres of the tool


def shown(*parts):
    """Turns (n,) [rad] of the first joint at RATE, from pairs of duration [s] and how far it turns [rad]."""
    turns, at = [], 0.0
    for seconds, way in parts:
        share = np.linspace(0.0, 1.0, round(RATE * seconds), endpoint=False)
        turns.append(at + share * way)
        at += way
    return np.concatenate((*turns, [at]))


def joints(turn):
    return np.array(ARM.home) + turn * np.eye(ARM.dof)[0]


def followed(turns, begin=EPOCH):
    follower = MotionFollower(ARM)
    for k, turn in enumerate(turns):
        follower.take_joints(begin + k / RATE, joints(turn))
    return follower


def test_samples_are_evenly_spaced_poses_of_the_measured_joints():
    turns = shown((0.5, 0.0), (1.0, TURN), (0.5, 0.0))
    follower = followed(turns)
    track = follower.track()
    assert follower.seconds == pytest.approx(2.0, abs=1e-5)
    assert track.time == pytest.approx(0.02 * np.arange(101))
    for k in (0, 30, 51, 100):
        turn = np.interp(track.time[k], np.arange(len(turns)) / RATE, turns)
        assert track.pose[k] == pytest.approx(pose_from_se3(ARM.forward(joints(turn))), abs=1e-6)
    assert (follower.motions, follower.dropped, follower.gaps) == (1, 0, ())
    assert "cartesian_guarded" in learn(track, "m", "d", "relative")


@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.3, 1.0), st.booleans()), min_size=1, max_size=5))
@settings(max_examples=20, deadline=None)
def test_the_motions_that_are_counted_are_those_that_will_be_learned(motions):
    """Rests of 0.06 s join two motions, of 0.3 s and more part them; what lies close to 0.2 s may be either."""
    parts = [(0.5, 0.0)]
    for rest, seconds, back in motions:
        parts += [(seconds, -TURN if back else TURN), (0.06 if rest < 0.3 else rest, 0.0)]
    follower = followed(shown(*parts, (0.5, 0.0)))
    assert follower.motions == len([1 for begin, end in pieces(follower.track()) if begin < end])


def test_an_arm_at_rest_has_no_motion_and_learning_says_so():
    follower = followed(shown((2.0, 0.0)))
    assert (follower.motions, follower.fingers_moved) == (0, False)
    with pytest.raises(InvalidValueError, match=r"2\.0 s in which nothing moved"):
        learn(follower.track(), "m", "d", "relative")


def test_repeated_and_earlier_stamps_and_numbers_that_are_none_are_dropped():
    turns = shown((0.5, 0.0), (1.0, TURN), (0.5, 0.0))
    clean, follower = followed(turns).track(), MotionFollower(ARM)
    for k, turn in enumerate(turns):
        follower.take_joints(EPOCH + k / RATE, joints(turn))
        follower.take_joints(EPOCH + k / RATE, joints(2.0))
        follower.take_joints(EPOCH + (k - 3) / RATE, joints(2.0))
        follower.take_joints(EPOCH + k / RATE + 1e-3, np.full(ARM.dof, np.nan))
        follower.take_joints(math.nan, joints(2.0))
    assert follower.dropped == 4 * len(turns)
    assert follower.track().pose == pytest.approx(clean.pose)


def test_a_gap_is_reported_with_its_way_and_crossed_straight():
    turns = shown((1.0, 0.0), (1.0, TURN), (1.0, 0.0))
    follower = MotionFollower(ARM)
    for k, turn in enumerate(turns):
        if not 1.2 < k / RATE < 2.5:
            follower.take_joints(EPOCH + k / RATE, joints(turn))
    (gap,) = follower.gaps
    assert (gap.begin, gap.seconds) == (pytest.approx(1.2, abs=1e-5), pytest.approx(1.3, abs=1e-5))
    track = follower.track()
    far = np.linalg.norm(track.pose[-1, :3] - track.pose[60, :3])
    assert gap.way == pytest.approx(far, rel=0.2)  # with the turn
    assert far > 0.01
    assert len(track.time) == 151
    middle = pose_from_se3(ARM.forward(joints(0.6 * TURN)))[:3]
    assert track.pose[92, :3] == pytest.approx(middle, abs=5e-4)


def test_short_pauses_between_samples_are_no_gap():
    follower = MotionFollower(ARM)
    for k in range(20):
        follower.take_joints(EPOCH + 0.05 * k, joints(0.0))
    assert follower.gaps == ()
    assert len(follower.track().time) == pytest.approx(48, abs=1)


def test_a_stamp_of_another_clock_is_refused():
    follower = followed(shown((0.1, 0.0)))
    with pytest.raises(InvalidValueError, match=r"joints \(time\)"):
        follower.take_joints(EPOCH + 1e6, joints(0.0))


def test_the_force_is_that_of_its_times_and_a_force_that_is_none_is_left_out():
    follower = followed(shown((2.0, TURN)))
    for k in range(400):
        follower.take_force(EPOCH + k / RATE, math.nan if k % 3 else 4.0 * k / RATE)
    track = follower.track()
    assert track.force[:90] == pytest.approx(4.0 * track.time[:90], abs=1e-3)
    assert follower.measured == ("force",)


def test_a_force_that_is_only_nan_counts_as_none():
    follower = followed(shown((1.0, TURN)))
    for k in range(200):
        follower.take_force(EPOCH + k / RATE, math.nan)
    assert (follower.measured, follower.track().force.max()) == ((), 0.0)


def test_without_a_gripper_only_the_motion_is_learned():
    follower = followed(shown((0.5, 0.0), (1.0, TURN), (0.5, 0.0)))
    for k in range(100):
        follower.take_fingers(EPOCH + k / 50.0, math.nan, math.nan)
    assert follower.measured == ()
    track = follower.track()
    assert np.isnan(track.reference).all()
    assert "grasp" not in learn(track, "m", "d", "relative")


@pytest.mark.parametrize(("reference", "kind"), [(0.0, "compliant_grasp"), (0.02, "free_grasp")])
def test_fingers_that_closed_are_a_grasp(reference, kind):
    follower = followed(shown((0.5, 0.0), (1.0, TURN), (1.5, 0.0)))
    for k in range(150):
        follower.take_fingers(EPOCH + k / 50.0, 0.08 if k < 100 else 0.02, 0.08 if k < 100 else reference)
    assert follower.fingers_moved
    assert kind in learn(follower.track(), "m", "d", "relative")


def test_joints_of_another_robot_and_too_few_samples_are_refused():
    follower = MotionFollower(ARM)
    assert (follower.received, follower.seconds) == (False, 0.0)
    with pytest.raises(InvalidValueError, match=r"joints \(length\): 2"):
        follower.take_joints(EPOCH, [0.0, 0.0])
    follower.take_joints(EPOCH, joints(0.0))
    assert follower.received
    with pytest.raises(InvalidValueError, match=r"0\.02 s of them or more"):
        follower.track()
    follower.take_joints(EPOCH + 0.021, joints(0.0))
    assert isinstance(follower.track(), Track)
