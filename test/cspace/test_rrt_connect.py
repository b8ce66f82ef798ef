"""RRT-Connect on two joints: paths around an obstacle, every edge proved; memory and budget as bounds."""

import numpy as np

from telerobot_nodes.cspace.geometry import box, sphere, world_of
from telerobot_nodes.cspace.search import EdgeValidator
from telerobot_nodes.cspace.search.edge_validation import edges_of
from telerobot_nodes.cspace.search.rrt_connect import REACH, rrt_connect
from telerobot_nodes.cspace.search.tree_pair import distance, trees_of

WORLD = world_of([sphere("ball", 0.1, (0.75, 0.0, 0.0))])
START, GOAL = np.array([-1.2, 0.2]), np.array([1.2, 0.2])


def grown(planar, world=WORLD, start=START, goal=GOAL, budget=100_000, nodes=4096):
    edges = edges_of(planar.arm, 1)
    trees = trees_of(edges.arm32.lever.max(axis=0), nodes)
    edges.effort.budget = budget
    return rrt_connect(planar.arm, world, edges, trees, start, goal, 1e-3), trees, edges


def test_trees_meet_around_an_obstacle(planar):
    found, trees, _ = grown(planar)
    assert found
    first, second = trees.nodes[0, trees.meeting[0]], trees.nodes[1, trees.meeting[1]]
    assert np.array_equal(first, second)
    assert np.array_equal(trees.nodes[0, 0], START)
    assert np.array_equal(trees.nodes[1, 0], GOAL)


def test_every_edge_of_both_trees_is_free_short_and_inside_the_limits(planar):
    _, trees, _ = grown(planar)
    validator = EdgeValidator(planar.arm, WORLD, 1e-3)
    for tree in range(2):
        assert trees.size[tree] > 1
        for node in range(1, trees.size[tree]):
            q, parent = trees.nodes[tree, node], trees.nodes[tree, trees.parent[tree, node]]
            assert validator.free(parent, q)
            assert distance(trees, parent, q) <= REACH + 1e-9
            assert ((q >= planar.arm.lower) & (q <= planar.arm.upper)).all()


def test_the_same_problem_gives_the_same_trees(planar):
    first, again = grown(planar)[1], grown(planar)[1]
    assert first.size.tolist() == again.size.tolist()
    assert np.array_equal(first.nodes, again.nodes)


def test_a_goal_in_sight_is_reached_with_few_nodes(planar):
    found, trees, _ = grown(planar, goal=np.array([-1.0, -0.3]))
    assert found
    assert trees.size.sum() < 12


def test_a_spent_budget_and_full_trees_end_the_search(planar):
    wall = world_of([box("wall", (0.1, 0.6, 0.2), (0.45, 0.0, 0.0))])
    start, goal = np.array([-1.6, 0.1]), np.array([1.6, 0.1])
    found, _, edges = grown(planar, wall, start, goal, budget=2000)
    assert not found
    assert 2000 <= edges.effort.probes < 3000
    found, trees, _ = grown(planar, wall, start, goal, nodes=16)
    assert not found
    assert trees.size.max() == 16
