"""The arm as collision spheres: groups that hold their spheres, pairs of links, what the tool holds."""

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.geometry import (
    Attachment,
    CollisionSphere,
    arm_geometry,
    box,
    floor,
    sphere,
    sphere_centers,
)
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


def test_pairs_and_excluded_pairs_together_are_all_pairs_of_links_with_spheres(geometry):
    arm = geometry.arm
    links = sorted(set(arm.group_link.tolist()))
    named = {(a, b) for a, b, _ in geometry.excluded} | {(a, b) for a, b in arm.pairs.tolist()}
    assert named == {(a, b) for a in links for b in links if a < b}
    assert all(b != a + 1 for a, b in arm.pairs.tolist())


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
    spheres = solid_spheres(solid, solid.T_world_obstacle)
    for corner in (np.array([1.05, 2.1, 3.15]), np.array([0.95, 1.9, 2.85])):
        assert min(np.linalg.norm(corner - s.center) - s.radius for s in spheres) <= 1e-9
