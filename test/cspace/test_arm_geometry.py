"""The arm as collision spheres: groups that hold their spheres, pairs of links, what the tool holds."""

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.covering import CollisionSphere, name_pair
from telerobot_nodes.cspace.geometry import Attachment, arm_geometry, box, floor, sphere, sphere_centers
from telerobot_nodes.cspace.geometry.arm_geometry import GROUP, enclosing_sphere, solid_spheres
from telerobot_nodes.errors import InvalidValueError


@pytest.mark.lengthy
def test_groups_and_links_hold_their_spheres(geometry):
    arm = geometry.arm
    for group, link in enumerate(arm.group_link):
        rows = slice(arm.sphere_first[group], arm.sphere_first[group + 1])
        assert 0 < rows.stop - rows.start <= GROUP
        for center, radius in ((arm.group_center[group], arm.group_radius[group]),):
            far = np.linalg.norm(arm.sphere_center[rows] - center, axis=1) + arm.sphere_radius[rows]
            assert far.max() <= radius + 1e-9
        far = np.linalg.norm(arm.sphere_center[rows] - arm.link_center[link], axis=1) + arm.sphere_radius[rows]
        assert far.max() <= arm.link_radius[link] + 1e-9


def test_every_sphere_has_the_name_of_its_shape(geometry):
    assert len(geometry.sphere_names) == len(geometry.arm.sphere_radius)


def test_pairs_and_excluded_pairs_together_are_all_pairs_of_links_that_different_joints_move(geometry):
    moved_by = {
        name: int(link) for names, link in zip(geometry.bodies, geometry.arm.body_link, strict=True) for name in names
    }
    named = {name_pair(a, b) for a, b, _ in geometry.excluded} | geometry.checked
    assert named == {name_pair(a, b) for a in moved_by for b in moved_by if moved_by[a] != moved_by[b]}
    assert not {name_pair(a, b) for a, b, _ in geometry.excluded} & geometry.checked


def test_bodies_partition_the_groups_of_their_link(geometry):
    arm = geometry.arm
    for body, link in enumerate(arm.body_link.tolist()):
        groups = range(arm.body_first[body], arm.body_first[body + 1])
        assert len(groups) > 0
        assert {int(arm.group_link[g]) for g in groups} == {link}
        rows = slice(arm.sphere_first[groups.start], arm.sphere_first[groups.stop])
        far = np.linalg.norm(arm.sphere_center[rows] - arm.body_center[body], axis=1) + arm.sphere_radius[rows]
        assert far.max() <= arm.body_radius[body] + 1e-9
    assert arm.body_first[-1] == len(arm.group_link)


def test_a_held_solid_adds_spheres_that_move_with_the_tool():
    robot = load_robot("panda")
    plain = arm_geometry(robot)
    held = arm_geometry(robot, [Attachment(sphere("ball", 0.04, (0.0, 0.0, 0.1)))])
    added = [i for i, name in enumerate(held.sphere_names) if name == "ball"]
    assert len(added) == len(held.sphere_names) - len(plain.sphere_names) > 0
    q = np.array(robot.home)
    expected = robot.forward(q).act(np.array([0.0, 0.0, 0.1]))
    assert sphere_centers(held.arm, q)[added[0]] == pytest.approx(expected)
    assert held.key() != plain.key()
    assert plain.key() == arm_geometry(robot).key()


def test_a_half_space_cannot_be_held():
    with pytest.raises(InvalidValueError, match="attachment kind"):
        Attachment(floor())


def test_the_enclosing_sphere_holds_all_and_is_nothing_for_none():
    rows = [CollisionSphere(np.array([x, 0.0, 0.0]), 0.1) for x in (-1.0, 0.2, 1.0)]
    whole = enclosing_sphere(rows)
    assert all(np.linalg.norm(s.center - whole.center) + s.radius <= whole.radius + 1e-9 for s in rows)
    assert whole.radius < 1.2
    assert enclosing_sphere([]).radius == 0.0


def test_spheres_of_a_box_hold_its_corners():
    solid = box("box", (0.1, 0.2, 0.3), (1.0, 2.0, 3.0))
    spheres = solid_spheres(solid, solid.T_world_obstacle, 0.045, 12)
    for corner in (np.array([1.05, 2.1, 3.15]), np.array([0.95, 1.9, 2.85])):
        assert min(np.linalg.norm(corner - s.center) - s.radius for s in spheres) <= 1e-9
