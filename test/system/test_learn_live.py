"""A macro is learned from a running practice robot, by the shell's own command, and repeats where the tool went."""

import io
import subprocess
import sys

import numpy as np
import pytest
from practice_graph import practice_graph

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.macros import OfflineRobot, play, read_macros, records_of, steps_of

pytestmark = [
    pytest.mark.system,
    pytest.mark.nightly,
    pytest.mark.timeout(300),
    pytest.mark.timing("measured joints older than 0.1 s stop the arm, as when the machine stalls"),
]

NAMESPACE = "practice"
ARM = load_robot("arm")
MOVE = {"tr_rel_dest": [0.05, 0.0, -0.08, 0, 0, 0, 1], "time_vel_sel": "velocity", "time_vel_val": 0.1}
LEARN = [sys.executable, "-m", "telerobot_nodes", "macro", "learn", "shown", "--live", "--motion", "absolute"]


@pytest.fixture(scope="module")
def graph():
    with practice_graph(jitter=0.0):
        yield


@pytest.fixture
def follow(tmp_path):
    """Begins `macro learn --live` and waits until it follows."""
    began = []

    def begin(*words):
        line = [*LEARN, "--namespace", NAMESPACE, "--folder", str(tmp_path), *words]
        process = subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
        )
        began.append(process)
        said = process.stderr.readline()
        assert "following the arm" in said, said + process.stderr.read()
        return process

    yield begin
    for process in began:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_a_led_arm_s_motion_becomes_a_macro_and_a_run_of_it_is_broken_off_at_a_breakpoint(
    graph, follow, tmp_path, monkeypatch
):
    from telerobot_nodes.cli.app import main
    from telerobot_nodes.client import connect

    still = follow("--seconds", "1")
    assert still.wait(60.0) == 2
    assert "in which nothing moved" in still.stderr.read()
    assert not (tmp_path / "shown.yaml").exists()

    with connect(NAMESPACE, "test") as robot:
        assert robot.wait_ready(30.0), robot.state
        process = follow()
        moved = robot.primitive("cartesian_guarded", **MOVE).wait()
        assert moved.ok, moved
        for line in process.stderr:  # the robot is seen here before the operator's side sees it at rest
            if "1 motion" in line:
                break
        assert robot.wait_until(lambda state: not state.moving, 20.0)
        reached = pose_from_se3(ARM.forward(robot.state.joint_position))
        said, progress = process.communicate("\n", 60.0)
    assert process.returncode == 0, progress
    assert "shown.yaml: version 1" in said
    assert "followed" in progress
    assert "not learned" not in progress  # force and fingers were received

    folder = read_macros(tmp_path)
    assert folder.broken == {}
    local = OfflineRobot(ARM, board=False)
    end = play(steps_of(folder, "shown", {}, local.context), local.send, lambda _: None)
    assert end.succeeded, end.reason
    local.rig.hold(0.5)
    assert np.linalg.norm(local.context().tool_pose[:3] - reached[:3]) < 1e-3

    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    last = folder.get("shown").steps[-1].name
    words = ["macro", "run", "shown", "--whole", "--break", last, "--namespace", NAMESPACE, "--folder", str(tmp_path)]
    assert main(words) == 1
    (run,) = records_of(tmp_path, "shown")
    assert (run.succeeded, run.reason) == (False, f"shown/{last}: ended by a person before this step")
