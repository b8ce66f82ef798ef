"""Edge validation: proofs against dense samples, budgets, and the cells that cover a motion."""

import math

import numpy as np
import pytest

from telerobot_nodes.cspace.geometry import clearance, link_poses_of, probe, sphere, world_of
from telerobot_nodes.cspace.search import EdgeValidator, largest_turn
from telerobot_nodes.cspace.search.edge_validation import LANES, cover_edge, edge_free, edges_of, free_ends

OBSTACLES = [sphere("ball", 0.1, (0.75, 0.0, 0.0))]
WORLD = world_of(OBSTACLES)
LEFT, RIGHT = np.array([-1.0, 0.2]), np.array([1.0, 0.2])
ASIDE = np.array([-1.0, -0.8])


def test_a_free_motion_is_proved_and_one_through_an_obstacle_is_not(planar):
    validator = EdgeValidator(planar.arm, WORLD)
    assert validator.free(LEFT, ASIDE)
    assert not validator.free(LEFT, RIGHT)
    assert validator.free(LEFT, LEFT)


@pytest.mark.lengthy
def test_what_is_proved_is_free_at_every_sample(planar):
    validator, poses = EdgeValidator(planar.arm, WORLD), link_poses_of(planar.arm)
    rng, answers = np.random.default_rng(2), set()
    for _ in range(60):
        a, b = rng.uniform(-2.4, 2.4, (2, 2))
        least = min(clearance(planar.arm, WORLD, poses, a + t * (b - a)) for t in np.linspace(0.0, 1.0, 200))
        free = validator.free(a, b)
        answers.add(free)
        assert least > 0.0 if free else least < 0.02  # refused only for what comes near
    assert answers == {True, False}


def test_a_spent_budget_proves_nothing(planar):
    edges = edges_of(planar.arm, 1)
    edges.effort.budget = LANES
    assert edge_free(WORLD, edges, LEFT, ASIDE, 1e-3)
    assert edges.effort.probes == LANES
    assert not edge_free(WORLD, edges, LEFT, ASIDE, 1e-3)


def test_a_larger_reserve_refuses_what_comes_nearer(planar):
    edges, poses = edges_of(planar.arm, 1), link_poses_of(planar.arm)
    least = min(clearance(planar.arm, WORLD, poses, LEFT + t * (ASIDE - LEFT)) for t in np.linspace(0.0, 1.0, 50))
    edges.effort.reserve = least + 0.001
    assert not edge_free(WORLD, edges, LEFT, ASIDE, 1e-3)


def test_pieces_that_may_not_be_short_leave_a_near_miss_unproved(planar):
    poses = link_poses_of(planar.arm)
    angles = np.linspace(-1.0, 0.0, 1000)
    near = next(a for a in angles if clearance(planar.arm, WORLD, poses, np.array([a, 0.2])) < 2e-3)
    start, end = np.array([-2.4, 0.2]), np.array([near, 0.2])
    answers = [EdgeValidator(planar.arm, WORLD, finest).free(start, end) for finest in (1e-4, 1e-2, 0.2)]
    assert answers[0]
    assert not answers[2]
    assert sorted(answers, reverse=True) == answers  # shorter pieces prove what longer ones do


@pytest.mark.lengthy
def test_the_free_ends_of_a_motion_are_free_and_its_middle_is_not(planar):
    first, last = free_ends(WORLD, edges_of(planar.arm, 1), LEFT, RIGHT)
    poses = link_poses_of(planar.arm)
    assert 0.0 < first < 0.5 < last < 1.0
    for share in np.append(np.linspace(0.0, first, 30), np.linspace(last, 1.0, 30)):
        assert clearance(planar.arm, WORLD, poses, LEFT + share * (RIGHT - LEFT)) > 0.0
    assert clearance(planar.arm, WORLD, poses, 0.5 * (LEFT + RIGHT)) < 0.0


def test_the_ends_of_a_free_motion_are_all_of_it(planar):
    assert free_ends(WORLD, edges_of(planar.arm, 1), LEFT, ASIDE) == (1.0, 0.0)


def test_the_pieces_of_a_cover_join_and_each_lies_in_a_free_cell(planar):
    low, high, poses = np.zeros(1000), np.zeros(1000), link_poses_of(planar.arm)
    count = cover_edge(planar.arm, WORLD, poses, LEFT, ASIDE, 1e-3, low, high)
    assert count > 1
    assert low[0] == 0.0
    assert high[count - 1] == 1.0
    assert low[1:count] == pytest.approx(high[: count - 1])
    for u, v in zip(low[:count], high[:count], strict=True):
        middle, half = LEFT + 0.5 * (u + v) * (ASIDE - LEFT), 0.5 * (v - u) * np.abs(ASIDE - LEFT)
        assert probe(planar.arm, WORLD, poses, middle, half) >= 1.0


@pytest.mark.parametrize(("start", "end"), [(0.1, 0.4), (-0.1, 0.2), (0.0, 0.3 + 1e-12), (0.1, -0.2)])
def test_a_motion_of_the_longest_piece_has_one_cell_and_none_without_width(planar, start, end):
    low, high, poses = np.zeros(1000), np.zeros(1000), link_poses_of(planar.arm)
    start, end = np.array([start, 0.0]), np.array([end, 0.0])
    assert cover_edge(planar.arm, world_of([]), poses, start, end, 1e-3, low, high) == 1
    assert (low[0], high[0]) == (0.0, 1.0)


def test_no_cover_of_a_motion_that_collides_or_of_more_pieces_than_there_is_room_for(planar):
    low, high, poses = np.zeros(1000), np.zeros(1000), link_poses_of(planar.arm)
    assert cover_edge(planar.arm, WORLD, poses, LEFT, RIGHT, 1e-3, low, high) == -1
    assert cover_edge(planar.arm, WORLD, poses, LEFT, ASIDE, 1e-3, low[:1], high[:1]) == -1


def test_the_largest_turn_counts_both_ways():
    assert largest_turn(np.array([0.1, -0.7, 0.3])) == pytest.approx(0.7)
    assert largest_turn(np.zeros(3)) == 0.0
    assert math.isclose(largest_turn(np.array([2.0])), 2.0)
