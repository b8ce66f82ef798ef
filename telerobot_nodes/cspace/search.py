"""One compiled call from start and goal to a short proved path: trial paths first, then two trees."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.clearance import nearest
from telerobot_nodes.cspace.edges import RESERVE, Edges, edges_of
from telerobot_nodes.cspace.obstacles import MOST_OBSTACLES, World
from telerobot_nodes.cspace.placing import Arm, IntArray, Places, places_of
from telerobot_nodes.cspace.shortcut import MOST, shorten
from telerobot_nodes.cspace.tree_nodes import Trees, trees_of
from telerobot_nodes.cspace.trees import FOUND, grow
from telerobot_nodes.cspace.trial import Trial, trial_of, trial_path

NO_STAGE, TRIAL, TREES = 0, 1, 2
STAGES = ("none", "trial", "trees", "cells")
NODES = 16384  # of one tree at most
ROUNDS = 60  # cuts while a path is shortened


class Search(NamedTuple):
    """Scratch memory of one thread, and what the last call did."""

    at: Places
    edges: Edges
    trial: Trial
    trees: Trees
    path: FloatArray  # (MOST, n) [rad]
    probes: IntArray  # (3,) cells proved by trial paths, by trees, while shortening


def search_of(arm: Arm, obstacles: int = MOST_OBSTACLES) -> Search:
    """Scratch memory for `arm` among up to `obstacles`."""
    n, edges = arm.lower.size, edges_of(arm, obstacles)
    return Search(
        places_of(arm),
        edges,
        trial_of(n),
        trees_of(edges.flat.lever.max(axis=0), NODES),
        np.zeros((MOST, n)),
        np.zeros(3, dtype=np.int64),
    )


@numba.njit(cache=True, error_model="numpy")
def _take_trees(trees: Trees, path: FloatArray) -> int:
    """The path through the meeting of both trees into `path`; its waypoints, 0: too many."""
    first = 0
    node = trees.meeting[0]
    while node >= 0:
        first += 1
        node = trees.parent[0, node]
    node, row = trees.meeting[0], first - 1
    while node >= 0 and first < path.shape[0]:
        path[row] = trees.nodes[0, node]
        row -= 1
        node = trees.parent[0, node]
    count, node = first, trees.parent[1, trees.meeting[1]]
    while node >= 0:
        if count >= path.shape[0] - 4:
            return 0
        path[count] = trees.nodes[1, node]
        count += 1
        node = trees.parent[1, node]
    return count


@numba.njit(cache=True, error_model="numpy")
def _reserve(arm: Arm, world: World, s: Search, a: FloatArray, b: FloatArray) -> None:
    """What is kept beyond the margins: less where start or goal has less."""
    room = min(nearest(arm, world, s.at, a, 0.01)[0], nearest(arm, world, s.at, b, 0.01)[0])
    s.edges.keep[0] = min(RESERVE, 0.5 * room)


@numba.njit(cache=True, error_model="numpy")
def find_path(
    arm: Arm, world: World, s: Search, a: FloatArray, b: FloatArray, finest: float, most: IntArray
) -> tuple[int, int]:
    """Waypoints in `s.path` from `a` to `b`, each motion between them proved free, and the stage that found them.

    `most` (3,): probes allowed for trial paths, trees and shortening; `finest` [rad]: shortest piece proved.
    """
    count, stage, used = s.edges.probes, NO_STAGE, 0
    s.probes[:] = 0
    _reserve(arm, world, s, a, b)
    count[0], count[1] = 0, most[0]
    found = trial_path(arm, world, s.edges, s.trial, a, b, finest)
    s.probes[0] = count[0]
    if found > 0:
        stage = TRIAL
        s.path[:found] = s.trial.path[:found]
    else:
        count[0], count[1] = 0, most[1]
        if grow(arm, world, s.edges, s.trees, a, b, finest) == FOUND:
            found = _take_trees(s.trees, s.path)
            stage = TREES if found > 0 else NO_STAGE
        s.probes[1] = count[0]
    if found > 2 and most[2] > 0:
        count[0], count[1] = 0, most[2]
        used = shorten(world, s.edges, s.path, found, finest, ROUNDS)
        s.probes[2] = count[0]
        found = used
    return found, stage
