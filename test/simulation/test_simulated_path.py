"""Joint solutions along one path."""

import numpy as np
import pytest

from telerobot_nodes.core.protocol import ConflictKind
from telerobot_nodes.core.robot import Kinematics, load_robot
from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.errors import InvalidValueError, QueueFullError
from telerobot_nodes.simulation.simulated_path import SimulatedPath

ROBOT = load_robot("arm")
HOME = pose_from_se3(ROBOT.forward(ROBOT.home))


def line(n, start=0.0):
    rows = np.tile(HOME, (n, 1))
    rows[:, 1] += start + 0.001 * np.arange(1, n + 1)
    return rows


def times(n, first=1):
    return 0.02 * np.arange(first, first + n)


@pytest.fixture
def path():
    found = SimulatedPath(Kinematics(ROBOT), ROBOT.home, 500)
    found.append(1, times(20), line(20))
    return found


def test_joints_reach_the_poses(path):
    assert len(path) == 20
    assert pose_from_se3(ROBOT.forward(path.q[-1])) == pytest.approx(line(20)[-1], abs=1e-5)


def test_joints_are_continuous(path):
    path.append(21, times(20, 21), line(20, 0.02))
    assert np.abs(np.diff(path.q, axis=0)).max() < 0.02


def test_joints_between_points_are_interpolated_and_held_outside(path):
    middle = 0.5 * (path.q[3] + path.q[4])
    assert path.at(0.5 * (path.time[3] + path.time[4])) == pytest.approx(middle)
    assert np.array_equal(path.at(-1.0), path.q[0])
    assert np.array_equal(path.at(99.0), path.q[-1])


@pytest.mark.parametrize(
    ("first_seq", "time", "n", "error", "match"),
    [
        (20, 1.0, 1, InvalidValueError, r"first_seq.*above 20"),
        (21, 0.3, 1, InvalidValueError, r"time\[0\]"),
        (21, 1.0, 481, QueueFullError, "allowed: 480 more"),
    ],
)
def test_a_refused_append_adds_nothing(path, first_seq, time, n, error, match):
    with pytest.raises(error, match=match):
        path.append(first_seq, time + times(n), line(n, 0.02))
    assert len(path) == 20
    assert len(path.time) == len(path.q) == 21


def test_points_out_of_reach_are_marked_and_the_arm_stays(path):
    far = line(3, 0.02)
    far[1, 0] = 9.0
    path.append(21, times(3, 21), far)
    assert path.conflict[-3:].tolist() == [ConflictKind.NONE, ConflictKind.OUT_OF_REACH, ConflictKind.NONE]
    assert np.array_equal(path.q[-2], path.q[-3])


def test_known_points_are_recognised_by_number_and_time(path):
    assert path.known(15, times(10, 15)) == 6
    assert path.known(15, 0.001 + times(10, 15)) == 0
    assert path.known(21, times(10, 21)) == 0


def test_both_ends_are_cut(path):
    path.truncate(15)
    path.drop_before(float(path.time[5]))
    assert path.seq.tolist() == list(range(5, 16))
    assert len(path) == 10
    path.truncate(0)
    assert len(path) == 0


def test_every_point_is_examined_once_until_the_world_changes(path):
    assert list(path.unchecked(15)) == list(range(1, 16))
    assert list(path.unchecked(15)) == list(range(16, 21))
    assert list(path.unchecked(15)) == []
    path.conflict[3], path.conflict[4] = ConflictKind.COLLISION, ConflictKind.OUT_OF_REACH
    path.uncheck()
    assert path.conflict[3:5].tolist() == [ConflictKind.NONE, ConflictKind.OUT_OF_REACH]
    assert len(path.unchecked(100)) == 20


def test_dropped_and_deleted_points_are_not_examined(path):
    path.unchecked(10)
    path.drop_before(float(path.time[5]))
    assert list(path.unchecked(3)) == [6, 7, 8]  # rows of the points 11, 12 and 13
    path.truncate(12)
    assert list(path.unchecked(9)) == []


def test_a_restart_begins_anew(path):
    path.restart(ROBOT.home, 3.0)
    assert (len(path), path.time.tolist(), path.seq.tolist()) == (0, [3.0], [0])
    path.append(1, 2.0 + times(2), line(2))
    assert path.time[0] == pytest.approx(2.02)  # the start is not after the first point
