"""Two trees of proved straight motions, grown towards each other: compiled.

The systematic selection goes on behind the trial paths with a fixed sequence of places spread over the joint space:
the same problem gives the same path. Every edge is proved free as it is made. Where a motion is refused, the tree goes
on beside it, as trial waypoints stand beside a collision region: of sixteen places around the tip of a short step,
looked at in one pass, the free one that comes nearest to the target is taken. So trees slide along obstacles and out of
narrow places, where most straight motions of some length collide.
"""

from __future__ import annotations

import math

import numba

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.cspace.batch import bound_motion
from telerobot_nodes.cspace.edges import Edges, edge_free
from telerobot_nodes.cspace.lanes import LANES, apart
from telerobot_nodes.cspace.obstacles import World
from telerobot_nodes.cspace.placing import Arm
from telerobot_nodes.cspace.sweep import sweep
from telerobot_nodes.cspace.tree_nodes import Trees, add_node, distance, nearest_node, next_number, normal_number

REACH = 0.6  # [m] longest edge of a tree
STEP = 0.3  # [m] beside a motion that was refused, at first
SMALLEST_STEP = 0.15  # [m]
WIDTH = 2.0  # [-] the last of the places beside is about this many steps off the motion
PROGRESS = 0.1  # [-] of a step that a place beside must come nearer
TRIED = 3  # places beside that are tried at most
STEPS = 20  # motions in a row towards one place
SEED = 88172645463325252  # of the sequence

FOUND = 1
FULL = 0
SPENT = -1
REACHED, NEARER, NONE = 2, 1, 0


@numba.njit(error_model="numpy", inline="always")
def _extend(world: World, edges: Edges, trees: Trees, tree: int, near: int, target: FloatArray, finest: float) -> int:
    """One proved edge from node `near` towards `target`: REACHED, NEARER or NONE."""
    if trees.size[tree] == trees.parent.shape[1]:
        return NONE
    start, new = trees.nodes[tree, near], trees.step
    scale = min(1.0, REACH / max(distance(trees, start, target), 1e-12))
    for r in range(target.size):
        new[r] = target[r] if scale >= 1.0 else start[r] + scale * (target[r] - start[r])
    if not edge_free(world, edges, start, new, finest):
        return NONE
    add_node(trees, tree, new, near)
    return REACHED if scale >= 1.0 else NEARER


@numba.njit(error_model="numpy", inline="always")
def _look_beside(
    arm: Arm, world: World, edges: Edges, trees: Trees, start: FloatArray, target: FloatArray, step: float
) -> None:
    """Places `step` [m] from `start` around the way to `target` into `trees.beside`, each further off the way."""
    batch, n, far, lever = edges.batch, start.size, distance(trees, start, target), trees.lever
    for lane in range(LANES):
        place, width, total = trees.beside[lane], WIDTH * lane / (LANES - 1.0) / math.sqrt(n), 0.0
        for r in range(n):
            place[r] = (target[r] - start[r]) / far + width * normal_number(trees.state) / lever[r]
            total += (place[r] * lever[r]) ** 2
        for r in range(n):
            place[r] = min(max(start[r] + step / math.sqrt(total) * place[r], arm.lower[r]), arm.upper[r])
            batch.q[r * LANES + lane] = place[r]
        batch.half[lane] = 0.0
    batch.delta[:] = 0.0
    bound_motion(edges.flat, batch)
    edges.probes[0] += LANES
    sweep(edges.flat, world, batch, edges.keep[0], 0.0, False)
    for lane in range(LANES):
        trees.nearer[lane] = far - distance(trees, trees.beside[lane], target) if batch.ratio[lane] > 0.0 else -1.0


@numba.njit(cache=True, error_model="numpy")
def _beside(
    arm: Arm, world: World, edges: Edges, trees: Trees, tree: int, near: int, target: FloatArray, finest: float
) -> bool:
    """One proved edge from node `near` that ends nearer to `target` though not on the way to it."""
    apart()
    start = trees.nodes[tree, near]
    step = min(STEP, distance(trees, start, target))
    while step >= SMALLEST_STEP and trees.size[tree] < trees.parent.shape[1]:
        _look_beside(arm, world, edges, trees, start, target, step)
        for _ in range(TRIED):
            best = trees.nearer.argmax()
            if trees.nearer[best] < PROGRESS * step:
                break
            trees.nearer[best] = -1.0
            if edge_free(world, edges, start, trees.beside[best], finest):
                add_node(trees, tree, trees.beside[best], near)
                return True
        step *= 0.5
    return False


@numba.njit(cache=True, error_model="numpy")
def _approach(
    arm: Arm, world: World, edges: Edges, trees: Trees, tree: int, near: int, target: FloatArray, finest: float
) -> int:
    """Proved edges one after another from node `near` towards `target`, straight where that is free, else beside it."""
    apart()
    got = NONE
    for _ in range(STEPS):
        one = _extend(world, edges, trees, tree, near, target, finest)
        if one == REACHED:
            return REACHED
        if one == NONE and not _beside(arm, world, edges, trees, tree, near, target, finest):
            return got
        got, near = NEARER, trees.size[tree] - 1
    return got


@numba.njit(error_model="numpy", inline="always")
def _connect(arm: Arm, world: World, edges: Edges, trees: Trees, tree: int, finest: float) -> bool:
    """Grow the other tree to the newest node of `tree` as far as it gets; True when it gets there."""
    other, node = 1 - tree, trees.size[tree] - 1
    goal = trees.nodes[tree, node]
    near = nearest_node(trees, other, goal)
    got = _approach(arm, world, edges, trees, other, near, goal, finest)
    trees.meeting[tree], trees.meeting[other] = node, trees.size[other] - 1
    return got == REACHED


@numba.njit(cache=True, error_model="numpy")
def grow(arm: Arm, world: World, edges: Edges, trees: Trees, a: FloatArray, b: FloatArray, finest: float) -> int:
    """Grow trees from `a` and `b` until they meet (FOUND), are FULL or the probes allowed are SPENT."""
    apart()
    trees.size[:] = 0
    trees.state[0] = SEED
    add_node(trees, 0, a, -1)
    add_node(trees, 1, b, -1)
    tree, sample = 0, trees.sample
    while edges.probes[0] < edges.probes[1]:
        for r in range(a.size):
            sample[r] = arm.lower[r] + next_number(trees.state) * (arm.upper[r] - arm.lower[r])
        near = nearest_node(trees, tree, sample)
        got = _approach(arm, world, edges, trees, tree, near, sample, finest)
        if got != NONE and _connect(arm, world, edges, trees, tree, finest):
            return FOUND
        if trees.size.max() == trees.parent.shape[1]:
            return FULL
        tree = 0 if trees.size[0] <= trees.size[1] else 1
    return SPENT
