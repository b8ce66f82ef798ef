"""The spline over evenly spaced vertices."""

import numpy as np
import pytest

from telerobot_nodes.core.robot import JointLoad
from telerobot_nodes.plan.shaping import TimeBaseConfig
from telerobot_nodes.plan.shaping.spline_path import DROP_BLOCK, SPACING, SplinePath

CONFIG = TimeBaseConfig()
START = np.array([0.4, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0])


def moved(y=0.0, turn=0.0):
    pose = START.copy()
    pose[1] += y
    pose[3:] = [0.0, 0.0, np.sin(0.5 * turn), np.cos(0.5 * turn)]
    return pose


def line(length=0.1, steps=7):
    path = SplinePath(CONFIG, START, None)
    for k in range(1, steps + 1):
        path.add(moved(length * k / steps), k)
    return path


def test_length_is_travel_time_at_full_speed():
    path = line(0.1)
    assert path.end + path.beyond == pytest.approx(0.1 / CONFIG.speed)


def test_a_turn_has_a_length_too():
    path = SplinePath(CONFIG, START, None)
    for k in range(1, 11):
        path.add(moved(turn=0.04 * k), 1)
    assert path.end + path.beyond == pytest.approx(0.4 / CONFIG.angular_speed, rel=1e-3)


def test_the_spline_passes_through_its_ends_and_is_straight_on_a_line():
    path = line(0.1)
    path.complete(8)
    assert np.allclose(path.pose_at(0.0), START)
    assert np.allclose(path.pose_at(path.end), moved(0.1), atol=1e-12)
    middle = path.pose_at(0.25)
    assert np.allclose(middle, moved(0.25 * CONFIG.speed), atol=1e-12)


def test_poses_beyond_the_ends_are_held():
    path = line()
    path.complete(8)
    assert np.allclose(path.pose_at(-1.0), START)
    assert np.allclose(path.pose_at(9.0), moved(0.1))


def test_orientations_are_unit_quaternions():
    path = SplinePath(CONFIG, START, None)
    path.add(moved(0.02, 0.6), 1)
    path.complete(1)
    for sigma in np.linspace(0.0, path.end, 9):
        assert np.linalg.norm(path.pose_at(sigma)[3:]) == pytest.approx(1.0)


def test_the_opposite_sign_of_a_quaternion_is_the_same_orientation():
    path = SplinePath(CONFIG, START, None)
    opposite = moved(0.02)
    opposite[3:] *= -1.0
    path.add(opposite, 1)
    assert path.end + path.beyond == pytest.approx(0.02 / CONFIG.speed)


def test_every_vertex_has_the_count_at_which_it_was_recorded():
    path = line(0.1, steps=4)
    assert len(path.counts) == len(path)
    assert path.counts == sorted(path.counts)
    assert set(path.counts[1:]) == {1, 2, 3, 4}


def test_a_small_rest_is_no_vertex_of_its_own():
    path = SplinePath(CONFIG, START, None)
    path.add(moved(0.01 * SPACING * CONFIG.speed), 1)
    assert path.is_point
    path.complete(1)
    assert len(path) == 1


def test_dropping_keeps_the_poses_that_follow():
    path = line(0.4, steps=40)
    path.complete(41)
    sigma = 100 * SPACING
    before = [path.pose_at(s) for s in (sigma, sigma + 0.1, path.end)]
    n, end = len(path), path.end
    path.drop_before(sigma)
    assert len(path) < n - DROP_BLOCK
    assert path.end == pytest.approx(end)
    assert np.allclose([path.pose_at(s) for s in (sigma, sigma + 0.1, end)], before)


def test_few_vertices_are_not_dropped():
    path = line(0.4, steps=40)
    n = len(path)
    path.drop_before(DROP_BLOCK * SPACING)
    assert len(path) == n


def test_joints_at_their_limits_limit_the_speed():
    path = SplinePath(CONFIG, START, lambda poses, spacing: JointLoad(velocity=4.0 * spacing / SPACING))
    path.add(moved(0.1), 1)
    squares, _ = path.limits.limits(len(path) - 1, 1.0)
    assert squares[5] == pytest.approx(1.0 / 16.0)
