"""Obstacles as the checker's arrays: distances of points, and trees in which no voxel is missed."""

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.cspace.geometry import Voxels, box, cylinder, floor, sphere, world_of
from telerobot_nodes.cspace.geometry.distances import distance
from telerobot_nodes.cspace.proof.solid_arrays import CLOUD, distance_to_node, distance_to_solid, solid_arrays

TURNED = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.2, 1.0), np.array([0.1, 0.0, 0.3]))
POSE = tuple(pose_from_se3(TURNED).tolist())
THINGS = [
    box("b", (0.2, 0.1, 0.3), POSE),
    cylinder("c", 0.1, 0.3, POSE),
    sphere("s", 0.15, POSE[:3]),
    floor(height=0.1),
]
SIZE = (0.03, 0.02, 0.04)


def cloud(count, name="cloud"):
    return Voxels(name, size=SIZE, pose=POSE, centers=np.random.default_rng(count).uniform(-0.5, 0.5, (count, 3)))


def to_solid(arrays, o, point):
    return distance_to_solid(arrays.kind, arrays.center, arrays.rotation, arrays.size, o, *point)


@pytest.mark.parametrize("o", range(len(THINGS)))
def test_distances_of_points_to_solids_are_those_of_the_planner(o):
    arrays = solid_arrays(THINGS)
    for point in np.random.default_rng(0).uniform(-1.0, 1.0, (50, 3)):
        assert to_solid(arrays, o, point) == pytest.approx(distance(world_of(THINGS), o, point), abs=1e-12)


def rows_below(arrays, node):
    """The rows of the voxels below a node; every node's box holds them."""
    a, b = arrays.child[node]
    rows = list(range(-1 - a, b)) if a < 0 else rows_below(arrays, a) + rows_below(arrays, b)
    for row in rows:
        turned, half = arrays.rotation[row].T @ arrays.center[row], arrays.size[row]
        assert (arrays.low[node] <= turned - half + 1e-12).all()
        assert (arrays.high[node] >= turned + half - 1e-12).all()
    return rows


@pytest.mark.parametrize("count", [1, 2, 5, 400])
def test_every_voxel_hangs_in_the_tree_of_its_thing_once(count):
    things = [cloud(7, "other"), THINGS[0], cloud(count)]
    arrays = solid_arrays(things)
    assert arrays.kind[[0, 2]].tolist() == [CLOUD, CLOUD]
    first = len(things)
    for o, number in ((0, 7), (2, count)):
        assert sorted(rows_below(arrays, arrays.root[o])) == list(range(first, first + number))
        places = arrays.center[first : first + number]
        assert np.sort(places, axis=0) == pytest.approx(np.sort(things[o].places, axis=0))
        assert np.array([s == pytest.approx(0.5 * np.array(SIZE)) for s in arrays.size[first : first + number]]).all()
        first += number


def test_voxels_at_one_place_hang_in_a_tree_too():
    arrays = solid_arrays([Voxels("stack", size=SIZE, centers=np.zeros((40, 3)))])
    assert sorted(rows_below(arrays, 0)) == list(range(1, 41))


def test_the_distance_to_a_node_is_that_to_its_box():
    arrays = solid_arrays([cloud(1)])
    point = np.array([0.3, -0.2, 0.1])
    turned = TURNED.rotation.T @ point
    assert distance_to_node(arrays.low, arrays.high, 0, *turned) == pytest.approx(to_solid(arrays, 1, point))
    assert distance_to_node(arrays.low, arrays.high, 0, *(0.5 * (arrays.low[0] + arrays.high[0]))) == 0.0
