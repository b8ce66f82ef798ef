"""The rival of the study: the arm follows the newest hand as fast as its joints can, one way late."""

import numpy as np
import pytest

from telerobot_nodes.bench.study.delay_rig import STEP
from telerobot_nodes.bench.study.direct_rig import DirectRig
from telerobot_nodes.core.robot import load_robot

TO_SIDE = np.array([0.0, 0.1, 0.0])


def reaches(rig, hand, longest=20.0):
    """Seconds until the arm is within 1 mm of the hand, and until that is seen; the fastest joint of its limit [-]."""
    there, begin, fastest = None, rig.now, 0.0
    before = np.array(rig._state.current_position)
    while rig.now - begin < longest:
        rig.step(hand)
        joints = np.array(rig._state.current_position)
        fastest = max(fastest, float(np.max(np.abs(joints - before) / STEP / rig.robot.limits.velocity)))
        before = joints
        if there is None and np.linalg.norm(rig.arm[:3] - rig.start[:3] - hand) < 1e-3:
            there = rig.now - begin
        if np.linalg.norm(rig.seen_arm[:3] - rig.start[:3] - hand) < 1e-3:
            return there, rig.now - begin, fastest
    raise AssertionError("the arm never came")


@pytest.mark.parametrize("round_trip", [0.0, 1.0, 4.0])
def test_the_arm_is_there_a_way_late_and_seen_a_round_trip_late(round_trip):
    arm = load_robot("arm")
    at_once, _, fastest = reaches(DirectRig(0.0, 1, arm), TO_SIDE)
    there, seen, _ = reaches(DirectRig(round_trip, 1, arm), TO_SIDE)
    assert there - at_once == pytest.approx(0.5 * round_trip, abs=2 * STEP)
    assert seen - there == pytest.approx(0.5 * round_trip, abs=4 * STEP)
    assert at_once < 1.0
    assert fastest <= 1.0 + 1e-6


def test_what_was_overtaken_on_the_link_is_dropped():
    rig = DirectRig(1.0, 3, load_robot("arm"), jitter=0.5)
    places = []
    for k in range(500):
        rig.step(TO_SIDE * min(k / 200, 1.0))
        places.append(rig.seen_arm[1])
    assert min(np.diff(places)) >= -1e-4  # never back
    assert places[-1] - rig.start[1] == pytest.approx(0.1, abs=1e-3)


def test_out_of_reach_the_arm_stays_where_it_could_go():
    rig = DirectRig(0.0, 1, load_robot("arm"))
    for k in range(200):
        rig.step(np.array([0.0, 0.02 * k, 0.0]))
    assert np.isfinite(rig.arm).all()
    assert 0.05 < rig.arm[1] - rig.start[1] < 3.0
