"""A simulated or practised motion: its arm in its own time, its line, its conflicts."""

import numpy as np
import pytest

from telerobot_nodes.core.protocol import ConflictKind
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.simulation import SimulatedMotion

ROBOT = load_robot("arm")
HOME = np.array(ROBOT.home)


class Wall:
    """Collisions beyond an angle of the first joint."""

    def __init__(self, angle):
        self.angle = angle

    unexamined = ""

    def collisions(self, path):
        return [("link with wall", 0.01) if q[0] > self.angle else ("", 0.0) for q in path]


def turned(*angles):
    rows = np.tile(HOME, (len(angles), 1))
    rows[:, 0] += angles
    return rows


@pytest.fixture
def motion():
    return SimulatedMotion(ROBOT)


def test_there_is_none_at_first_and_after_it_is_cleared(motion):
    assert motion.at(0.0) is None
    motion.extend(np.array([0.0, 1.0]), turned(0.0, 0.1), 5.0)
    assert motion.at(5.0) is not None
    motion.clear()
    assert motion.at(5.0) is None
    assert len(motion.line(10).places) == 0


def test_it_begins_when_its_first_point_comes_and_is_held_at_its_end(motion):
    motion.extend(np.array([2.0, 3.0]), turned(0.0, 0.1), 50.0)
    for now, turn in ((40.0, 0.0), (50.0, 0.0), (50.5, 0.05), (51.0, 0.1), (90.0, 0.1)):
        assert motion.at(now)[0] - HOME[0] == pytest.approx(turn)
    motion.extend(np.array([4.0]), turned(0.3), 51.0)
    assert motion.at(51.5)[0] - HOME[0] == pytest.approx(0.2)


def test_its_line_goes_along_the_tool_to_the_last_point(motion):
    rows = turned(*np.linspace(0.0, 0.5, 500))
    motion.extend(0.01 * np.arange(500), rows, 0.0)
    line = motion.line(100)
    assert 50 <= len(line.places) <= 101
    assert line.places[-1] == pytest.approx(ROBOT.forward(rows[-1]).translation)
    assert not line.kinds.any()


def test_its_conflicts_are_red_and_told_and_looked_for_again_in_another_world():
    wall = Wall(HOME[0] + 0.25)
    motion = SimulatedMotion(ROBOT, wall)
    motion.extend(0.1 * np.arange(6), turned(0.0, 0.1, 0.2, 0.3, 0.4, 0.5), 0.0)
    assert motion.conflicts().count == 0  # not examined yet
    assert motion.check() == 6
    assert motion.check() == 0
    assert motion.conflicts().count == 3
    assert motion.conflicts().text.startswith("simulated motion: ")
    assert "link with wall" in motion.conflicts().text
    assert motion.line(100).kinds.tolist() == [0, 0, 0, *(3 * [ConflictKind.COLLISION])]
    wall.angle = 10.0
    motion.recheck()
    motion.check()
    assert motion.conflicts().count == 0
    wall.angle = HOME[0] + 0.25
    motion.recheck()
    motion.check()
    assert motion.conflicts().count == 3
    motion.clear()
    assert motion.conflicts().count == 0


@pytest.mark.parametrize(
    ("time", "joints", "named"),
    [
        ([0.0, np.nan], turned(0.0, 0.1), "motion.time"),
        ([1.0, 0.5], turned(0.0, 0.1), "motion.time"),
        ([-1.0, 0.5], turned(0.0, 0.1), "motion.time"),
        ([0.0], turned(0.0)[:, :5], "motion.joints"),
        ([0.0], turned(0.0, 0.1), "motion.joints"),
        ([0.0], turned(np.inf), "motion.joints"),
        ([0.0, 1.0], turned(-1.7e308, 1.7e308), "motion.joints"),
    ],
)
def test_what_is_no_motion_is_rejected_and_changes_nothing(motion, time, joints, named):
    with pytest.raises(InvalidValueError, match=named):
        motion.extend(np.array(time), joints, 0.0)
    assert len(motion) == 0
    motion.extend(np.array([3.0]), turned(0.2), 0.0)
    with pytest.raises(InvalidValueError, match=named):
        motion.extend(np.array(time), joints, 0.0)
    assert len(motion) == 1


def test_another_motion_replaces_it_only_when_it_is_one(motion):
    motion.extend(np.array([0.0, 1.0]), turned(0.0, 0.1), 5.0)
    with pytest.raises(InvalidValueError, match=r"motion\.time"):
        motion.extend(np.array([-1.0]), turned(0.3), 6.0, new=True)
    assert len(motion) == 2
    motion.extend(np.array([0.5]), turned(0.3), 7.0, new=True)  # before the end of the other
    assert len(motion) == 1
    assert motion.at(7.0)[0] - HOME[0] == pytest.approx(0.3)
    motion.extend(np.empty(0), turned(), 8.0, new=True)
    assert motion.at(8.0) is None


def test_what_exceeds_its_capacity_is_left_out():
    motion = SimulatedMotion(ROBOT, capacity=3)
    for first in (0.0, 2.0):
        motion.extend(np.array([first, first + 1.0]), turned(first, first + 1.0), 0.0)
    assert len(motion) == 3
    assert motion.at(9.0)[0] - HOME[0] == pytest.approx(2.0)
