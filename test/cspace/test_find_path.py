"""The whole compiled search: which stage answers, what it costs, and what its reserve is."""

import numpy as np

from telerobot_nodes.cspace.geometry import box, clearance, sphere, world_of
from telerobot_nodes.cspace.search import Budget, find_path, search_of
from telerobot_nodes.cspace.search.edge_validation import RESERVE
from telerobot_nodes.cspace.search.find_path import Stage

WORLD = world_of([sphere("ball", 0.06, (0.8, 0.0, 0.0))])
START, GOAL = np.array([-1.2, 0.2]), np.array([1.2, 0.2])


def found(planar, budget, world=WORLD, start=START, goal=GOAL):
    search = search_of(planar.arm, 4)
    result = find_path(planar.arm, world, search, start, goal, 1e-3, budget)
    return result, search.path[: result.waypoints], search


def test_trial_paths_come_first_and_count_their_probes(planar):
    result, path, _ = found(planar, Budget(600, 10_000, 0))
    assert result.stage == Stage.TRIAL
    assert 0 < result.probes.trial <= 700
    assert result.probes.trees == result.probes.shorten == 0
    assert np.array_equal(path[[0, -1]], [START, GOAL])


def test_the_trees_answer_where_trial_paths_may_not(planar):
    result, path, _ = found(planar, Budget(1, 100_000, 0))
    assert result.stage == Stage.TREES
    assert result.probes.trees > 0
    assert np.array_equal(path[[0, -1]], [START, GOAL])
    assert not (np.diff(path, axis=0) == 0.0).all(axis=1).any()  # the meeting stands in it once


def test_shortening_makes_the_path_no_longer(planar):
    long, short = (found(planar, Budget(1, 100_000, n))[1] for n in (0, 1500))
    length = [np.linalg.norm(np.diff(path, axis=0), axis=1).sum() for path in (long, short)]
    assert length[1] <= length[0]


def test_without_a_path_there_is_no_stage(planar):
    wall = world_of([box("wall", (0.1, 0.6, 0.2), (0.45, 0.0, 0.0))])
    result, path, _ = found(planar, Budget(100, 3000, 100), wall, np.array([-1.6, 0.1]), np.array([1.6, 0.1]))
    assert (result.stage, len(path)) == (Stage.NONE, 0)


def test_less_is_kept_in_reserve_where_the_start_has_less_room(planar):
    _, _, search = found(planar, Budget(600, 1000, 0))
    assert search.edges.effort.reserve == RESERVE
    low, high = -1.2, 0.0  # free, collides
    for _ in range(40):
        middle = 0.5 * (low + high)
        free = clearance(planar.arm, WORLD, search.poses, np.array([middle, 0.2])) > 1e-4
        low, high = (middle, high) if free else (low, middle)
    _, _, search = found(planar, Budget(600, 1000, 0), start=np.array([low, 0.2]))
    assert 0.0 < search.edges.effort.reserve < 0.6e-4
