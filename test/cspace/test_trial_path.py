"""Trial paths [US5347459 claims 5, 6]: the straight motion, then waypoints beside what it collides with."""

from itertools import pairwise

import numpy as np
import pytest

from telerobot_nodes.cspace.geometry import box, sphere, world_of
from telerobot_nodes.cspace.search import EdgeValidator
from telerobot_nodes.cspace.search.edge_validation import edges_of
from telerobot_nodes.cspace.search.trial_path import orthogonal_basis, trial_of, trial_path

WORLD = world_of([sphere("ball", 0.06, (0.8, 0.0, 0.0))])
START, GOAL = np.array([-1.2, 0.2]), np.array([1.2, 0.2])


def tried(planar, world, start, goal, budget=600):
    edges, trial = edges_of(planar.arm, 1), trial_of(2)
    edges.effort.budget = budget
    count = trial_path(planar.arm, world, edges, trial, start, goal, 1e-3)
    return trial.path[:count], edges


def test_a_free_straight_motion_is_the_path(planar):
    path, _ = tried(planar, WORLD, START, np.array([-1.0, -0.5]))
    assert path == pytest.approx(np.array([START, [-1.0, -0.5]]))


def test_waypoints_lead_around_an_obstacle_and_every_motion_is_free(planar):
    path, _ = tried(planar, WORLD, START, GOAL)
    assert len(path) > 2
    assert np.array_equal(path[0], START)
    assert np.array_equal(path[-1], GOAL)
    validator = EdgeValidator(planar.arm, WORLD)
    assert all(validator.free(a, b) for a, b in pairwise(path))


def test_no_path_within_the_budget_and_none_through_a_wall(planar):
    assert len(tried(planar, WORLD, START, GOAL, budget=20)[0]) == 0
    wall = world_of([box("wall", (0.1, 0.6, 0.2), (0.45, 0.0, 0.0))])
    path, edges = tried(planar, wall, np.array([-1.6, 0.1]), np.array([1.6, 0.1]))
    assert len(path) == 0
    assert edges.effort.probes < 700


@pytest.mark.parametrize("dof", [2, 3, 6, 7])
def test_a_basis_is_orthogonal_to_any_direction(dof):
    rng, basis = np.random.default_rng(dof), np.zeros((dof, dof))
    for direction in [*rng.normal(size=(10, dof)), *np.eye(dof)]:
        assert orthogonal_basis(direction, basis) == dof - 1
        rows = basis[: dof - 1]
        assert rows @ direction == pytest.approx(np.zeros(dof - 1), abs=1e-12)
        assert rows @ rows.T == pytest.approx(np.eye(dof - 1), abs=1e-12)
