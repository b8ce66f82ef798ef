from __future__ import annotations

import threading

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import InvalidValueError, ModelError
from telerobot_nodes.operator import commands
from telerobot_nodes.operator.client import Tone
from telerobot_nodes.operator.console import markup, server
from telerobot_nodes.operator.console.arm_geometry import Detail, load_shapes
from telerobot_nodes.operator.console.browser import NO_BROWSER, open_browser, wanted
from telerobot_nodes.operator.console.inbox import Inbox, Refused
from telerobot_nodes.operator.console.stage import force_in_world
from telerobot_nodes.operator.view_model import Row, SceneView


def test_a_halt_passes_every_other_request():
    box = Inbox()
    box.put(commands.Clear())
    box.put(commands.Halt())
    assert box.take() == [commands.Halt(), commands.Clear()]


def test_a_full_box_drops_requests_and_says_so_but_never_a_halt():
    box = Inbox(capacity=2)
    kept = [box.put(commands.Clear()) for _ in range(5)]
    assert box.put(commands.Halt())
    assert kept == [True, True, False, False, False]
    taken = box.take()
    assert taken[:3] == [commands.Halt(), commands.Clear(), commands.Clear()]
    assert taken[3] == Refused("3 requests dropped: more than 2 waiting")


def test_a_stream_keeps_only_its_newest_value():
    box = Inbox()
    for value in (1.0, 2.0, 3.0):
        box.put_newest(commands.TimeRatio(value))
        box.put_newest(commands.SetLink(value))
    assert box.take() == [commands.TimeRatio(3.0), commands.SetLink(3.0)]


def test_taking_empties_the_box():
    box = Inbox()
    box.put(commands.Halt())
    box.put_newest(commands.TimeRatio(1.0))
    box.take()
    assert box.take() == []


def test_requests_of_many_threads_all_arrive():
    box = Inbox(capacity=400)
    threads = [threading.Thread(target=lambda: [box.put(commands.Clear()) for _ in range(50)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(box.take()) == 400


def test_texts_from_other_machines_cannot_become_markup():
    evil = Row("<b>", "<img src=x onerror=alert(1)>", Tone.BAD)
    for page in (markup.banner(evil), markup.status([evil]), markup.notices([evil])):
        assert "<img" not in page
        assert "&lt;img" in page


@pytest.mark.parametrize("detail", list(Detail))
@pytest.mark.parametrize("name", ["arm", "panda", "ur5"])
def test_every_moving_joint_of_a_known_robot_carries_a_shape(name, detail):
    robot = load_robot(name)
    shapes = load_shapes(robot, detail)
    assert {shape.joint for shape in shapes} >= set(range(1, robot.dof + 1))
    for shape in shapes:
        assert np.isfinite(shape.vertices).all()
        assert shape.faces.max() < len(shape.vertices)
        assert np.abs(shape.vertices).max() < 2.0  # metres, not millimetres


def test_a_robot_whose_mesh_cannot_be_read_is_refused_with_the_file_named(tmp_path):
    mesh = tmp_path / "arm.stl"
    mesh.write_bytes(b"not a mesh")
    urdf = tmp_path / "broken.urdf"
    urdf.write_text(
        f"""<robot name="broken"><link name="base"/><link name="tip">
        <visual><geometry><mesh filename="{mesh}"/></geometry></visual></link>
        <joint name="j" type="revolute"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>
        <limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""
    )
    with pytest.raises(ModelError, match=r"(broken\.urdf|arm\.stl)"):
        load_shapes(load_robot(str(urdf)), Detail.VISUAL)


@pytest.mark.parametrize("host", ["203.0.113.7", "no such host", "127.0.0.1.5"])
def test_an_address_that_is_not_ours_is_refused_by_name(host):
    with pytest.raises(InvalidValueError, match="console host"):
        server.start_server(host, 0)


@pytest.mark.parametrize("port", [-1, 70000, float("nan")])
def test_a_port_out_of_range_is_refused(port):
    with pytest.raises(InvalidValueError, match="console port"):
        server.start_server("127.0.0.1", port)


def test_without_a_screen_no_browser_is_opened():
    assert not open_browser("http://127.0.0.1:8080", {})
    assert wanted({"DISPLAY": ":0"})
    assert not wanted({"DISPLAY": ":0", NO_BROWSER: "1"})


def test_the_force_is_turned_into_world_with_the_tool():
    half_turn_about_x = np.array((0.3, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0))
    seen = SceneView(*[None] * 9, lead=0.0, plan_version=0, executed_seq=0)
    assert np.allclose(force_in_world(seen), 0.0)
    pressed = SceneView(
        robot=None,
        robot_stale=False,
        estimate=None,
        head=None,
        trial=None,
        tool_pose=half_turn_about_x,
        head_pose=None,
        target_pose=None,
        wrench=np.array((1.0, 2.0, 8.0, 0.0, 0.0, 0.0)),
        lead=0.0,
        plan_version=0,
        executed_seq=0,
    )
    assert np.allclose(force_in_world(pressed), (1.0, -2.0, -8.0))
