from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.config import share_path
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import ModelError

LINKS = '<link name="base"/><link name="one"/><link name="two"/>'


def joint(name="j1", parent="base", child="one", kind="revolute", limit=None, extra="") -> str:
    limit = 'lower="-1" upper="1" velocity="2" effort="3"' if limit is None else limit
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="0 0 1"/>{extra}{f"<limit {limit}/>" if limit else ""}</joint>'
    )


SECOND = joint("j2", "one", "two")


def load(tmp_path, body: str, **options):
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r">{body}</robot>')
    return load_robot(str(path), **options)


def test_a_known_robot_has_consistent_parts(robot):
    assert robot.dof == len(robot.joint_names) == robot.limits.dof == robot.home.size
    robot.limits.check_position(robot.home)
    assert robot.jacobian(robot.home).shape == (6, robot.dof)
    assert robot.workspace.contains(robot.forward(robot.home).translation)


def test_fingers_are_not_arm_joints():
    panda, arm = load_robot("panda"), load_robot("arm")
    assert panda.dof == 7 and arm.dof == 6
    assert panda.gripper.max_opening == arm.gripper.max_opening == 0.08


def test_the_panda_has_its_published_accelerations():
    assert load_robot("panda").limits.acceleration.tolist() == [15, 7.5, 10, 12.5, 15, 20, 20]


def test_the_default_arm_has_the_published_kinematics_of_the_puma_560():
    robot = load_robot("arm")
    d = [0.6718, 0.0, 0.15005, 0.4318, 0.0, 0.05625]
    a = [0.0, 0.4318, 0.0203, 0.0, 0.0, 0.0]
    alpha = np.array([1, 0, -1, 1, -1, 0]) * np.pi / 2
    rng = np.random.default_rng(1)
    for _ in range(10):
        q = rng.uniform(robot.limits.lower, robot.limits.upper)
        T = pin.SE3.Identity()
        for i in range(6):
            T = T * pin.SE3(pin.exp3(np.array([0, 0, q[i]])), np.zeros(3))
            T = T * pin.SE3(pin.exp3(np.array([alpha[i], 0, 0])), np.array([a[i], 0, d[i]]))
        flange = T * pin.SE3(np.eye(3), np.array([0, 0, 0.036 + 0.11]))
        assert np.allclose(robot.forward(q).homogeneous, flange.homogeneous, atol=1e-9)


def test_at_home_the_tool_of_every_known_robot_points_down(robot):
    assert robot.forward(robot.home).rotation[:, 2] == pytest.approx([0, 0, -1], abs=1e-6)


def test_home_of_the_default_arm_is_far_from_limits():
    robot = load_robot("arm")
    assert np.minimum(robot.home - robot.limits.lower, robot.limits.upper - robot.home).min() > 0.5


def test_a_base_placed_elsewhere_moves_the_tool_with_it():
    T = pin.SE3(pin.exp3(np.array([0, 0, 0.5])), np.array([1.0, 2.0, 0.3]))
    here, there = load_robot("arm"), load_robot("arm", T_world_base=T)
    assert np.allclose(there.forward(there.home).homogeneous, (T * here.forward(here.home)).homogeneous, atol=1e-12)
    assert np.allclose(there.jacobian(there.home), here.jacobian(here.home), atol=1e-12)


def test_a_urdf_without_profile_follows_the_stated_rules(tmp_path):
    robot = load(tmp_path, LINKS + joint(limit='lower="1" upper="3" velocity="2" effort="3"') + SECOND)
    assert robot.tool_frame == "two"
    assert robot.limits.acceleration.tolist() == [10.0, 10.0]
    assert robot.home.tolist() == [2.0, 0.0]


def test_a_continuous_joint_gets_two_turns(tmp_path):
    robot = load(tmp_path, LINKS + joint(kind="continuous", limit='velocity="2" effort="3"') + SECOND)
    assert robot.limits.upper[0] == pytest.approx(2 * np.pi)


def test_a_prismatic_joint_works(tmp_path):
    robot = load(tmp_path, LINKS + joint(kind="prismatic") + SECOND)
    assert robot.forward(np.array([0.25, 0.0])).translation[2] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (LINKS + joint(limit=""), "joint 'j1': no <limit>"),
        (LINKS + joint(limit='lower="-1" upper="1" effort="3"'), "joint 'j1': limit velocity: missing"),
        (LINKS + joint(limit='lower="-1" upper="nan" velocity="1" effort="3"'), "limit upper: nan"),
        (LINKS + joint(limit='lower="x" upper="1" velocity="1" effort="3"'), "limit lower: 'x' is not a number"),
        (LINKS + joint(limit='lower="2" upper="1" velocity="1" effort="3"'), "lower 2 is not below upper 1"),
        (LINKS + joint(limit='lower="0" upper="1" velocity="0" effort="3"'), "limit velocity is 0"),
        (LINKS + joint(child="three"), "child link 'three' does not exist"),
        (LINKS + joint(extra='<origin xyz="0 inf 0"/>') + SECOND, "joint 'j1': origin xyz: inf"),
        (LINKS + joint(extra='<origin xyz="0 0"/>') + SECOND, "origin xyz has 2 values"),
        (
            '<link name="base"><inertial><mass value="nan"/></inertial></link>' + LINKS[19:] + joint() + SECOND,
            "link 'base': mass value: nan",
        ),
        (LINKS + joint() + joint("j2", "base", "one"), "robot.urdf"),
        (LINKS, "robot.urdf"),
    ],
)
def test_a_malformed_urdf_is_refused_naming_the_part(tmp_path, body, message):
    with pytest.raises(ModelError) as caught:
        load(tmp_path, body)
    assert message in str(caught.value)


def test_a_missing_tool_frame_is_refused_with_those_there_are(tmp_path):
    with pytest.raises(ModelError, match="'claw' does not exist; one of base, one, two"):
        load(tmp_path, LINKS + joint() + SECOND, tool_frame="claw")


def test_text_that_is_not_xml_is_refused(tmp_path):
    path = tmp_path / "x.urdf"
    path.write_text("<robot><link")
    with pytest.raises(ModelError, match="not readable as XML"):
        load_robot(str(path))
    path.write_text("<sdf/>")
    with pytest.raises(ModelError, match="not <robot>"):
        load_robot(str(path))


def test_an_unknown_robot_is_refused_with_the_known_names():
    with pytest.raises(ModelError, match="arm, panda, ur5"):
        load_robot("r2d2")


def test_a_missing_data_file_is_refused_with_the_places_searched():
    with pytest.raises(ModelError, match=r"urdf/none\.urdf: not found in"):
        share_path("urdf/none.urdf")
