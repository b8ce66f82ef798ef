"""`telerobot arm check` against the stand-in over topics: ok, and every fault of the driver by its name."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("rclpy")

from stand_in import StandIn, bring, write_arm_file

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.doctor.arm import CheckSetting, Result, check_arm

pytestmark = pytest.mark.lengthy


@pytest.fixture
def stand_in(tmp_path):
    """Starts a stand-in of a robot; gives its arm file."""
    made = []

    def start(name):
        file = write_arm_file(tmp_path, load_robot(name), silence=0.5)
        made.append(StandIn(file))
        return str(file)

    yield start
    for one in made:
        one.kill()


def failed(file, move=False):
    return [line for line in check_arm(CheckSetting(file, move)) if line.result is Result.FAILED]


@pytest.mark.parametrize("name", ["ur5", pytest.param("panda", marks=pytest.mark.nightly)])
@pytest.mark.timeout(240)
@pytest.mark.nightly
def test_every_joint_of_a_good_arm_moves_as_it_should(stand_in, name, tmp_path):
    file, out = stand_in(name), tmp_path / "out.json"
    command = [sys.executable, "-m", "telerobot_nodes", "arm", "check", file, "--move", "--json", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = {row["check"]: row for row in json.loads(out.read_text())}
    assert done.returncode in (0, 1), done.stdout + done.stderr  # 1: a busy machine stalls, or an undeclared hand
    for joint in load_robot(name).joint_names:
        assert lines[f"motion {joint}"]["result"] == "ok", lines


@pytest.mark.timeout(240)
@pytest.mark.nightly
def test_each_fault_of_the_driver_is_named_and_without_move_nothing_is_sent(stand_in, ros):
    file = stand_in("ur5")
    assert failed(file) == []
    for fault, check in (
        ("protective_stop", "connection"),
        ("drop_joint", "names"),
        ("degrees", "limits"),
        ("not_finite", "names"),
        ("other_wrench_frame", "sensor frame"),
        ("frozen_wrench", "sensor noise"),
        ("frozen", "rate"),
    ):
        bring(ros.call, fault)
        lines = failed(file)
        assert [line.check for line in lines] == [check] or fault == "frozen", (fault, lines)
        assert lines and all(line.advice for line in lines), fault
        bring(ros.call, "release")
