"""What a person reads while the arm is followed."""

import math

import numpy as np
import pytest

from telerobot_nodes.cli.macro.live import Progress, seen, shortcomings
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.macros import MotionFollower

ARM = load_robot("arm")


@pytest.fixture
def follower():
    return MotionFollower(ARM)


def joints(follower, begin, end, turn=0.0):
    for time in np.arange(begin, end, 0.02):
        follower.take_joints(time, np.array(ARM.home) + turn * (time - begin) * np.eye(ARM.dof)[0])


def test_every_second_it_says_how_long_and_how_many_motions(follower):
    joints(follower, 0.0, 0.5)
    progress = Progress(follower, 100.0)
    assert progress.line(100.9) == ""
    joints(follower, 0.5, 1.51, turn=0.1)
    assert progress.line(101.0) == "1.5 s, 1 motion"
    assert progress.line(101.5) == ""
    follower.take_fingers(0.0, 0.08)
    follower.take_fingers(1.0, 0.03)
    assert progress.line(102.0) == "1.5 s, 1 motion, the fingers moved"


def test_it_says_since_when_nothing_is_received(follower):
    joints(follower, 0.0, 0.51)
    progress = Progress(follower, 100.0)
    assert "nothing" not in progress.line(101.0)
    assert progress.line(103.0) == "0.5 s, 0 motions; nothing received for 3 s"
    joints(follower, 0.52, 0.6)
    assert "nothing" not in progress.line(104.0)


def test_it_says_what_the_track_does_not_know(follower):
    joints(follower, 0.0, 0.5)
    follower.take_force(0.0, math.nan)
    assert [line.partition(":")[0] for line in shortcomings(follower)] == ["no force was measured", "no fingers"]
    follower.take_force(0.1, 1.0)
    follower.take_fingers(0.1, 0.05)
    assert shortcomings(follower) == []
    follower.take_joints(3.0, np.array(ARM.home))
    assert shortcomings(follower) == [
        "no joints for 2.5 s after 0.5 s: the tool is taken to have moved straight, 0.0 mm"
    ]
    assert seen(follower) == "3.0 s, 0 motions"
