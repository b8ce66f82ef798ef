"""The trees of RRT-Connect: the nearest node, the metric, and the fixed sequence."""

import numpy as np
import pytest

from telerobot_nodes.cspace.search.tree_pair import (
    add_node,
    distance,
    nearest_node,
    next_number,
    normal_number,
    random_sequence,
    trees_of,
)

LEVER = np.array([1.1, 1.1, 0.8, 0.7, 0.3, 0.3, 0.1])  # [m] of a Panda's joints


def test_the_nearest_node_is_the_one_from_which_the_arm_moves_least():
    trees, rng = trees_of(LEVER, 100), np.random.default_rng(3)
    nodes = rng.uniform(-2.0, 2.0, (2, 61, 7))
    for tree in range(2):
        for q in nodes[tree]:
            add_node(trees, tree, q, -1)
    for q in rng.uniform(-2.0, 2.0, (40, 7)):
        for tree in range(2):
            metres = np.linalg.norm(LEVER * (nodes[tree] - q), axis=1)
            near = nearest_node(trees, tree, q)
            assert near == metres.argmin()
            assert distance(trees, nodes[tree, near], q) == pytest.approx(metres.min())


def test_a_joint_that_carries_nothing_far_out_still_counts():
    trees = trees_of(np.array([2.0, 0.0]), 16)
    assert 0.0 < distance(trees, np.zeros(2), np.array([0.0, 1.0])) <= 0.1


def test_the_sequence_is_spread_as_it_says():
    state = random_sequence()
    numbers = np.array([normal_number(state) for _ in range(20_000)])
    assert abs(numbers.mean()) < 0.03
    assert numbers.std() == pytest.approx(1.0, abs=0.02)
    assert np.abs(numbers).max() > 3.0
    even = np.array([next_number(state) for _ in range(20_000)])
    assert np.histogram(even, bins=10, range=(0.0, 1.0))[0].min() > 1800


def test_the_sequence_repeats_from_its_seed_and_differs_for_another():
    first, again, other = random_sequence(), random_sequence(), random_sequence(7)
    numbers = [next_number(first) for _ in range(5)]
    assert [next_number(again) for _ in range(5)] == numbers
    assert [next_number(other) for _ in range(5)] != numbers


def test_a_node_keeps_its_place_and_parent_and_the_other_tree_stays_empty():
    trees = trees_of(LEVER, 32)
    add_node(trees, 1, np.zeros(7), -1)
    assert add_node(trees, 1, np.full(7, 0.5), 0) == 1
    assert trees.size.tolist() == [0, 2]
    assert trees.parent[1, :2].tolist() == [-1, 0]
    assert trees.nodes[1, 1] == pytest.approx(np.full(7, 0.5))


def test_memory_is_rounded_up_to_whole_rows_of_sixteen():
    assert trees_of(LEVER, 17).parent.shape == (2, 32)
