"""Planned paths with timing and display data."""

from itertools import pairwise

import numpy as np
import pytest

from telerobot_nodes.cspace.geometry import sphere
from telerobot_nodes.cspace.search import Planner
from telerobot_nodes.cspace.service.timed_path import timed_path, tool_motion

START, GOAL = np.array([-1.2, 0.2]), np.array([1.2, 0.2])


@pytest.fixture(scope="module")
def planner(planar):
    return Planner(planar, [sphere("ball", 0.1, (0.75, 0.0, 0.0))])


@pytest.fixture(scope="module")
def path(planner):
    return timed_path("left", planner, planner.plan(START, GOAL), 0.5, 0.02, display=True)


def test_it_starts_and_ends_at_rest_and_is_sampled_evenly(path):
    assert path.positions[0] == pytest.approx(START)
    assert path.positions[-1] == pytest.approx(GOAL, abs=1e-9)
    assert np.abs(path.velocities[[0, -1]]).max() < 1e-6
    steps = np.diff(path.times)
    assert steps[:-1] == pytest.approx(np.full(len(steps) - 1, 0.02))
    assert 0.0 < steps[-1] <= 0.02 + 1e-9


def test_half_speed_is_half_of_the_velocity_limits(path, planar):
    fastest = np.abs(path.velocities).max(axis=0)
    assert (fastest <= 0.5 * planar.robot.limits.velocity + 1e-9).all()


def test_the_display_follows_the_tool_and_its_clearance(path, planner):
    display = path.display
    assert display.points[0] == pytest.approx(planner.geometry.robot.forward(START).translation)
    assert len(display.points) == len(display.clearance) == len(display.self_clearance)
    assert display.clearance.min() > 0.0
    assert len(display.cell_radius) == path.cells > 0


def test_a_cell_s_sphere_holds_the_tool_anywhere_in_the_cell(planner):
    q, half = np.array([0.3, -0.4]), np.array([0.2, 0.3])
    forward = planner.geometry.robot.forward
    radius = tool_motion(planner.geometry, q, half)
    for u in np.random.default_rng(1).uniform(-1.0, 1.0, (200, 2)):
        assert np.linalg.norm(forward(q + u * half).translation - forward(q).translation) <= radius + 1e-12


def test_a_path_of_one_waypoint_takes_no_time(planner):
    path = timed_path("left", planner, planner.plan(START, START), 1.0, 0.02, display=True)
    assert path.times[-1] == 0.0
    assert all(np.array_equal(a, b) for a, b in pairwise(path.positions))
