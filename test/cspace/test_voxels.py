"""Voxels as one obstacle: the same answers as of boxes one by one, in every part of the planner that sees them."""

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.cspace.geometry import (
    BLOCK,
    Attachment,
    Change,
    ForceField,
    Scene,
    Voxels,
    arm_geometry,
    bound_cell,
    box,
    floor,
    link_poses_of,
    nearest,
    probe,
    touches,
    world_of,
)
from telerobot_nodes.cspace.search import CellDatabase, Planner, check_certificate
from telerobot_nodes.errors import InvalidValueError

TURNED = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.2, 1.0), np.array([0.1, 0.0, 0.3]))
EDGE = 0.03
SIZE = (EDGE,) * 3


def cloud(seed=0, count=300, low=-0.7, high=0.7):
    centers = np.random.default_rng(seed).uniform(low, high, (count, 3))
    keep = np.linalg.norm(centers[:, :2], axis=1) > 0.25
    pose = tuple(pose_from_se3(TURNED).tolist())
    return Voxels("cloud", size=SIZE, pose=pose, centers=centers[keep])


def boxes(voxels):
    R = voxels.T_world_obstacle
    return [box(f"b{i}", SIZE, pose_from_se3(pin.SE3(R.rotation, p))) for i, p in enumerate(voxels.places)]


def test_a_world_of_voxels_is_that_of_its_boxes_and_blocks_hold_their_rows():
    voxels = cloud()
    one, many = world_of([floor(), voxels]), world_of([floor(), *boxes(voxels)])
    for name in ("kind", "center", "rotation", "size", "reach", "rows", "blocks"):
        assert getattr(one, name) == pytest.approx(getattr(many, name)), name
    assert one.first.tolist() == [0, 1, 1 + len(voxels)]
    for b, (x, y, z, radius) in enumerate(one.blocks32.tolist()):
        rows = slice(BLOCK * b, BLOCK * (b + 1))
        assert (np.linalg.norm(one.center[rows] - (x, y, z), axis=1) + one.reach[rows] <= radius).all()


@pytest.mark.lengthy
def test_compiled_answers_are_those_of_the_boxes(panda):
    voxels = cloud(1)
    one, many = world_of([voxels], 0.005), world_of(boxes(voxels), 0.005)
    poses, rng, half = link_poses_of(panda.arm), np.random.default_rng(2), np.full(panda.dof, 0.03)
    limits = panda.robot.limits
    for q in rng.uniform(limits.lower, limits.upper, (40, panda.dof)):
        near = nearest(panda.arm, one, poses, q, 1.0)
        assert near == pytest.approx(nearest(panda.arm, many, poses, q, 1.0), abs=1e-12)
        part = probe(panda.arm, one, poses, q, half)
        assert part == pytest.approx(probe(panda.arm, many, poses, q, half), abs=1e-12)
        bound_cell(panda.arm, poses, q, half)
        each = [touches(panda.arm, many, poses, i) for i in range(len(voxels))]
        assert touches(panda.arm, one, poses, 0) == (any(m for m, _ in each), any(e for _, e in each))


def test_the_field_pushes_as_it_does_from_the_boxes(panda):
    voxels = cloud(3)
    q = np.array(panda.robot.home)
    pushed = [ForceField([panda], things).step([q])[0].copy() for things in ([voxels], boxes(voxels))]
    assert pushed[0] == pytest.approx(pushed[1])
    assert np.abs(pushed[0]).max() > 0.0


def test_a_certified_path_keeps_clear_and_its_checker_sees_one_voxel_more(planar):
    wall = Voxels("cloud", size=SIZE, centers=np.array([[0.75, y, 0.0] for y in np.arange(0.15, 0.4, EDGE)]))
    start, goal = np.array([-0.8, 0.0]), np.array([0.1, -0.4])
    plan = Planner(planar, [wall]).plan(start, goal)
    assert plan.found
    assert check_certificate(plan.certificate, plan.path, planar, [wall], 0.005).valid
    middle = planar.robot.forward(plan.path[len(plan.path) // 2]).translation
    more = Voxels("cloud", size=SIZE, centers=np.vstack([wall.centers, middle]))
    assert "is not free" in check_certificate(plan.certificate, plan.path, planar, [more], 0.005).reason


def test_a_collision_names_the_thing_and_cells_are_made_again_when_it_changes(planar):
    planner = Planner(planar, [floor(height=-0.5), Voxels("cloud", size=SIZE, centers=[[0.6, 0.0, 0.0]])])
    assert planner.status(np.zeros(2))[1].endswith("cloud")
    q = np.array([0.5, 0.5])
    planner.cells.refine(q, 0.2)
    assert len(planner.cells) > 1
    planner.set_obstacles([floor(height=-0.5), Voxels("cloud", size=SIZE, centers=[[-0.6, 0.0, 0.0]])])
    fresh = CellDatabase(planar, planner.obstacles, 0.005)
    assert len(planner.cells) == 1
    cell, other = planner.cells.refine(q, 0.2), fresh.refine(q, 0.2)
    assert planner.cells.status[cell] == fresh.status[other]


def test_voxels_are_equal_by_value_and_their_key_by_every_centre():
    a, b, c = cloud(1), cloud(1), cloud(2)
    assert a == b
    assert repr(a) == repr(b)
    assert a != c
    moved = a.centers.copy()
    moved[len(moved) // 2, 0] += 1e-6
    other = Voxels("cloud", size=a.size, pose=a.pose, centers=moved)
    assert other != a
    assert repr(other) != repr(a)


def test_each_voxel_counts_and_what_cannot_be_is_refused():
    assert len(Scene().changed([Change("cloud", (cloud(),))]).obstacles) == 1
    for make, why in (
        (lambda: Voxels("v", size=SIZE), "points"),
        (lambda: Voxels("v", size=SIZE, centers=[[0.0, np.nan, 0.0]]), "points"),
        (lambda: Voxels("v", size=(0.1,), centers=[[0.0] * 3]), "size"),
        (lambda: Voxels("v", "sphere", (0.1,), centers=[[0.0] * 3]), "kind"),
        (lambda: Attachment(cloud()), "attachment kind"),
        (lambda: Change("v", (cloud(),), "arm"), "attached kind"),
        (lambda: world_of([cloud(count=20_000)]), "number"),
        (lambda: Scene().changed([Change("v", (cloud(count=20_000),))]), "number"),
    ):
        with pytest.raises(InvalidValueError, match=why):
            make()


@pytest.mark.lengthy
def test_a_held_thing_keeps_clear_of_voxels_too(panda):
    held = arm_geometry(panda.robot, [Attachment(box("rod", (0.02, 0.02, 0.5), (0.0, 0.0, 0.25)))])
    q = np.array(panda.robot.home)
    end = panda.robot.forward(q).act(np.array([0.0, 0.0, 0.45]))
    things = [Voxels("cloud", size=SIZE, centers=end[None])]
    assert Planner(panda, things).status(q)[0] > 0.0
    assert Planner(held, things).status(q)[0] < 0.0
