"""A path is cut where it bends, and only there."""

import numpy as np
import pytest

from telerobot_nodes.rtc.elaboration import joint_corners, pose_length, straight_pieces, task_corners
from telerobot_nodes.rtc.skills.pose_functions import arc_turned

CORNER = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0], [2, 2, 0]], dtype=float)
POSES = np.hstack((0.1 * CORNER, np.tile([0, 1, 0, 0.0], (5, 1))))


def test_a_joint_path_is_cut_where_it_bends():
    assert joint_corners(np.hstack((CORNER, CORNER))) == (0, 2, 4)


def test_a_task_path_is_cut_where_it_bends():
    assert task_corners(POSES) == (0, 2, 4)


def test_one_point_is_a_piece_of_no_length():
    assert task_corners(POSES[:1]) == joint_corners(CORNER[:1]) == (0, 0)


@pytest.mark.parametrize(("bend", "corners"), [(0.0009, (0, 2)), (0.0011, (0, 1, 2))])
def test_a_joint_point_within_a_milliradian_of_the_line_is_left_out(bend, corners):
    assert joint_corners(np.array([[0.0, 0.0], [0.5, bend], [1.0, 0.0]])) == corners


def test_a_turn_without_translation_is_a_corner():
    turned = POSES[:3].copy()
    turned[1, 3:] = [0, np.cos(0.05), np.sin(0.05), 0]
    assert task_corners(turned) == (0, 1, 2)


def test_a_motion_forth_and_back_is_two_pieces():
    assert joint_corners(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])) == (0, 1, 2)


def test_a_motion_that_comes_half_the_way_back_is_two_pieces():
    out_and_back = np.concatenate((np.linspace(0.0, 1.0, 11), np.linspace(0.95, 0.5, 10)))
    assert joint_corners(np.column_stack((out_and_back, out_and_back))) == (0, 10, 20)


@pytest.mark.parametrize("rows", [9, 100, 399])
@pytest.mark.parametrize("bend", [1, 2, 7])
def test_corners_are_found_in_pieces_of_any_length(rows, bend):
    path = np.zeros((rows + bend, 7))
    path[:, 6] = 1.0
    path[:rows, 0] = 0.03 * np.arange(rows)
    path[rows:, :2] = np.column_stack((np.full(bend, path[rows - 1, 0]), 0.03 * np.arange(1, bend + 1)))
    assert task_corners(path) == joint_corners(path) == (0, rows - 1, rows + bend - 1)


@pytest.mark.parametrize(("corners", "path"), [(task_corners, "task"), (joint_corners, "joint")])
def test_the_work_grows_no_faster_than_n_log_n(monkeypatch, corners, path):
    """Twice the points: a little over twice the rows looked at; all pairs of rows would be four times."""
    rows = {}
    for count in (200, 400):
        line = np.zeros((count, 7))
        line[:, 0], line[:, 6] = 0.03 * np.arange(count), 1.0
        looked, name = [], "_is_straight" if path == "task" else "_is_line"
        true = getattr(straight_pieces, name)
        monkeypatch.setattr(straight_pieces, name, lambda part, f=true, seen=looked: seen.append(len(part)) or f(part))
        assert corners(line) == (0, count - 1)
        monkeypatch.setattr(straight_pieces, name, true)
        rows[count] = sum(looked)
    assert rows[400] < 2.5 * rows[200] and rows[400] < 10 * 400


def test_a_radian_counts_as_ten_centimetres():
    half = np.array([0, 0, 0, 0, 0, np.sin(0.5), np.cos(0.5)])
    assert pose_length(np.array([0, 0, 0, 0, 0, 0, 1.0]), half) == pytest.approx(0.1, abs=1e-6)


def test_an_arc_on_which_the_tool_turns_is_not_straight():
    """The executive moves the tool's origin on a line; a screw motion would be an arc."""
    axis = np.array([0.8, 0.4, 0.28, 0, 0, 0, 1.0])
    poses = np.array(arc_turned([0.77, 0.25, 0.295, 0, 1, 0, 0], axis, -1.2))
    assert task_corners(poses) == tuple(range(len(poses)))
