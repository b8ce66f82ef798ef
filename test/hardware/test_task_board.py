import mujoco
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.hardware import SCENE_BITS, MujocoArm, SeesScene
from telerobot_nodes.hardware.task_board import HIGHEST, LOWEST, MODULE_MASS, TALLEST, add_task_board


def board(room):
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    added = add_task_board(spec, SCENE_BITS, room)
    return added, spec.compile()


def test_everything_of_the_board_is_there_and_what_moves_has_a_joint():
    added, model = board(1.0)
    assert added
    names = {model.body(k).name for k in range(model.nbody)}
    assert {"table", "crank", "door", "drawer", "hole", "pin", "plate", "box", "fixture", "bolt", "module"} <= names
    joints = {model.joint(k).name for k in range(model.njnt)}
    built_in = {"crank_joint", "knob_joint", "door_joint", "drawer_joint", "bolt_joint"}
    assert joints == built_in | {"module_free", "box_free", "pin_free", "stud_free"}


@pytest.mark.parametrize(("room", "top"), [(1.0, HIGHEST), (0.3, 0.3 - TALLEST)])
def test_the_table_is_as_high_as_the_room_below_the_workspace_allows(room, top):
    _, model = board(room)
    assert model.body("table").pos[2] == pytest.approx(top)


def test_without_room_there_is_no_board():
    added, model = board(LOWEST + TALLEST - 0.01)
    assert not added
    assert model.nbody == 1


def test_nothing_stands_above_the_room_below_the_workspace():
    room = 0.3
    _, model = board(room)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert (data.geom_xpos[:, 2] < room).all()


def test_the_module_is_free_and_touches_arm_and_scene():
    _, model = board(1.0)
    module = model.body("module")
    assert module.mass[0] == pytest.approx(MODULE_MASS)
    geom = int(module.geomadr[0])
    assert (model.geom_contype[geom], model.geom_conaffinity[geom]) == (3, 3)


def test_the_simulated_arm_shows_every_body_of_the_board():
    arm = MujocoArm(load_robot("arm"))
    assert isinstance(arm, SeesScene)
    arm.data.joint("door_joint").qpos[0] = -0.5
    bodies = arm.scene()
    assert {"door", "drawer", "crank", "module", "table"} <= bodies.keys()
    assert bodies["door"] == (-0.5, 0.0)
