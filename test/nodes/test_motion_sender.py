"""A motion goes to the forward simulation in parts as it grows; another replaces it."""

import numpy as np
import pytest

pytest.importorskip("rclpy")

from telerobot_nodes.nodes.menus import Motion, MotionSender
from telerobot_nodes.nodes.menus.motion import MOST

NAMES = ("a", "b")


@pytest.fixture
def sent():
    return []


@pytest.fixture
def sender(sent):
    return MotionSender(sent.append, NAMES)


def seconds(message):
    return [point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec for point in message.points]


def stamp(message):
    return message.header.stamp.sec, message.header.stamp.nanosec


def test_parts_of_one_motion_have_one_stamp_and_each_point_is_sent_once(sender, sent):
    motion = Motion()
    sender.draw(motion)
    assert sent == []
    motion.add(0.25, np.array([1.0, 2.0]))
    sender.draw(motion)
    sender.draw(motion)
    motion.add(61.5, np.array([3.0, 4.0]))
    sender.draw(motion)
    assert [seconds(part) for part in sent] == [[0.25], [61.5]]
    assert [list(part.points[0].positions) for part in sent] == [[1.0, 2.0], [3.0, 4.0]]
    assert sent[0].joint_names == ["a", "b"]
    assert stamp(sent[0]) == stamp(sent[1])


def test_a_long_motion_is_sent_a_part_at_a_time(sender, sent):
    motion = Motion()
    for number in range(MOST + 1):
        motion.add(0.1 * number, np.zeros(2))
    sender.draw(motion)
    sender.draw(motion)
    assert [len(part.points) for part in sent] == [MOST, 1]


def test_another_motion_has_another_stamp_and_none_ends_it(sender, sent):
    for _ in range(2):
        motion = Motion()
        motion.add(0.0, np.zeros(2))
        sender.draw(motion)
    sender.draw(None)
    sender.draw(None)
    assert [len(part.points) for part in sent] == [1, 1, 0]
    assert len({stamp(part) for part in sent}) == 3


def test_what_somebody_else_draws_is_cleared_too(sender, sent):
    sender.draw(None)
    assert sent == []
    sender.clear()
    assert [len(part.points) for part in sent] == [0]
