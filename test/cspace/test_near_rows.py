"""Look-up of near rows by blocks: against every row of a world, one by one."""

import numpy as np
import pytest

from telerobot_nodes.cspace.geometry import (
    BLOCK,
    Voxels,
    box,
    floor,
    link_poses_of,
    nearest,
    probe,
    sphere_centers,
    sphere_motion_bounds,
    world_of,
)
from telerobot_nodes.cspace.geometry.clearance import ROUNDING
from telerobot_nodes.cspace.geometry.distances import distance
from telerobot_nodes.cspace.geometry.near_rows import (
    near_rows_of,
    rows_near_group,
    rows_near_link,
    rows_of_nearest_block,
)
from telerobot_nodes.cspace.search import EdgeValidator

SIZE = (0.06, 0.06, 0.06)
MARGIN = 0.005


@pytest.fixture(scope="module")
def world():
    """Voxels on two walls, neighbours after each other, then a box and a floor."""
    y, z = (part.ravel() for part in np.meshgrid(np.arange(-0.6, 0.6, 0.1), np.arange(0.0, 1.0, 0.1)))
    walls = np.vstack([np.column_stack([np.full(y.size, x), y, z]) for x in (0.55, -0.5)])
    cloud = Voxels("cloud", size=SIZE, centers=walls)
    things = [cloud, box("box", (0.4, 0.2, 0.6), (0.0, 0.6, 0.4)), floor(height=-0.05)]
    return world_of(things, MARGIN, allowed={"box": 4})


def nearer(world, point, gap):
    return [o for o in range(world.reach.size) if distance(world, o, point) < gap]


def test_no_row_near_a_link_is_left_out_and_only_small_blocks_are_taken_whole(world):
    near, rng, whole = near_rows_of(world), np.random.default_rng(0), 0
    for point, gap in zip(rng.uniform(-0.8, 0.8, (30, 3)), rng.uniform(0.02, 0.4, 30), strict=True):
        for radius in (0.0, 0.8):
            blocks = rows_near_link(world, point, radius, gap, near)
            found = near.of_link[: near.block[blocks - 1, 1] if blocks else 0].tolist()
            true = nearer(world, point, gap)
            assert set(true) <= set(found) if radius else true == found
            for extra in set(found) - set(true):
                assert world.blocks[extra // BLOCK, 3] < radius
                whole += 1
    assert whole > 0


def test_rows_near_a_group_are_all_that_are_near_without_those_that_may_be_touched(world):
    near, rng, forbidden = near_rows_of(world), np.random.default_rng(1), 0
    for point in rng.uniform(-0.8, 0.8, (40, 3)):
        blocks = rows_near_link(world, point, 0.2, 0.5, near)
        inside = point + rng.uniform(-0.1, 0.1, 3)
        true = nearer(world, inside, 0.3)
        for body in (1, 2):  # of the arm; body 2 may touch the box
            count = rows_near_group(world, inside, body, 0.3, near, blocks)
            wanted = [o for o in true if not world.allowed[o] >> body & 1]
            assert near.of_group[:count].tolist() == wanted
            forbidden += len(true) - len(wanted)
    assert forbidden > 0


def test_the_nearest_block_is_the_one_whose_sphere_is_nearest(world):
    near, point = near_rows_of(world), np.array([0.5, 0.3, 0.7])
    assert rows_of_nearest_block(world, point, near) == 1
    away = np.linalg.norm(world.blocks[:, :3] - point, axis=1) - world.blocks[:, 3]
    first = BLOCK * int(away.argmin())
    assert near.of_link[: near.block[0, 1]].tolist() == list(range(first, min(first + BLOCK, world.reach.size)))


def gaps_of(world, geometry, q):
    """Distances (spheres, rows) [m] beyond the margin of what moves; those that may be touched are infinite."""
    arm, centers = geometry.arm, sphere_centers(geometry.arm, q)
    first = arm.sphere_first[arm.link_first[arm.first_moving]]
    body = np.repeat(arm.group_body, np.diff(arm.sphere_first))
    gaps = np.full((len(centers), world.reach.size), np.inf)
    for b in range(first, len(centers)):
        for o in range(world.reach.size):
            if not world.allowed[o] >> body[b] & 1:
                gaps[b, o] = distance(world, o, centers[b]) - arm.sphere_radius[b] - world.margin
    return gaps


@pytest.mark.lengthy
def test_the_nearest_pair_and_the_part_of_a_cell_are_those_of_all_pairs(world, panda):
    alone, poses, rng = panda.arm.without_pairs(), link_poses_of(panda.arm), np.random.default_rng(2)
    limits, half, seen = panda.robot.limits, np.full(panda.dof, 0.03), set()
    for q in rng.uniform(limits.lower, limits.upper, (12, panda.dof)):
        gaps = gaps_of(world, panda, q)
        least, ball, row = nearest(alone, world, poses, q, 1.0)
        assert least == pytest.approx(gaps.min() - ROUNDING, abs=1e-12)
        assert gaps[ball, row] == pytest.approx(gaps.min(), abs=1e-12)
        bounds = np.maximum(sphere_motion_bounds(panda.arm, q, half), 1e-12)
        part = min(1.0, ((gaps - ROUNDING) / bounds[:, None]).min())
        found = probe(alone, world, poses, q, half)
        assert found == pytest.approx(part, abs=1e-9) if part > 0.0 else found <= 0.0
        seen.add((part > 0.0) + (part >= 1.0))
    assert seen == {0, 1, 2}


@pytest.mark.nightly
def test_a_motion_that_is_proved_among_voxels_touches_none(world, panda):
    validator, rng = EdgeValidator(panda.arm.without_pairs(), world), np.random.default_rng(3)
    limits, proved, refused = panda.robot.limits, 0, 0
    for q in rng.uniform(limits.lower, limits.upper, (15, panda.dof)):
        other = np.clip(q + rng.uniform(-0.3, 0.3, panda.dof), limits.lower, limits.upper)
        touching = min(gaps_of(world, panda, q + s * (other - q)).min() for s in (0.0, 0.5, 1.0)) < 0.0
        free = validator.free(q, other)
        assert not (free and touching)
        proved, refused = proved + free, refused + touching
    assert proved > 0 and refused > 2
