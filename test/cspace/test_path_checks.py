"""Checks of given paths and configurations: proved free, or what is too near, where and how much."""

import math

import numpy as np
import pytest

from telerobot_nodes.cspace.geometry import sphere
from telerobot_nodes.cspace.search import Planner
from telerobot_nodes.cspace.service.path_checks import check_motion, state_of
from telerobot_nodes.errors import InvalidValueError

FREE = np.array([[-1.0, 0.2], [-1.0, -0.8]])
THROUGH = np.array([[-1.0, -0.8], [-1.0, 0.2], [1.0, 0.2]])


@pytest.fixture(scope="module")
def planner(planar):
    return Planner(planar, [sphere("ball", 0.1, (0.75, 0.0, 0.0))])


def test_a_free_path_is_free_with_its_least_clearance(planner):
    answer = check_motion(planner, FREE)
    assert (answer.free, answer.message) == (True, "")
    assert 0.0 < answer.clearance <= planner.status(FREE[0])[0]


def test_the_first_motion_that_is_not_free_is_named_with_pair_and_depth(planner):
    answer = check_motion(planner, THROUGH)
    assert not answer.free
    assert answer.segment == 1
    assert answer.clearance < 0.0
    assert answer.message.startswith("segment 1 at ")
    assert "ball" in answer.message
    assert "mm inside the margin" in answer.message


def test_a_path_of_one_waypoint_is_checked_too(planner):
    assert check_motion(planner, FREE[:1]).free
    answer = check_motion(planner, np.array([[0.0, 0.0]]))
    assert not answer.free
    assert answer.message.startswith("waypoint 0: ")


def test_outside_ignores_what_the_arm_does_to_itself(arm):
    planner, q = Planner(arm, []), np.array(arm.robot.home)
    q[4] = arm.robot.limits.upper[4]
    assert not check_motion(planner, [q, q]).free
    assert check_motion(planner, [q, q], outside=True).free


@pytest.mark.parametrize("path", [[], [0.0], [0.0, 9.0], [math.nan, 0.0], "path"])
def test_what_is_no_path_is_refused(planner, path):
    with pytest.raises(InvalidValueError, match="waypoints"):
        check_motion(planner, path)


def test_the_state_of_a_free_configuration(planner):
    state = state_of(planner, FREE[0])
    assert state.free
    assert state.second == "ball" or state.first
    assert state.cell in ("free", "mixed")
    assert state.message.startswith("nearest: ")
    assert state.clearance == planner.status(FREE[0])[0]


def test_the_state_of_a_colliding_configuration_names_the_pair(planner):
    state = state_of(planner, np.array([0.0, 0.0]))
    assert not state.free
    assert state.second == "ball"
    assert state.cell == "full"
    assert "inside the margin" in state.message
