"""Distances of the checker's pieces to obstacles: coal's, and bounds that are never more."""

import coal
import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import link_shapes
from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.cspace.geometry import PlacedPieces, Voxels, box, cylinder, floor, pieces_of, sphere, world_of
from telerobot_nodes.cspace.geometry.distances import distance
from telerobot_nodes.cspace.search.obstacle_distances import EXACT, WIDER, SolidDistances, VoxelDistances, gap

TURNED = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.2, 1.0), np.array([0.1, 0.0, 0.3]))
POSE = tuple(pose_from_se3(TURNED).tolist())
SIZE = (0.03, 0.02, 0.04)
SOLIDS = [box("b", (0.2, 0.1, 0.3), POSE), cylinder("c", 0.1, 0.3, POSE), sphere("s", 0.15, POSE[:3])]


def cloud(count=500):
    return Voxels("cloud", size=SIZE, pose=POSE, centers=np.random.default_rng(4).uniform(-0.5, 0.5, (count, 3)))


@pytest.fixture(scope="module")
def pieces(panda):
    return [piece for shape in link_shapes(panda.robot) for piece in pieces_of(shape)][::4]


def placed_of(pieces, seed):
    """Pieces at random places of their links, those places, and the middles of the pieces there."""
    rng = np.random.default_rng(seed)
    frames = [pin.SE3(pin.exp3(rng.normal(size=3)), rng.uniform(-0.6, 0.6, 3)) for _ in pieces]
    most = max(len(piece.corners) for piece in pieces)
    local = np.array([np.resize(piece.corners, (most, 3)) for piece in pieces])
    rotation, origin = np.array([T.rotation for T in frames]), np.array([T.translation for T in frames])
    corners = local @ rotation.transpose(0, 2, 1) + origin[:, None]
    placed = PlacedPieces(rotation, origin, corners, local.min(axis=1), local.max(axis=1))
    return placed, frames, np.array([T.act(p.corners.mean(axis=0)) for T, p in zip(frames, pieces, strict=True)])


def reach_of(piece):
    return float(np.linalg.norm(piece.corners - piece.corners.mean(axis=0), axis=1).max())


@pytest.mark.parametrize("obstacle", [*SOLIDS, floor(height=0.1)], ids=lambda o: o.kind)
def test_distances_of_points_to_solids_are_those_of_the_planner(obstacle):
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 3))
    ours = [distance(world_of([obstacle]), 0, point) for point in points]
    assert SolidDistances(obstacle).bound(points, 9.0) == pytest.approx(ours, abs=1e-12)
    assert SolidDistances(obstacle).bound(points.reshape(5, 10, 3), 9.0).ravel() == pytest.approx(ours, abs=1e-12)


@pytest.mark.parametrize("obstacle", SOLIDS, ids=lambda o: o.kind)
def test_bounds_of_pieces_and_solids_are_never_more_than_their_distance(obstacle, pieces):
    shape = {"box": coal.Box, "cylinder": coal.Cylinder, "sphere": coal.Sphere}[obstacle.kind](*obstacle.size)
    for seed in range(5):
        placed, frames, middles = placed_of(pieces, seed)
        near = SolidDistances(obstacle).near(placed, middles, np.full(len(pieces), 0.5))
        true = [gap(p.solid, T * p.T, shape, obstacle.T_world_obstacle) for p, T in zip(pieces, frames, strict=True)]
        measured = [near.distance(i, p, T, 0.0) for i, (p, T) in enumerate(zip(pieces, frames, strict=True))]
        assert measured == true
        assert (near.least <= np.where(np.array(true) < 0.0, true, np.array(true) + 2.0 * EXACT)).all()
        assert (near.least[np.array(true) > 0.4] > 0.2).all()  # and not of no use


def test_a_half_space_is_measured_at_the_lowest_corner(pieces):
    placed, frames, middles = placed_of(pieces, 1)
    near = SolidDistances(floor(height=0.1)).near(placed, middles, np.full(len(pieces), 0.5))
    for i, (piece, T) in enumerate(zip(pieces, frames, strict=True)):
        lowest = min(T.act(corner)[2] for corner in piece.corners) - 0.1
        assert near.distance(i, piece, T, 0.0) == pytest.approx(lowest, abs=1e-12)


def test_distances_to_voxels_are_coal_s_least_of_all_boxes(pieces):
    voxels, solid = cloud(), coal.Box(*SIZE)
    distances = VoxelDistances(voxels)
    placed, frames, middles = placed_of(pieces, 5)
    reach = np.array([reach_of(piece) for piece in pieces])
    boxes = [pin.SE3(TURNED.rotation, place) for place in voxels.places]
    true = np.array([min(gap(p.solid, T * p.T, solid, U) for U in boxes) for p, T in zip(pieces, frames, strict=True)])
    assert true.min() < 0.0 and true.max() > 0.03
    near = distances.near(placed, middles, reach + np.maximum(true, 0.0))
    assert (near.least <= np.where(true < 0.0, true, true + 2.0 * EXACT)).all()
    nearest = np.array([np.linalg.norm(voxels.places - m, axis=1).min() for m in middles])
    out = 0.5 * float(np.linalg.norm(SIZE))
    assert distances.bound(middles, 9.0) == pytest.approx(nearest - out)
    assert distances.bound(middles, 0.05) == pytest.approx(np.minimum(nearest - out, 0.05))
    assert (nearest - out > 0.05).any()
    for i, (piece, T) in enumerate(zip(pieces, frames, strict=True)):
        found, enough = near.distance(i, piece, T, np.inf), near.distance(i, piece, T, 0.01)
        assert (found < 0.0) == (true[i] < 0.0) == (enough < 0.0)
        if true[i] > 0.0:
            assert found == pytest.approx(true[i], abs=1e-5)
            assert min(0.01, true[i]) - 1e-5 <= enough <= true[i] + 1e-5


def test_voxels_that_are_not_looked_at_count_as_just_beyond(pieces):
    placed, frames, middles = placed_of(pieces, 5)
    far = PlacedPieces(placed.rotation, placed.origin + 9.0, placed.corners + 9.0, placed.low, placed.high)
    within = np.array([reach_of(piece) for piece in pieces]) + 0.02
    near = VoxelDistances(cloud()).near(far, middles + 9.0, within)
    assert near.least == pytest.approx(np.full(len(pieces), 0.02 + WIDER))
    assert near.distance(0, pieces[0], frames[0], np.inf) == pytest.approx(0.02 + WIDER)
