"""Voxels of clouds: they hold every point that is left; region, the robot's own points, merging, frames of clouds."""

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.geometry import BLOCK, world_of
from telerobot_nodes.cspace.scenes import Frames, add_frames, frame_rows
from telerobot_nodes.cspace.scenes.cloud import MOST_VOXELS, CloudSettings, cloud_voxels
from telerobot_nodes.errors import InvalidValueError

REGION = (-0.5, -0.5, 0.0, 0.5, 0.5, 1.0)


def nothing(points, _distance):
    return np.zeros(len(points), dtype=bool)


def around(center, radius):
    """A robot that is a ball."""
    return lambda points, distance: np.linalg.norm(points - center, axis=1) <= radius + distance


def held(voxels, points):
    """Which points the voxels hold."""
    half = 0.5 * voxels.size[0] + 1e-9
    return np.array([(np.abs(voxels.places - point).max(axis=1) <= half).any() for point in points])


def test_voxels_hold_the_points_of_the_region_and_no_others():
    rng = np.random.default_rng(0)
    points = rng.uniform(-1.0, 1.5, (4000, 3))
    found = cloud_voxels(points, CloudSettings(0.05, 0.0, REGION), nothing, nothing)
    inside = ((points >= REGION[:3]) & (points < REGION[3:])).all(axis=1)
    assert (found.points, found.outside, found.own) == (4000, int((~inside).sum()), 0)
    assert held(found.voxels, points[inside]).all()
    away = np.abs(found.voxels.places[:, None] - points[inside]).max(axis=2).min(axis=1)
    assert away.max() <= 0.025 + 1e-9  # every voxel has a point


@pytest.mark.lengthy
def test_points_of_the_robot_go_and_what_is_near_it_stays():
    middle, radius, padding = np.array([0.1, 0.0, 0.5]), 0.1, 0.04  # more than a voxel is across
    rng = np.random.default_rng(1)
    points = middle + rng.uniform(-0.16, 0.16, (8000, 3))
    robot = around(middle, radius)
    found = cloud_voxels(points, CloudSettings(0.02, padding, REGION), robot, robot)
    away = np.linalg.norm(points - middle, axis=1)
    assert found.own == int((away <= radius + padding).sum())
    assert held(found.voxels, points[away > radius + padding][:500]).all()
    assert not held(found.voxels, points[away < radius]).any()


def test_a_cloud_of_the_robot_alone_leaves_nothing():
    robot = around(np.zeros(3), 5.0)
    found = cloud_voxels(np.full((10, 3), 0.2), CloudSettings(0.02, 0.0, REGION), robot, robot)
    assert (found.voxels, found.own) == (None, 10)


def test_too_many_voxels_are_merged_to_larger_ones_that_hold_the_points():
    points = np.random.default_rng(2).uniform(REGION[:3], REGION[3:], (30_000, 3))
    voxels = cloud_voxels(points, CloudSettings(0.01, 0.0, REGION), nothing, nothing).voxels
    assert 0 < len(voxels) <= MOST_VOXELS
    assert voxels.size[0] == pytest.approx(0.08)
    assert held(voxels, points[::100]).all()


def test_voxels_that_follow_each_other_are_neighbours():
    rng = np.random.default_rng(3)
    points = np.column_stack([rng.uniform(-0.5, 0.5, (40_000, 2)), np.full(40_000, 0.3)])
    voxels = cloud_voxels(points, CloudSettings(0.02, 0.0, REGION), nothing, nothing).voxels
    blocks = world_of([voxels]).blocks
    assert len(blocks) == -(-len(voxels) // BLOCK)
    assert np.median(blocks[:, 3]) < 0.08


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"voxel": 0.0}, "cloud_voxel"),
        ({"padding": np.nan}, "cloud_padding"),
        ({"region": (0.0, 0.0, 0.0, 1.0, 1.0)}, "cloud_region"),
        ({"region": (0.0, 0.0, 0.0, 1.0, 1.0, 0.0)}, "lowest corner, then highest"),
        ({"region": (-50.0,) * 3 + (50.0,) * 3}, "cloud_region.*voxels"),
    ],
)
def test_settings_that_cannot_be_are_refused_by_name(fields, why):
    with pytest.raises(InvalidValueError, match=why):
        CloudSettings(**fields)


def test_frames_of_clouds_stand_on_links_and_on_each_other():
    robot = load_robot("arm")
    frames = Frames(robot, np.array(robot.home))
    add_frames(frame_rows(["camera tool 0 0 0.1 0 0 0 1", "optical camera 0 0 0 0 1 0 0"]), frames)
    T = pin.SE3(np.diag([-1.0, 1.0, -1.0]), np.array([0.0, 0.0, 0.1]))
    assert frames.pose("optical", "frame").isApprox(frames.pose("tool", "frame") * T)
    wrong = {"a world 0 0 0 0 0 0": "NAME PARENT", "a world 0 0 x 0 0 0 1": "numbers", "a world 0 0 0 0 0 0 2": "unit"}
    for row, why in wrong.items():
        with pytest.raises(InvalidValueError, match=rf"cloud_frames\[0\].*{why}"):
            frame_rows([row])
    with pytest.raises(InvalidValueError, match="parent of a: 'moon'"):
        add_frames(frame_rows(["a moon 0 0 0 0 0 0 1"]), frames)
