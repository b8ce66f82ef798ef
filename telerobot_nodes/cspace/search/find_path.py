"""One compiled call from start and goal to a short proved path: trial paths first, then RRT-Connect."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import MOST_OBSTACLES, Arm, LinkPoses, World, link_poses_of, nearest
from telerobot_nodes.cspace.search.edge_validation import RESERVE, Edges, edges_of
from telerobot_nodes.cspace.search.rrt_connect import rrt_connect
from telerobot_nodes.cspace.search.shortcut import MOST, shorten
from telerobot_nodes.cspace.search.tree_pair import SEED, Trees, trees_of
from telerobot_nodes.cspace.search.trial_path import Trial, trial_of, trial_path

NODES = 16384  # of one tree at most
ROUNDS = 60  # cuts while a path is shortened
STRIDE = 0x9E3779B97F4A7C15  # between the seeds of two tries


class Stage(IntEnum):
    """Which part of the search found a path."""

    NONE = 0
    TRIAL = 1
    TREES = 2
    CELLS = 3


class Budget(NamedTuple):
    """Probes allowed, or made, for trial paths, for RRT-Connect and for shortening."""

    trial: int
    trees: int
    shorten: int


class Found(NamedTuple):
    """Waypoints of the path found, 0: none; the stage that found it; the probes made."""

    waypoints: int
    stage: int
    probes: Budget


class Search(NamedTuple):
    """Scratch memory of one thread, and the path of the last search."""

    poses: LinkPoses
    edges: Edges
    trial: Trial
    trees: Trees
    path: FloatArray  # (MOST, n) [rad]


def search_of(arm: Arm, obstacles: int = MOST_OBSTACLES) -> Search:
    """Scratch memory for `arm` among up to `obstacles`."""
    dof, edges = arm.lower.size, edges_of(arm, obstacles)
    trees = trees_of(edges.arm32.lever.max(axis=0), NODES)
    return Search(link_poses_of(arm), edges, trial_of(dof), trees, np.zeros((MOST, dof)))


def reseed(search: Search, number: int) -> None:
    """Begin the samples of try `number` (0, 1, ...); the same number gives the same samples."""
    search.trees.random.word = (SEED + number * STRIDE) % 2**64


@numba.njit(cache=True, error_model="numpy")
def _take_trees(trees: Trees, path: FloatArray) -> int:
    """Copy the path through the meeting of both trees to `path`; its waypoints, 0: too many."""
    depth, node = 0, trees.meeting[0]
    while node >= 0:
        depth += 1
        node = trees.parent[0, node]
    node, row = trees.meeting[0], depth - 1
    while node >= 0 and depth < path.shape[0]:
        path[row] = trees.nodes[0, node]
        row -= 1
        node = trees.parent[0, node]
    count, node = depth, trees.parent[1, trees.meeting[1]]
    while node >= 0:
        if count >= path.shape[0] - 4:
            return 0
        path[count] = trees.nodes[1, node]
        count += 1
        node = trees.parent[1, node]
    return count


@numba.njit(cache=True, error_model="numpy")
def _reserve(arm: Arm, world: World, poses: LinkPoses, start: FloatArray, goal: FloatArray) -> float:
    """Distance [m] kept beyond the margins: less than RESERVE where start or goal has less room."""
    room = min(nearest(arm, world, poses, start, 0.01)[0], nearest(arm, world, poses, goal, 0.01)[0])
    return min(RESERVE, 0.5 * room)


@numba.njit(cache=True, error_model="numpy")
def find_path(
    arm: Arm, world: World, search: Search, start: FloatArray, goal: FloatArray, finest: float, budget: Budget
) -> Found:
    """Find a path from `start` to `goal` (n,) [rad] into `search.path`, each motion proved free.

    `finest` [rad]: shortest piece of a motion that is validated.
    """
    edges, path, effort = search.edges, search.path, search.edges.effort
    tree_probes, shorten_probes, stage = 0, 0, Stage.TRIAL
    effort.reserve = _reserve(arm, world, search.poses, start, goal)
    effort.probes, effort.budget = 0, budget.trial
    count = trial_path(arm, world, edges, search.trial, start, goal, finest)
    trial_probes = effort.probes
    if count > 0:
        path[:count] = search.trial.path[:count]
    else:
        effort.probes, effort.budget, stage = 0, budget.trees, Stage.TREES
        if rrt_connect(arm, world, edges, search.trees, start, goal, finest):
            count = _take_trees(search.trees, path)
        tree_probes = effort.probes
    if count > 2 and budget.shorten > 0:
        effort.probes, effort.budget = 0, budget.shorten
        count = shorten(world, edges, path, count, finest, ROUNDS)
        shorten_probes = effort.probes
    if count == 0:
        stage = Stage.NONE
    return Found(count, stage, Budget(trial_probes, tree_probes, shorten_probes))
