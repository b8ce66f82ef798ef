"""The scene: changed as a whole or not at all; what stands, what is held."""

import pickle

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.cspace.geometry import (
    MOST_OBSTACLES,
    Change,
    Obstacle,
    Scene,
    addition,
    box,
    floor,
    hull,
    scene_of,
    sphere,
)
from telerobot_nodes.errors import InvalidValueError

CAN, CRATE = sphere("can", 0.05, (1.0, 0.0, 0.0)), box("crate", (0.1, 0.1, 0.1), (0.0, 1.0, 0.0))


def names(scene):
    return [solid.name for solid in scene.obstacles]


def test_a_change_adds_moves_and_removes_by_name():
    scene = scene_of([CAN, CRATE])
    moved = sphere("can", 0.05, (2.0, 0.0, 0.0))
    assert names(scene.changed([addition(moved)])) == ["crate", "can"]
    assert scene.changed([addition(moved)]).obstacles[1] == moved
    assert names(scene.changed([Change("can")])) == ["crate"]
    assert names(scene) == ["can", "crate"]  # the old scene is unchanged


def test_replacing_keeps_nothing_of_the_old_scene():
    assert names(scene_of([CAN]).changed([addition(CRATE)], replace=True)) == ["crate"]


def test_what_an_arm_holds_stands_nowhere():
    scene = scene_of([CAN]).changed([addition(CRATE, "left")], arms=("left", "right"))
    assert names(scene) == ["can"]
    assert scene.held("left") == [CRATE]
    assert scene.held("right") == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ([addition(CRATE, "nobody")], "attached_to"),
        ([addition(CAN), Change("can")], "obstacle name"),
        ([Change("many", tuple(sphere(f"s{i}", 0.1, (0, 0, 0)) for i in range(MOST_OBSTACLES + 1)))], "number"),
    ],
)
def test_a_change_that_cannot_be_taken_is_refused_with_its_field(changes, field):
    with pytest.raises(InvalidValueError, match=field):
        Scene().changed(changes, arms=("left",))


@pytest.mark.parametrize("make", [lambda: Change(""), lambda: Change("floor", (floor(),), "left")])
def test_a_change_without_a_name_or_of_a_held_half_space_is_refused(make):
    with pytest.raises(InvalidValueError):
        make()


def test_a_scene_without_some_names_passes_over_unknown_ones():
    assert names(scene_of([CAN, CRATE]).without(["can", "ghost"])) == ["crate"]


def test_the_spheres_of_a_hull_hold_its_corners_in_its_pose():
    corners = np.array([[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2]])
    pose = (1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0)
    solids = hull("mesh", corners, pose).solids
    for corner in corners + np.array(pose[:3]):
        assert min(np.linalg.norm(corner - np.array(s.pose[:3])) - s.size[0] for s in solids) <= 1e-9
    with pytest.raises(InvalidValueError, match="points"):
        hull("mesh", [1.0, 2.0], pose)


def test_a_thing_is_left_out_with_all_of_its_parts():
    parts = [addition(Obstacle(f"shelf#{i}", "sphere", (0.1,))) for i in range(2)]
    assert names(Scene().changed([*parts, addition(CAN)]).without(["shelf"])) == ["can"]


def corners_of(size):
    return np.array([[x, y, z] for x in (0, size[0]) for y in (0, size[1]) for z in (0, size[2])], dtype=float)


@pytest.mark.parametrize("size", [(1.2, 0.8, 0.03), (2.0, 2.0, 0.1), (0.2, 0.1, 0.05), (1.2, 0.8, 0.0)])
def test_a_hull_that_is_a_box_is_that_box_however_it_is_turned(size):
    turn = pin.rpy.rpyToMatrix(0.3, -0.8, 1.9)
    corners = corners_of(size) @ turn.T + 1.0
    (solid,) = hull("mesh", corners, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)).solids
    assert solid.kind == "box"
    assert sorted(solid.size) == pytest.approx(sorted(max(edge, 1e-6) for edge in size), abs=2e-6)
    local = [solid.T_world_obstacle.actInv(corner) for corner in corners]
    assert (np.abs(local) <= 0.5 * np.array(solid.size) + 1e-9).all()


@pytest.mark.parametrize("count", [1, 2, 3, 40])
def test_every_corner_is_inside_whatever_holds_them(count):
    corners = np.random.default_rng(count).uniform(-0.3, 0.3, (count, 3))
    solids = hull("mesh", corners, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)).solids
    for corner in corners:
        assert any(inside(solid, corner) for solid in solids)


def inside(solid, point):
    local = solid.T_world_obstacle.actInv(point)
    if solid.kind == "sphere":
        return np.linalg.norm(local) <= solid.size[0] + 1e-9
    return bool((np.abs(local) <= 0.5 * np.array(solid.size) + 1e-9).all())


def test_a_scene_crosses_to_another_process():
    scene = scene_of([CAN, CRATE])
    assert pickle.loads(pickle.dumps(scene)) == scene
