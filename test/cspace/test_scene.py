"""The scene: changed as a whole or not at all; what stands, what is held."""

import pickle

import numpy as np
import pytest

from telerobot_nodes.cspace.geometry import MOST_OBSTACLES, Change, Scene, addition, box, floor, hull, scene_of, sphere
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


def test_a_scene_crosses_to_another_process():
    scene = scene_of([CAN, CRATE])
    assert pickle.loads(pickle.dumps(scene)) == scene
