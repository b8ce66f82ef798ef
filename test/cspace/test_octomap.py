"""Octomaps: the voxels of trees that are made here, in both forms; too many are merged, bad ones refused."""

import struct
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.cspace.scenes.octomap import DEPTH, MOST_VOXELS, octomap_voxels
from telerobot_nodes.errors import InvalidValueError

EDGE = 0.05
HERE = pin.SE3.Identity()


def tree_of(voxels):
    """A tree as nested dictionaries by child number, of voxels (x, y, z) counted from the lowest corner."""
    root = {}
    for voxel in voxels:
        node = root
        for level in range(DEPTH - 1, -1, -1):
            number = sum((int(v) >> level & 1) << axis for axis, v in enumerate(voxel))
            node = node.setdefault(number, {})
    return root


def binary(node, depth=0):
    bits, below = 0, b""
    for number in sorted(node):
        leaf = depth == DEPTH - 1
        bits |= (2 if leaf else 3) << 2 * number
        below += b"" if leaf else binary(node[number], depth + 1)
    return bits.to_bytes(2, "little") + below


def full(node, odds=1.0):
    mask = sum(1 << number for number in node)
    return struct.pack("<fB", odds, mask) + b"".join(full(node[number], odds) for number in sorted(node))


def message(data, **fields):
    values = np.frombuffer(data, dtype=np.int8).tolist()
    return SimpleNamespace(**{"id": "OcTree", "resolution": EDGE, "binary": True, "data": values, **fields})


def centers(found):
    return sorted(tuple(np.round(place, 9)) for voxels in found for place in voxels.places)


def places(voxels):
    return sorted(tuple(np.round(EDGE * (np.array(v) + 0.5 - 2 ** (DEPTH - 1)), 9)) for v in voxels)


MIDDLE = 2 ** (DEPTH - 1)
SOME = [(MIDDLE, MIDDLE, MIDDLE), (MIDDLE - 1, MIDDLE + 7, MIDDLE + 3), (MIDDLE + 20, MIDDLE, MIDDLE - 20)]


@pytest.mark.parametrize(("write", "is_binary"), [(binary, True), (full, False)])
def test_every_occupied_voxel_is_a_box_where_it_is(write, is_binary):
    boxes = octomap_voxels(message(write(tree_of(SOME)), binary=is_binary), HERE)
    assert centers(boxes) == places(SOME)
    assert all(b.size == pytest.approx((EDGE, EDGE, EDGE)) for b in boxes)


def test_the_map_stands_where_its_frame_is():
    T = pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, 1.0), np.array([1.0, 2.0, 3.0]))
    (solid,) = octomap_voxels(message(binary(tree_of(SOME[1:2]))), T)
    assert solid.places[0] == pytest.approx(T.act(np.array(places(SOME[1:2])[0])))
    assert solid.T_world_obstacle.rotation == pytest.approx(T.rotation)


def test_what_is_free_or_unknown_is_no_obstacle():
    free = struct.pack("<H", 1 << 4)  # child 2 free, the others unknown
    assert octomap_voxels(message(free), HERE) == []
    assert octomap_voxels(message(full(tree_of(SOME), odds=-0.4), binary=False), HERE) == []


def test_a_cube_that_is_occupied_as_a_whole_is_one_box():
    (solid,) = octomap_voxels(message(struct.pack("<H", 2 << 2 * 7), resolution=0.01), HERE)  # at +x +y +z
    edge = 0.01 * 2 ** (DEPTH - 1)
    assert solid.size == pytest.approx((edge, edge, edge))
    assert solid.places[0] == pytest.approx((0.5 * edge,) * 3)


@pytest.mark.lengthy
def test_too_many_voxels_are_merged_to_larger_ones_that_hold_them():
    rng = np.random.default_rng(0)
    voxels = np.unique(MIDDLE + rng.integers(-40, 40, (3 * MOST_VOXELS, 3)), axis=0)
    boxes = octomap_voxels(message(binary(tree_of(voxels.tolist()))), HERE)
    middle = np.vstack([voxels.places for voxels in boxes])
    half = np.concatenate([np.full(len(voxels), 0.5 * voxels.size[0]) for voxels in boxes])
    assert 0 < len(middle) <= MOST_VOXELS
    for place in places(voxels.tolist())[::50]:
        inside = np.abs(middle - np.array(place)).max(axis=1) <= half - 0.5 * EDGE + 1e-9
        assert inside.any()


WHOLE = binary(tree_of(SOME))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (message(WHOLE, id="ColorOcTree"), "octomap.id: 'ColorOcTree'"),
        (message(WHOLE, resolution=0.0), "octomap.resolution: 0.0"),
        (message(WHOLE, resolution=np.nan), "octomap.resolution: nan"),
        (message(WHOLE[:-1]), "octomap.data .length."),
        (message(WHOLE + b"\x00"), "octomap.data .length."),
        (message(b"\x03\x00" * (DEPTH + 2)), f"up to {DEPTH} levels"),
        (message(struct.pack("<fB", np.nan, 0), binary=False), r"octomap.data\[0\]: nan"),
    ],
)
def test_a_map_that_cannot_be_read_is_refused(given, why):
    with pytest.raises(InvalidValueError, match=why):
        octomap_voxels(given, HERE)
