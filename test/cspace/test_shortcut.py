"""Shortcutting: shorter, still free, ends kept; and the arithmetic along paths."""

from itertools import pairwise

import numpy as np
import pytest

from telerobot_nodes.cspace.geometry import sphere, world_of
from telerobot_nodes.cspace.search import EdgeValidator, path_length, path_samples
from telerobot_nodes.cspace.search.edge_validation import edges_of
from telerobot_nodes.cspace.search.shortcut import MOST, _point_at, halton, length_of, shorten

EMPTY, WORLD = world_of([]), world_of([sphere("ball", 0.06, (0.8, 0.0, 0.0))])
DETOUR = np.array([[-1.2, 0.2], [-1.2, 1.8], [-0.5, 2.2], [0.3, 1.9], [1.2, 2.0], [1.2, 0.2]])


def shortened(planar, world, path, budget=2000, rounds=60):
    edges, rows = edges_of(planar.arm, 1), np.zeros((MOST, 2))
    edges.effort.budget = budget
    rows[: len(path)] = path
    count = shorten(world, edges, rows, len(path), 1e-3, rounds)
    return rows[:count]


@pytest.mark.nightly
@pytest.mark.lengthy
def test_in_an_empty_world_only_the_ends_are_left(planar):
    assert shortened(planar, EMPTY, DETOUR) == pytest.approx(DETOUR[[0, -1]])


def test_around_an_obstacle_the_path_gets_shorter_and_stays_free(planar):
    path = shortened(planar, WORLD, DETOUR)
    assert np.array_equal(path[0], DETOUR[0])
    assert np.array_equal(path[-1], DETOUR[-1])
    assert path_length(path) < 0.8 * path_length(DETOUR)
    validator = EdgeValidator(planar.arm, WORLD)
    assert all(validator.free(a, b) for a, b in pairwise(path))


def test_without_a_budget_the_path_stays_as_it_is(planar):
    assert shortened(planar, WORLD, DETOUR, budget=0) == pytest.approx(DETOUR)


@pytest.mark.parametrize(
    ("length", "motion", "point"),
    [(0.0, 0, (0.0, 0.0)), (0.5, 0, (0.5, 0.0)), (1.0, 1, (1.0, 0.0)), (2.5, 1, (1.0, 1.5)), (9.0, 1, (1.0, 2.0))],
)
def test_a_point_along_a_path(length, motion, point):
    path, found = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]]), np.zeros(2)
    assert _point_at(path, 3, length, found) == motion
    assert found == pytest.approx(point)


def test_the_halton_sequence_begins_as_it_should():
    assert [halton(i, 2) for i in range(1, 5)] == pytest.approx([1 / 2, 1 / 4, 3 / 4, 1 / 8])
    assert [halton(i, 3) for i in range(1, 5)] == pytest.approx([1 / 3, 2 / 3, 1 / 9, 4 / 9])


def test_samples_of_a_path_are_near_each_other_and_hold_every_waypoint():
    rows = path_samples(DETOUR, 0.02)
    assert np.abs(np.diff(rows, axis=0)).max() <= 0.02 + 1e-12
    assert max(np.abs(rows - waypoint).max(axis=1).min() for waypoint in DETOUR) < 1e-12
    assert path_length(rows) == pytest.approx(path_length(DETOUR))
    assert path_samples(DETOUR[:1], 0.02) == pytest.approx(DETOUR[:1])


def test_lengths_are_euclidean():
    assert length_of(np.array([0.0, 3.0]), np.array([4.0, 0.0])) == pytest.approx(5.0)
    assert path_length(np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]])) == pytest.approx(6.0)
