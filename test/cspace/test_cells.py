"""The cell database: proved status, halving, invalidation, the file, the complete search."""

import numpy as np
import pytest

from telerobot_nodes.cspace.geometry import box, clearance, link_poses_of, sphere, world_of
from telerobot_nodes.cspace.search import CellDatabase, EdgeValidator, search_cells
from telerobot_nodes.cspace.search.cell_search import Blocked, Channel, reachable
from telerobot_nodes.cspace.search.cells import FREE, FULL, MIXED


def filled(geometry, obstacles, finest=0.1):
    cells = CellDatabase(geometry, obstacles)
    stack = [0]
    while stack:
        cell = stack.pop()
        if cells.status[cell] == MIXED and not cells.is_finest(cell, finest):
            first = cells.halve(cell)
            stack += [first, first + 1]
    return cells


def test_every_status_is_true_of_every_configuration_tried(planar):
    obstacles = [sphere("ball", 0.15, (0.6, 0.3, 0.0))]
    cells, world, poses = filled(planar, obstacles), world_of(obstacles), link_poses_of(planar.arm)
    rng, seen = np.random.default_rng(0), set()
    for cell, status in enumerate(cells.status):
        if cells.child[cell] >= 0 or status == MIXED:
            continue
        seen.add(status)
        for u in rng.uniform(-1.0, 1.0, (10, 2)):
            free = clearance(planar.arm, world, poses, cells.center[cell] + u * cells.half[cell]) > 0.0
            assert free == (status == FREE)
    assert seen == {FREE, FULL}


def test_volumes_of_all_statuses_make_the_whole(planar):
    cells = filled(planar, [sphere("ball", 0.15, (0.6, 0.3, 0.0))])
    assert sum(cells.volume(s) for s in (FREE, FULL, MIXED)) == pytest.approx(1.0)
    assert cells.volume(MIXED) < 0.4


def test_finer_cells_leave_less_undecided(planar):
    obstacles = [sphere("ball", 0.15, (0.6, 0.3, 0.0))]
    assert filled(planar, obstacles, 0.05).volume(MIXED) < filled(planar, obstacles, 0.2).volume(MIXED)


def test_a_moved_obstacle_changes_only_cells_it_touches(planar):
    ball, post = sphere("ball", 0.1, (0.7, 0.3, 0.0)), sphere("post", 0.1, (-0.6, 0.4, 0.0))
    cells = filled(planar, [ball, post])
    total = len(cells)
    moved = [sphere("ball", 0.1, (0.7, 0.35, 0.0)), post]
    judged = cells.set_obstacles(moved)
    assert 0 < judged < 0.8 * total
    fresh = filled(planar, moved)
    world, poses, rng = world_of(moved), link_poses_of(planar.arm), np.random.default_rng(1)
    for cell, status in enumerate(cells.status):
        if status != MIXED and cells.child[cell] < 0:
            for u in rng.uniform(-1.0, 1.0, (5, 2)):
                q = cells.center[cell] + u * cells.half[cell]
                assert (clearance(planar.arm, world, poses, q) > 0.0) == (status == FREE)
    assert fresh.key() == cells.key()


def test_nothing_is_judged_again_when_nothing_moved(planar):
    obstacles = [sphere("ball", 0.1, (0.7, 0.3, 0.0))]
    assert filled(planar, obstacles).set_obstacles(list(obstacles)) == 0


def test_an_obstacle_taken_away_frees_its_cells(planar):
    cells = filled(planar, [sphere("ball", 0.15, (0.6, 0.3, 0.0))])
    cells.set_obstacles([])
    assert cells.volume(FREE) > 0.9 or FULL not in {s for s, c in zip(cells.status, cells.child, strict=True) if c < 0}


def test_cells_come_back_from_the_file_and_only_for_the_same_world(planar, tmp_path):
    obstacles = [sphere("ball", 0.15, (0.6, 0.3, 0.0))]
    cells, file = filled(planar, obstacles), tmp_path / "cells"
    cells.save(file)
    again = CellDatabase(planar, obstacles)
    assert again.load(file) == ""
    assert again.status == cells.status
    assert again.leaf(np.array([0.3, 0.3])) == cells.leaf(np.array([0.3, 0.3]))
    other = CellDatabase(planar, [sphere("ball", 0.16, (0.6, 0.3, 0.0))])
    assert "another" in other.load(file)
    assert len(other) == 1


@pytest.mark.parametrize("damage", [lambda c: c[:100], lambda c: c[:-5], lambda c: c[:200] + b"x" + c[201:]])
def test_a_damaged_file_is_told_and_changes_nothing(planar, tmp_path, damage):
    cells, file = filled(planar, [], 0.5), tmp_path / "cells"
    cells.save(file)
    file.write_bytes(damage(file.read_bytes()))
    again = CellDatabase(planar, [])
    assert again.load(file) != ""
    assert len(again) == 1
    assert "not readable" in again.load(tmp_path / "none")


def test_neighbours_share_a_face_both_ways(planar):
    cells = filled(planar, [sphere("ball", 0.15, (0.6, 0.3, 0.0))], 0.3)
    leaves = [c for c, child in enumerate(cells.child) if child < 0]
    for cell in leaves:
        for other in cells.neighbours(cell):
            gap = np.abs(cells.center[cell] - cells.center[other]) - cells.half[cell] - cells.half[other]
            assert gap.max() == pytest.approx(0.0, abs=1e-9)
            assert cell in cells.neighbours(other)


def test_a_channel_of_free_cells_joins_start_and_goal(planar):
    obstacles = [sphere("ball", 0.1, (0.75, 0.0, 0.0))]
    cells = CellDatabase(planar, obstacles)
    start, goal = np.array([-1.2, 0.3]), np.array([1.2, 0.3])
    answer = search_cells(cells, start, goal, 0.03, 5000)
    assert isinstance(answer, Channel)
    assert {cells.status[c] for c in answer.cells} == {FREE}
    prover = EdgeValidator(planar.arm, world_of(obstacles))
    assert all(prover.free(a, b) for a, b in zip(answer.path[:-1], answer.path[1:], strict=True))


def test_no_path_at_this_resolution_is_a_proof(planar):
    walls = [box("wall", (0.1, 0.6, 0.2), (0.45, 0.0, 0.0))]
    cells = CellDatabase(planar, walls)
    start, goal = np.array([-1.6, 0.1]), np.array([1.6, 0.1])
    answer = search_cells(cells, start, goal, 0.1, 20_000)
    assert answer is Blocked.NO_PATH
    seen = reachable(cells, start, 0.1)
    assert cells.leaf(start) in seen
    assert cells.leaf(goal) not in seen


def test_a_bound_on_cells_is_kept(planar):
    cells = CellDatabase(planar, [box("wall", (0.1, 0.6, 0.2), (0.45, 0.0, 0.0))])
    assert search_cells(cells, np.array([-1.6, 0.1]), np.array([1.6, 0.1]), 0.01, 30) is Blocked.SPENT
    assert len(cells) <= 40


@pytest.mark.lengthy
@pytest.mark.parametrize("name", ["arm", "panda"])
def test_six_and_seven_joints_need_only_the_cells_looked_at(name, geometry):
    cells = CellDatabase(geometry, [box("table", (0.5, 1.0, 0.04), (0.7, 0.0, 0.1))])
    home = np.array(geometry.robot.home)
    world, poses = world_of(cells.obstacles), link_poses_of(geometry.arm)
    cell = cells.refine(home, 0.05)
    assert cells.status[cell] == FREE or cells.is_finest(cell, 0.05)
    assert clearance(geometry.arm, world, poses, home) > 0.0
    assert len(cells) < 200
