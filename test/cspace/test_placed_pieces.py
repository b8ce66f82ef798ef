"""The checker's frames are Pinocchio's, and no point of a piece moves more than its bound in a cell."""

import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.geometry import arm_geometry
from telerobot_nodes.cspace.proof.arm_pieces import arm_pieces
from telerobot_nodes.cspace.proof.placed_pieces import corner_motion, place, place_corners, place_middles, placed_of

INERTIA = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
SLIDE = f"""<robot name="slide"><link name="base"/>
  <joint name="a" type="prismatic"><origin xyz="0 0.1 0" rpy="0.2 0 0.4"/><parent link="base"/><child link="one"/>
    <axis xyz="0 0.6 0.8"/><limit lower="-0.4" upper="0.4" velocity="1" effort="10"/></joint>
  <link name="one">{INERTIA}</link>
  <joint name="b" type="revolute"><origin xyz="0.4 0 0"/><parent link="one"/><child link="tool"/><axis xyz="0.6 0 0.8"/>
    <limit lower="-2.5" upper="2.5" velocity="1" effort="10"/></joint>
  <link name="tool">{INERTIA}
    <collision><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.1 0.05"/></geometry></collision></link>
</robot>"""


@pytest.fixture(scope="module", params=["panda", "ur5", "slide"])
def robot(request, tmp_path_factory):
    """Known robots, and one whose first joint slides and whose axes are along none of a frame."""
    if request.param != "slide":
        return load_robot(request.param)
    file = tmp_path_factory.mktemp("slide") / "slide.urdf"
    file.write_text(SLIDE)
    return load_robot(str(file), tool_frame="tool")


def test_frames_and_axes_are_pinocchio_s(robot):
    arm = arm_pieces(arm_geometry(robot)).arrays
    at, data = placed_of(arm), robot.new_data()
    for q in np.random.default_rng(0).uniform(robot.limits.lower, robot.limits.upper, (20, robot.dof)):
        place(arm, at, q, np.full_like(q, 0.2))
        J = pin.computeJointJacobians(robot.model, data, q)
        for link in range(1, robot.dof + 1):
            assert at.rotation[link] == pytest.approx(data.oMi[link].rotation, abs=1e-12)
            assert at.origin[link] == pytest.approx(data.oMi[link].translation, abs=1e-12)
        assert np.hstack([at.moment, at.axis]) == pytest.approx(J.T, abs=1e-12)


def corners_at(robot, data, arm, q):
    """Every corner in WORLD, by Pinocchio."""
    pin.forwardKinematics(robot.model, data, q)
    links = np.repeat(arm.link, np.diff(arm.corner_first))
    return np.array(
        [data.oMi[k].act(corner) if k else corner for k, corner in zip(links.tolist(), arm.corner, strict=True)]
    )


def test_no_corner_moves_more_than_its_bounds(robot):
    arm = arm_pieces(arm_geometry(robot)).arrays
    at, data, rng = placed_of(arm), robot.new_data(), np.random.default_rng(1)
    limits, n = robot.limits, robot.dof
    for widest in (0.05, 0.5, 4.0):
        q, half = rng.uniform(limits.lower, limits.upper), rng.uniform(0.0, widest, n)
        half[rng.integers(n)] = 0.0
        place(arm, at, q, half)
        start = corners_at(robot, data, arm, q)
        ends = [corners_at(robot, data, arm, q + half * rng.choice([-1.0, 1.0, 0.3], n)) for _ in range(30)]
        most = np.max([np.linalg.norm(end - start, axis=1) for end in ends], axis=0)
        for k in range(n + 1):
            place_middles(arm, at, k)
            for i in range(arm.link_first[k], arm.link_first[k + 1]):
                place_corners(arm, at, i)
                rows = slice(arm.corner_first[i], arm.corner_first[i + 1])
                assert at.corner[rows] == pytest.approx(start[rows], abs=1e-12)
                bound = corner_motion(at.axis, at.moment, at.width, at.corner, rows.start, rows.stop, 0, k)[0]
                assert most[rows].max() <= bound + 1e-12
                assert bound <= at.moved[i, k] + 1e-12 <= at.link_moved[k, k] + 2e-12
                away = np.linalg.norm(at.link_middle[k] - at.middle[i])
                assert away + arm.reach[i] + arm.radius[i] <= arm.link_reach[k] + 1e-12


def test_the_joint_that_moves_a_piece_most_is_named():
    arm = arm_pieces(arm_geometry(load_robot("panda"))).arrays
    at, half = placed_of(arm), np.full(7, 1e-3)
    half[3] = 0.4
    place(arm, at, np.array(load_robot("panda").home), half)
    last = len(arm.link) - 1
    place_corners(arm, at, last)
    rows = arm.corner_first[last], arm.corner_first[last + 1]
    assert corner_motion(at.axis, at.moment, at.width, at.corner, *rows, 0, 7)[1] == 3
    assert corner_motion(at.axis, at.moment, at.width, at.corner, *rows, 4, 7)[1] > 3
