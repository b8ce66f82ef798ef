"""The workcell file of run-time control has every pose as the simulated task board has it."""

import mujoco
import numpy as np
import pytest

from telerobot_nodes.core.config import share_path
from telerobot_nodes.hardware import SCENE_BITS
from telerobot_nodes.hardware.task_board import add_task_board
from telerobot_nodes.rtc.skills import load_library

ROOM = 1.0  # [m] enough for the table's full height
MARKED = ("door", "drawer", "bolt", "plate", "fixture", "hole", "thread")
LOOSE = ("module", "box", "pin", "stud")
WITHOUT_BODY = ("dock", "table", "stand", "shelf", "wall")  # places that are no thing
TOP = 0.22  # [m]


@pytest.fixture(scope="module")
def board():
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    assert add_task_board(spec, SCENE_BITS, ROOM)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


@pytest.fixture(scope="module")
def items():
    return {item.key: item.value for item in load_library(share_path("config/rtc")).workcell.items}


def things(items):
    return {key.partition(".")[0] for key in items if key.endswith(".pose")}


def test_every_object_and_place_is_compared_here(items):
    assert things(items) == {*MARKED, *LOOSE, *WITHOUT_BODY, "crank"}


@pytest.mark.parametrize(("name", "mark"), [*((name, f"{name}_mark") for name in MARKED), ("crank", "knob_mark")])
def test_what_is_built_in_is_where_its_mark_is(board, items, name, mark):
    _, data = board
    np.testing.assert_allclose(items[f"{name}.pose"][:3], data.site(mark).xpos, atol=1e-9)


@pytest.mark.parametrize("name", LOOSE)
def test_what_is_loose_stands_where_its_body_is(board, items, name):
    model, data = board
    np.testing.assert_allclose(items[f"{name}.pose"][:3], data.body(name).xpos, atol=1e-9)
    half = model.geom_size[model.body(name).geomadr[0]]
    assert items[f"{name}.height"] == pytest.approx(2.0 * half[2])
    assert items[f"{name}.width"] == pytest.approx(2.0 * half[1])  # the fingers close along y
    assert items[f"{name}.mass"] == pytest.approx(model.body(name).mass[0])


@pytest.mark.parametrize("name", ["crank", "door"])
def test_axes_are_those_of_the_joints(board, items, name):
    _, data = board
    joint = data.joint(f"{name}_joint")
    np.testing.assert_allclose(items[f"{name}.axis"][:3], joint.xanchor, atol=1e-9)
    np.testing.assert_allclose(joint.xaxis, [0, 0, 1], atol=1e-12)
    handle = np.array(items[f"{name}.pose"][:2]) - items[f"{name}.axis"][:2]
    assert items[f"{name}.radius"] == pytest.approx(np.linalg.norm(handle), abs=1e-3)


def test_the_drawer_is_pulled_along_its_joint(board, items):
    _, data = board
    np.testing.assert_allclose(items["drawer.pull"], data.joint("drawer_joint").xaxis, atol=1e-12)


@pytest.mark.parametrize(("name", "body"), [("crank", "knob"), ("door", "door"), ("drawer", "drawer")])
def test_handles_are_as_thick_as_the_file_says(board, items, name, body):
    model, _ = board
    geom = model.body(body).geomadr[0] + model.body(body).geomnum[0] - 1
    assert items[f"{name}.width"] == pytest.approx(2.0 * model.geom_size[geom][0])
    assert items[f"{name}.height"] == pytest.approx(2.0 * model.geom_size[geom][1])


def test_places_on_the_table_are_on_its_top(items):
    assert {items[f"{name}.pose"][2] for name in ("dock", "table", "stand")} == {TOP}
    assert items["stand.pose"][:2] == items["pin.pose"][:2]


def test_rims_are_as_deep_as_the_file_says(board, items):
    model, data = board
    for name, ray in (("hole", 0.05), ("thread", 0.006)):
        start = data.site(f"{name}_mark").xpos + np.array((0.0, 0.0, 0.001))
        down = np.array([0.0, 0.0, -1.0])
        deep = mujoco.mj_ray(model, data, start, down, None, 1, -1, np.zeros(1, dtype=np.int32)) - 0.001
        assert items[f"{name}.depth"] == pytest.approx(deep, abs=1e-9) == pytest.approx(ray)
