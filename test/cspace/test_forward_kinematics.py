"""Links and spheres stand where Pinocchio puts them; levers and chords by hand."""

import math

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.cspace.geometry import (
    bound_links,
    chords,
    forward_kinematics,
    lever,
    link_poses_of,
    place_spheres,
    sphere_centers,
    sphere_motion_bounds,
)


def test_links_stand_where_pinocchio_puts_them(geometry, samples):
    robot, poses = geometry.robot, link_poses_of(geometry.arm)
    for q in samples(geometry, 20, 1):
        forward_kinematics(geometry.arm, q, poses)
        pin.forwardKinematics(robot.model, robot.data, q)
        for k in range(1, geometry.dof + 1):
            assert poses.origin[k] == pytest.approx(robot.data.oMi[k].translation, abs=1e-9)
            along = poses.rotation[k][:, 2]  # z along the joint's axis
            assert np.linalg.norm(along) == pytest.approx(1.0)


def test_spheres_are_placed_only_when_asked_for(planar):
    poses = link_poses_of(planar.arm)
    forward_kinematics(planar.arm, np.zeros(2), poses)
    assert not poses.placed.any()
    place_spheres(planar.arm, poses, 2)
    assert poses.placed.tolist() == [0, 0, 1]
    last = poses.sphere[planar.arm.sphere_first[planar.arm.link_first[2]] :]
    assert (last[:, 0] > 0.4).all()


def test_the_second_link_turns_with_both_joints(planar):
    straight, bent = (sphere_centers(planar.arm, np.array(q)) for q in ([0.0, 0.0], [math.pi / 2, 0.0]))
    assert bent[:, 0] == pytest.approx(-straight[:, 1], abs=1e-12)
    assert bent[:, 1] == pytest.approx(straight[:, 0], abs=1e-12)


def test_a_lever_is_the_distance_from_the_axis(planar):
    poses = link_poses_of(planar.arm)
    forward_kinematics(planar.arm, np.zeros(2), poses)
    assert lever(poses, 1, np.array([0.3, 0.4, 7.0])) == pytest.approx(0.5)
    assert lever(poses, 2, np.array([0.3, 0.4, 7.0])) == pytest.approx(math.hypot(0.2, 0.4))


def test_a_chord_is_never_longer_than_its_arc_and_never_more_than_a_diameter(planar):
    width = np.zeros(2)
    chords(planar.arm, np.array([0.1, 1.0]), width)
    assert width[0] == 0.1
    assert width[1] == pytest.approx(2.0 * math.sin(0.5))
    chords(planar.arm, np.array([9.0, 0.0]), width)
    assert width == pytest.approx([2.0, 0.0])


def test_the_bound_of_a_link_holds_for_each_of_its_spheres(geometry, samples):
    arm, poses = geometry.arm, link_poses_of(geometry.arm)
    half = np.linspace(0.0, 0.3, geometry.dof)
    links = np.repeat(arm.group_link, np.diff(arm.sphere_first))
    for q in samples(geometry, 5, 2):
        forward_kinematics(arm, q, poses)
        chords(arm, half, poses.width)
        bound_links(arm, poses)
        bounds = sphere_motion_bounds(arm, q, half)
        assert (bounds <= poses.motion[links, links] + 1e-9).all()
        assert (bounds[links == 0] == 0.0).all()


def test_an_arm_without_pairs_is_otherwise_the_same(planar):
    bare = planar.arm.without_pairs()
    assert len(bare.pairs) == 0
    assert bare.sphere_center is planar.arm.sphere_center
