"""RRT-Connect [KuffnerLaValle2000] with a contact-sliding extension: compiled.

Two trees of proved edges grow from start and goal towards each other. Samples come from a fixed sequence, so the same
problem gives the same path. Where the motion towards a target collides, the tree is extended beside it: of sixteen
samples around the tip of a short step, checked in one batch, the free one that comes nearest to the target is taken.
So the trees slide along obstacles and out of narrow passages. It goes on where trial paths end [US5347459].
"""

from __future__ import annotations

import math
from enum import IntEnum

import numba

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import Arm, World
from telerobot_nodes.cspace.search.edge_validation import Edges, edge_free
from telerobot_nodes.cspace.search.tree_pair import (
    Trees,
    add_node,
    distance,
    nearest_node,
    next_number,
    normal_number,
)
from telerobot_nodes.cspace.simd import LANES, bound_motion, check_batch, noinline

REACH = 0.6  # [m] longest edge of a tree
STEP = 0.3  # [m] of the first sliding step
SMALLEST_STEP = 0.15  # [m]
WIDTH = 2.0  # [-] the last contact sample lies about this many steps off the motion
PROGRESS = 0.1  # [-] of a step by which a contact sample must come nearer
TRIED = 3  # contact samples tried at most
STEPS = 20  # edges in a row towards one target


class Extension(IntEnum):
    """What extending a tree towards a target achieved, in the paper's words."""

    TRAPPED = 0
    ADVANCED = 1
    REACHED = 2


@numba.njit(error_model="numpy", inline="always")
def _extend(world: World, edges: Edges, trees: Trees, tree: int, near: int, target: FloatArray, finest: float) -> int:
    """Append one proved edge from node `near` straight towards `target`; an `Extension`."""
    if trees.size[tree] == trees.parent.shape[1]:
        return Extension.TRAPPED
    start, new = trees.nodes[tree, near], trees.step
    scale = min(1.0, REACH / max(distance(trees, start, target), 1e-12))
    for r in range(target.size):
        new[r] = target[r] if scale >= 1.0 else start[r] + scale * (target[r] - start[r])
    if not edge_free(world, edges, start, new, finest):
        return Extension.TRAPPED
    add_node(trees, tree, new, near)
    return Extension.REACHED if scale >= 1.0 else Extension.ADVANCED


@numba.njit(error_model="numpy", inline="always")
def _sample_contacts(
    arm: Arm, world: World, edges: Edges, trees: Trees, start: FloatArray, target: FloatArray, step: float
) -> None:
    """Sample configurations `step` [m] from `start` around the direction to `target`, each wider, and check them."""
    batch, n, far, lever = edges.batch, start.size, distance(trees, start, target), trees.lever
    for lane in range(LANES):
        contact, width, total = trees.contacts[lane], WIDTH * lane / (LANES - 1.0) / math.sqrt(n), 0.0
        for r in range(n):
            contact[r] = (target[r] - start[r]) / far + width * normal_number(trees.random) / lever[r]
            total += (contact[r] * lever[r]) ** 2
        for r in range(n):
            contact[r] = min(max(start[r] + step / math.sqrt(total) * contact[r], arm.lower[r]), arm.upper[r])
            batch.q[r * LANES + lane] = contact[r]
        batch.half[lane] = 0.0
    batch.delta[:] = 0.0
    bound_motion(edges.arm32, batch)
    edges.effort.probes += LANES
    check_batch(edges.arm32, world, batch, edges.effort.reserve, 0.0, False)
    for lane in range(LANES):
        free = batch.ratio[lane] > 0.0
        trees.nearer[lane] = far - distance(trees, trees.contacts[lane], target) if free else -1.0


@numba.njit(cache=True, error_model="numpy")
def _slide(
    arm: Arm, world: World, edges: Edges, trees: Trees, tree: int, near: int, target: FloatArray, finest: float
) -> bool:
    """Append one proved edge from node `near` that ends nearer to `target` beside the direct motion."""
    noinline()
    start = trees.nodes[tree, near]
    step = min(STEP, distance(trees, start, target))
    while step >= SMALLEST_STEP and trees.size[tree] < trees.parent.shape[1]:
        _sample_contacts(arm, world, edges, trees, start, target, step)
        for _ in range(TRIED):
            best = trees.nearer.argmax()
            if trees.nearer[best] < PROGRESS * step:
                break
            trees.nearer[best] = -1.0
            if edge_free(world, edges, start, trees.contacts[best], finest):
                add_node(trees, tree, trees.contacts[best], near)
                return True
        step *= 0.5
    return False


@numba.njit(cache=True, error_model="numpy")
def _approach(
    arm: Arm, world: World, edges: Edges, trees: Trees, tree: int, near: int, target: FloatArray, finest: float
) -> int:
    """Append proved edges from node `near` towards `target`, straight where free, else sliding; an `Extension`."""
    noinline()
    result = Extension.TRAPPED
    for _ in range(STEPS):
        extended = _extend(world, edges, trees, tree, near, target, finest)
        if extended == Extension.REACHED:
            return Extension.REACHED
        if extended == Extension.TRAPPED and not _slide(arm, world, edges, trees, tree, near, target, finest):
            return result
        result, near = Extension.ADVANCED, trees.size[tree] - 1
    return result


@numba.njit(error_model="numpy", inline="always")
def _connect(arm: Arm, world: World, edges: Edges, trees: Trees, tree: int, finest: float) -> bool:
    """Grow the other tree to the newest node of `tree`; True when it arrives."""
    other, node = 1 - tree, trees.size[tree] - 1
    goal = trees.nodes[tree, node]
    near = nearest_node(trees, other, goal)
    result = _approach(arm, world, edges, trees, other, near, goal, finest)
    trees.meeting[tree], trees.meeting[other] = node, trees.size[other] - 1
    return result == Extension.REACHED


@numba.njit(cache=True, error_model="numpy")
def rrt_connect(
    arm: Arm, world: World, edges: Edges, trees: Trees, start: FloatArray, goal: FloatArray, finest: float
) -> bool:
    """Grow trees from `start` and `goal` (n,) [rad] until they meet; False when memory or budget is used up first.

    The samples go on with the sequence `trees.random`.
    """
    noinline()
    trees.size[:] = 0
    add_node(trees, 0, start, -1)
    add_node(trees, 1, goal, -1)
    tree, sample = 0, trees.sample
    while edges.effort.probes < edges.effort.budget and trees.size.max() < trees.parent.shape[1]:
        for r in range(start.size):
            sample[r] = arm.lower[r] + next_number(trees.random) * (arm.upper[r] - arm.lower[r])
        near = nearest_node(trees, tree, sample)
        advanced = _approach(arm, world, edges, trees, tree, near, sample, finest) != Extension.TRAPPED
        if advanced and _connect(arm, world, edges, trees, tree, finest):
            return True
        tree = 0 if trees.size[0] <= trees.size[1] else 1
    return False
