"""The complete search over cells: channels, what is reachable, and its bound on cells."""

import numpy as np

from telerobot_nodes.cspace.geometry import box, sphere
from telerobot_nodes.cspace.search import CellDatabase, search_cells
from telerobot_nodes.cspace.search.cell_search import Blocked, Channel, reachable, separated

START, GOAL = np.array([-1.2, 0.3]), np.array([1.2, 0.3])
WALL = [box("wall", (0.1, 0.6, 0.2), (0.45, 0.0, 0.0))]


def test_the_path_of_a_channel_lies_in_its_cells_one_after_the_other(planar):
    cells = CellDatabase(planar, [sphere("ball", 0.1, (0.75, 0.0, 0.0))])
    channel = search_cells(cells, START, GOAL, 0.03, 5000)
    assert isinstance(channel, Channel)
    assert np.array_equal(channel.path[[0, -1]], [START, GOAL])
    for cell, a, b in zip(channel.cells, channel.path[:-1], channel.path[1:], strict=True):
        for q in (a, b):
            assert (np.abs(q - cells.center[cell]) <= cells.half[cell] + 1e-9).all()


def test_neighbours_in_a_channel_share_a_face(planar):
    cells = CellDatabase(planar, [sphere("ball", 0.1, (0.75, 0.0, 0.0))])
    channel = search_cells(cells, START, GOAL, 0.03, 5000)
    assert all(b in cells.neighbours(a) for a, b in zip(channel.cells[:-1], channel.cells[1:], strict=True))


def test_start_and_goal_in_one_free_cell_need_no_other(planar):
    cells = CellDatabase(planar, [])
    channel = search_cells(cells, START, START + 0.01, 0.1, 5000)
    assert isinstance(channel, Channel)
    assert np.array_equal(channel.path, [START, START + 0.01])


def test_a_start_that_collides_reaches_nothing(planar):
    cells = CellDatabase(planar, WALL)
    inside = np.array([0.03, 0.02])
    assert search_cells(cells, inside, GOAL, 0.1, 20_000) is Blocked.UNPROVED
    assert reachable(cells, inside, 0.1) == set()


def test_both_sides_of_a_wall_are_regions_of_their_own(planar):
    cells = CellDatabase(planar, WALL)
    left, right = np.array([-1.6, 0.1]), np.array([1.6, 0.1])
    assert search_cells(cells, left, right, 0.1, 20_000) is Blocked.NO_PATH
    first, second = reachable(cells, left, 0.1), reachable(cells, right, 0.1)
    assert first
    assert second
    assert not first & second


def test_no_more_cells_are_made_than_allowed(planar):
    cells = CellDatabase(planar, WALL)
    assert search_cells(cells, np.array([-1.6, 0.1]), np.array([1.6, 0.1]), 0.02, 50) is Blocked.SPENT
    assert len(cells) <= 50


def test_a_wall_separates_and_nothing_else_does(planar):
    left, right = np.array([-1.6, 0.1]), np.array([1.6, 0.1])
    walled, empty = CellDatabase(planar, WALL), CellDatabase(planar, [])
    assert not separated(walled, left, right)  # not yet known
    search_cells(walled, left, right, 0.1, 20_000)
    assert separated(walled, left, right)
    assert not separated(walled, left, left + 0.05)
    search_cells(empty, left, right, 0.1, 20_000)
    assert not separated(empty, left, right)


def test_every_leaf_that_holds_a_start_on_a_face_is_considered(planar):
    cells = CellDatabase(planar, WALL)
    lower = cells.halve(0)
    middle = cells.center[0]
    assert cells.leaves(middle) == [lower, lower + 1]
    assert cells.leaf(middle) == lower
    assert cells.leaves(middle + np.array([1e-3, 1e-3]) * (cells.half[lower] < cells.half[0])) == [lower + 1]


def test_the_time_ends_the_search(planar):
    cells = CellDatabase(planar, WALL)
    left, right = np.array([-1.6, 0.1]), np.array([1.6, 0.1])
    assert search_cells(cells, left, right, 0.1, 20_000, lambda: 0.0) is Blocked.SPENT
