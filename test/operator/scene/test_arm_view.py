"""The arm as drawn stands where the kinematics say, and a motion sends turns only."""

import numpy as np
import pinocchio as pin
import pytest
from viser_scene import RecordingScene

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.operator.scene import Detail, load_shapes
from telerobot_nodes.operator.scene.arm_view import TOGETHER, ArmStyle, ArmView


@pytest.fixture
def scene():
    return RecordingScene()


def view_of(scene, robot):
    return ArmView(scene, "/arm", robot, load_shapes(robot, Detail.COLLISION), ArmStyle())


def drawn_at(scene, path):
    """Pose of a node in the scene: the product of the frames that it is inside of."""
    T = pin.SE3.Identity()
    names = path.split("/")
    for depth in range(2, len(names) + 1):
        frame = scene.drawn["/".join(names[:depth])]
        if frame.kind == "add_frame" and hasattr(frame, "wxyz"):
            T = T * pin.SE3(pin.Quaternion(*frame.wxyz).toRotationMatrix(), np.array(frame.position))
    return T


@pytest.mark.parametrize("name", ["arm", "panda", "ur5"])
def test_each_shape_is_drawn_at_its_joint(scene, name):
    robot = load_robot(name)
    view = view_of(scene, robot)
    data = robot.new_data()
    q = robot.limits.lower + 0.3 * (robot.limits.upper - robot.limits.lower)
    assert view.show(q)
    pin.forwardKinematics(robot.model, data, q)
    meshes = [path for path, drawn in scene.drawn.items() if drawn.kind == "add_mesh_simple"]
    shapes = load_shapes(robot, Detail.COLLISION)
    assert len(meshes) == len(shapes)
    for path, shape in zip(meshes, shapes, strict=True):
        assert drawn_at(scene, path.rpartition("/")[0]).isApprox(data.oMi[shape.joint], 1e-9)
    assert np.allclose(view.tip, data.oMi[robot.dof].translation)


def test_a_motion_moves_no_frame_inside_its_parent(scene):
    robot = load_robot("arm")
    view = view_of(scene, robot)
    view.show(robot.home)
    places = {
        name: drawn.position for name, drawn in scene.drawn.items() if drawn.kind == "add_frame" and name != "/arm"
    }
    turns = {name: drawn.wxyz for name, drawn in scene.drawn.items() if name in places}
    view.show(robot.home + 0.2)
    assert all(scene.drawn[name].position is place for name, place in places.items())
    assert all(scene.drawn[name].wxyz != turn for name, turn in turns.items())


def test_a_ghost_is_not_drawn_over_the_arm_and_no_arm_at_joints_of_another(scene):
    robot = load_robot("arm")
    view = view_of(scene, robot)
    assert not view.show(robot.home, unless_at=robot.home + 0.9 * TOGETHER)
    assert view.show(robot.home, unless_at=robot.home + 1.1 * TOGETHER)
    assert scene.drawn["/arm"].visible
    assert not view.show(np.zeros(7))
    assert not scene.drawn["/arm"].visible
