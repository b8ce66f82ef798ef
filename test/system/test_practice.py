"""A practice robot as an operator uses it: in its own namespace, behind a delay; a text and a macro, then stopped."""

import time

import numpy as np
import pytest
from practice_graph import ONE_WAY, practice_graph

from telerobot_nodes.core.config import share_path
from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.macros import Place, records_of
from telerobot_nodes.operator.client import CommandEnd, MoveEnd, PrimitiveEnd

pytestmark = [
    pytest.mark.system,
    pytest.mark.timeout(300),
    pytest.mark.timing("measured joints older than 0.1 s stop the arm, as when the machine stalls"),
]

BACK = {
    "tr_rel_dest": [0, 0, -0.1, 0, 0, 0, 1],
    "time_vel_sel": "velocity",
    "time_vel_val": 0.1,
    "max_force_thres": 0.0,
    "max_torque_thres": 0.0,
}


@pytest.fixture(scope="module")
def graph():
    with practice_graph():
        yield


def timed(begin):
    """Result of what `begin` starts, and how long it took [s]."""
    began = time.monotonic()
    result = begin()
    return result, time.monotonic() - began


@pytest.mark.nightly
def test_a_leaf_of_the_menus_is_practised_behind_the_delay(graph):
    from telerobot_nodes.menus import folder_of, read_menus
    from telerobot_nodes.nodes.clients import open_robot
    from telerobot_nodes.nodes.menus import PRACTICE, ClientRun, Motion

    arm = load_robot("arm")
    menus = read_menus(folder_of(), arm)
    leaf = menus.leaf("guarded_motion/straight")
    with open_robot(PRACTICE, "judge") as judge:
        assert judge.wait_ready(30.0), judge.state
        begin = judge.state.tool_pose[:3].copy()
        drawn = Motion()
        run = ClientRun(leaf, leaf.fill({}), "arm", lambda: open_robot(PRACTICE, "test"), drawn)
        assert judge.wait_until(lambda _state: run.end is not None, 90.0), run.progress
        assert run.end.ok, run.end
        assert judge.wait_until(lambda state: np.linalg.norm(state.tool_pose[:3] - begin) > 0.01, 5.0)
        tools = np.array([arm.forward(joints).translation for _, joints in drawn.after(0, len(drawn))])
        assert np.abs(tools[[0, -1]] - [begin, judge.state.tool_pose[:3]]).max() < 2e-3


def test_a_macro_in_physics_is_drawn_by_the_forward_simulation_from_where_the_arm_stands(graph, tmp_path):
    from telerobot_nodes.cli.app import main
    from telerobot_nodes.nodes.clients import Terminal

    (tmp_path / "back_off.yaml").write_text((share_path("config/macros") / "back_off.yaml").read_text())
    with Terminal("practice") as terminal:
        assert terminal.wait_for(lambda client: client.robot.tool_pose.size, 30.0)
        begin = terminal.operator.robot.tool_pose[:3].copy()
        words = ["macro", "test", "back_off", "way=0.02", "--folder", str(tmp_path)]
        assert main([*words, "--show", "--namespace", "practice"]) == 0
        assert terminal.wait_for(lambda client: len(client.motion_path) > 1 and client.motion_joints.size, 20.0)
        path = terminal.operator.motion_path
        assert np.abs(path[0] - begin).max() < 2e-3
        arm = load_robot("arm")

        def arrived(client):
            return np.linalg.norm(arm.forward(client.motion_joints).translation - begin) > 0.0195

        assert terminal.wait_for(arrived, 30.0)
        assert np.linalg.norm(terminal.operator.robot.tool_pose[:3] - begin) < 1e-3  # the robot itself has not moved
        assert main([*words, "--show", "--namespace", "nowhere"]) != 0


@pytest.mark.nightly  # the last one: it leaves the robot halted
def test_every_client_reaches_it_one_delay_later_and_a_macro_on_it_is_recorded_as_practice(graph, tmp_path):
    from telerobot_nodes.cli.app import main
    from telerobot_nodes.client import connect

    for file in share_path("config/macros").glob("*.yaml"):
        (tmp_path / file.name).write_text(file.read_text())
    with connect("practice", "test") as robot:
        assert robot.wait_ready(30.0), robot.state
        assert robot.wait_until(lambda state: state.link is not None and state.link.delay == ONE_WAY, 20.0)
        answer, took = timed(lambda: robot.run("status"))
        assert answer.end is CommandEnd.ANSWERED
        assert took >= 2.0 * ONE_WAY
        moved, took = timed(lambda: robot.primitive("cartesian_guarded", **BACK).wait())
        assert moved.ok, moved
        assert took >= 2.0 * ONE_WAY + moved.report.elapsed

        assert main(["status", "--namespace", "practice"]) == 0
        words = ["macro", "run", "back_off", "way=0.02", "--namespace", "practice", "--folder", str(tmp_path)]
        assert main(words) == 0
        (run,) = records_of(tmp_path, "back_off")
        assert (run.place, run.delay, run.succeeded, run.override) == (Place.PRACTICE, ONE_WAY, True, False)

        slow = robot.primitive("cartesian_guarded", **{**BACK, "time_vel_val": 0.01})
        assert next(iter(slow)).name == "cartesian_guarded"
        assert slow.change(time_vel_val=0.02).done
        slow.stop()
        assert slow.wait().end is PrimitiveEnd.STOPPED

        x, y, z = robot.state.queue.target_pose[:3]
        begun = robot.begin_move(position=(x, y, z + 0.2), speed=0.05)
        assert robot.wait_until(lambda state: state.moving, 20.0)
        assert robot.halt().done
        assert begun.wait().end is MoveEnd.STOPPED
        assert robot.wait_until(lambda state: not state.moving and state.mode is ExecutorMode.HALTED, 20.0)
