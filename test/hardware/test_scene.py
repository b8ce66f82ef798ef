from __future__ import annotations

import itertools

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from telerobot_nodes.core.robot import Kinematics, load_robot
from telerobot_nodes.errors import ModelError
from telerobot_nodes.hardware import MujocoArm, ServoReference, build_scene

ROBOTS = ("arm", "panda", "ur5")


def corners(robot) -> np.ndarray:
    T = robot.forward(robot.home)
    signs = np.array(list(itertools.product((-1, 1), repeat=3)))
    kinematics = Kinematics(robot)
    rows = []
    for offset in 0.5 * signs * robot.workspace.size:
        path = [pin.SE3ToXYZQUAT(pin.SE3(T.rotation, T.translation + u * offset)) for u in np.linspace(0, 1, 12)]
        rows.append(kinematics.solve_path(np.array(path), robot.home)[-1])
    return np.array(rows)


@pytest.mark.parametrize("name", ROBOTS)
def test_pinocchio_and_mujoco_agree_where_the_sensor_is(name):
    robot = load_robot(name, T_world_base=pin.SE3(pin.exp3(np.array([0, 0, 0.4])), np.array([0.1, -0.2, 0.05])))
    arm = MujocoArm(robot)
    arm.open(0.0)
    frame = robot.model.getFrameId(robot.sensor_frame)
    data = robot.new_data()
    pin.framesForwardKinematics(robot.model, data, np.array(robot.home))
    site = arm.data.site("wrist_sensor")
    assert np.allclose(site.xpos, data.oMf[frame].translation, atol=1e-9)
    assert np.allclose(site.xmat.reshape(3, 3), data.oMf[frame].rotation, atol=1e-9)


def touching(arm):
    """Names of the bodies that touch each other: what lies loose on the board does."""
    body = arm.model.geom_bodyid
    return [tuple(arm.model.body(body[g]).name for g in contact.geom) for contact in arm.data.contact]


@pytest.mark.parametrize("name", ROBOTS)
def test_the_workspace_box_is_free_of_contact(name):
    robot = load_robot(name)
    arm = MujocoArm(robot)
    arm.open(0.0)
    for q in (np.array(robot.home), *corners(robot)):
        arm.data.qpos[arm._q_address] = q
        mujoco.mj_forward(arm.model, arm.data)
        assert not [pair for pair in touching(arm) if any(name.startswith("arm/") for name in pair)]


def test_the_task_board_has_its_eight_tasks_and_keeps_still():
    arm = MujocoArm(load_robot("arm"))
    names = {arm.model.body(i).name for i in range(arm.model.nbody)}
    assert {"crank", "door", "drawer", "pin", "hole", "bolt", "plate", "box", "fixture"} <= names
    arm.open(0.0)
    before = arm.data.qpos.copy()
    for k in range(500):
        arm.step(0.001 * (k + 1))
    moved = np.abs(arm.data.qpos - before)
    assert moved.max() < 1e-3


def test_the_tool_touches_the_table_and_feels_it():
    robot = load_robot("arm")
    arm = MujocoArm(robot)
    arm.open(0.0)
    T = robot.forward(robot.home)
    down = [pin.SE3ToXYZQUAT(pin.SE3(T.rotation, T.translation - [0.06, 0.0, z])) for z in np.linspace(0.0, 0.36, 400)]
    path = Kinematics(robot).solve_path(np.array(down), robot.home)
    zero = np.zeros(6)
    for k, q in enumerate(path):
        for _ in range(3):
            arm.command(ServoReference(q, zero, zero, 0.08))
            arm.step(0.001 * k)
    assert arm.read().wrench_sensor[2] > 20.0


def test_the_board_is_left_out_where_the_workspace_reaches_the_floor():
    model = build_scene(load_robot("ur5"), 0.001)
    assert "table" not in {model.body(i).name for i in range(model.nbody)}


def test_a_mesh_that_does_not_exist_is_refused_by_name(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(
        '<robot name="r"><link name="base"/><link name="one"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>'
        '<mesh filename="package://none/gone.stl"/></geometry></collision></link>'
        '<joint name="j" type="revolute"><parent link="base"/><child link="one"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>'
    )
    with pytest.raises(ModelError, match=r"mesh 'package://none/gone.stl' does not exist"):
        build_scene(load_robot(str(path)), 0.001)


def test_rotor_inertias_are_in_the_physics():
    robot = load_robot("arm")
    model = build_scene(robot, 0.001)
    armature = [model.joint(f"arm/{name}").armature[0] for name in robot.joint_names]
    assert armature == robot.model.armature.tolist()
