"""The check of an arm file: every fault of the arm or its file is named, and without `move` nothing is sent."""

import dataclasses

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.doctor.arm import CheckSetting, Line, Result, Session, check, check_arm, exit_code
from telerobot_nodes.doctor.arm.file_lines import file_lines
from telerobot_nodes.hardware import MujocoArm

pytestmark = pytest.mark.lengthy  # together half a minute


class Clock:
    """A clock that passes when somebody sleeps."""

    def __init__(self):
        self.time = 10.0

    def now(self):
        return self.time

    def sleep(self, seconds):
        self.time += seconds


class WrongArm(MujocoArm):
    """The simulated arm with one fault between it and its driver."""

    def __init__(self, robot, command=lambda q: q, measured=lambda m: m, healthy=lambda now: ""):
        super().__init__(robot, task_board=False)
        self.change, self.measured, self.fault = command, measured, healthy

    @property
    def healthy(self):
        return self.fault(self._time)

    @property
    def position(self):
        return self.measured(super().read()).position

    def command(self, reference):
        q = self.change(reference.position.copy())
        super().command(dataclasses.replace(reference, position=q, velocity=0 * q, acceleration=0 * q))

    def read(self):
        return self.measured(super().read())


def checked(monkeypatch, move=True, file="ur5", **wrong):
    """Lines of the check of an arm with a fault, by their name."""
    clock = Clock()
    monkeypatch.setattr(check, "make_arm", lambda setting: WrongArm(setting.robot, **wrong))
    lines = list(check_arm(CheckSetting(file, move), lambda hardware: Session(hardware, clock.now, clock.sleep)))
    return {line.check: line for line in lines}


HOME = np.array(load_robot("ur5").home)


def turned(joint, scale):
    """Commands of one joint are scaled about home."""

    def change(q):
        q[joint] = HOME[joint] + scale * (q[joint] - HOME[joint])
        return q

    return change


def swapped(q):
    q[[3, 4]] = HOME[[3, 4]] + (q - HOME)[[4, 3]]
    return q


def felt(change):
    return lambda m: dataclasses.replace(m, wrench_sensor=change(m.wrench_sensor))


@pytest.mark.parametrize("robot", ["arm", "panda", "ur5"])
@pytest.mark.brief(1)
def test_a_good_arm_is_ok_in_every_line(monkeypatch, robot):
    lines = checked(monkeypatch, file=robot)
    names = {f"motion {name}" for name in load_robot(robot).joint_names}
    assert names < set(lines)
    assert all(line.result is Result.OK for name, line in lines.items() if name != "sensor axes"), lines


def test_without_move_nothing_is_sent_and_it_says_what_it_would_do(monkeypatch):
    sent = []
    lines = checked(monkeypatch, move=False, command=lambda q: sent.append(q.copy()) or q)
    assert np.ptp(sent, axis=0).max() < 1e-9
    assert lines["motion elbow_joint"].result is Result.NOT_DONE
    assert "would move by -0.05 rad and back" in lines["motion elbow_joint"].found
    assert exit_code(lines.values()) == 0


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        (turned(2, -1.0), "turns the other way"),
        (turned(2, 0.0), "does not move"),
        (turned(2, 1.3), "is scaled"),
        (turned(2, 1.0 / 57.2958), "degrees"),
    ],
)
@pytest.mark.brief(2)
def test_a_joint_that_moves_otherwise_than_it_should_is_named_and_the_check_ends(monkeypatch, command, advice):
    lines = checked(monkeypatch, command=command)
    bad = lines["motion elbow_joint"]
    assert bad.result is Result.FAILED and advice in bad.advice
    assert lines["motion shoulder_lift_joint"].result is Result.OK
    assert lines["motion wrist_1_joint"].result is Result.NOT_DONE
    assert exit_code(lines.values()) == 2


def test_joints_that_are_mixed_up_are_named(monkeypatch):
    bad = checked(monkeypatch, command=swapped)["motion wrist_1_joint"]
    assert bad.result is Result.FAILED and "wrist_2_joint moved" in bad.found and "mixed up" in bad.advice


def test_a_fault_while_a_joint_moves_is_the_lines_reason(monkeypatch):
    lines = checked(monkeypatch, healthy=lambda now: "the arm does not run" if now > 15.0 else "")
    bad = next(line for line in lines.values() if line.result is Result.FAILED)
    assert bad.check.startswith("motion") and "the arm does not run" in bad.found


def test_a_frozen_a_silent_and_a_half_dead_sensor_are_named(monkeypatch):
    cases = (
        (lambda w: np.ones(6), Result.FAILED, "frozen"),
        (lambda w: np.full(6, np.nan), Result.FAILED, "without a reading"),
        (lambda w: w * [1, 1, 1, 1, 1, 0], Result.WARNING, "tz constant"),
        (lambda w: 30.0 * w, Result.WARNING, "standard deviation"),
    )
    for change, result, text in cases:
        line = checked(monkeypatch, move=False, measured=felt(change))["sensor noise"]
        assert line.result is result and text in line.found, text


@pytest.mark.parametrize(
    "change", [lambda w: -w, lambda w: w[[1, 0, 2, 4, 3, 5]] * [1, -1, 1, 1, -1, 1], lambda w: w[[2, 1, 0, 5, 4, 3]]]
)
@pytest.mark.brief(1)
def test_a_sensor_in_other_axes_or_of_the_other_sign_is_told_from_the_weight_it_bears(monkeypatch, change):
    good = checked(monkeypatch, file="arm")["sensor axes"]
    assert "as in the arm file" in good.found
    bad = checked(monkeypatch, file="arm", measured=felt(change))["sensor axes"]
    assert bad.result is Result.FAILED and "sensor_frame" in bad.advice, bad


def test_an_undeclared_hand_is_a_warning_with_its_mass(monkeypatch):
    line = checked(monkeypatch, file="arm")["sensor axes"]
    assert line.result is Result.WARNING and "declared are 0 kg" in line.found and "1 kg" in line.found


def test_an_arm_beside_a_limit_is_told(monkeypatch, tmp_path):
    file = tmp_path / "near.yaml"
    file.write_text("urdf: ur5\nlimits:\n  elbow_joint: {upper: 1.93}\n")
    line = checked(monkeypatch, move=False, file=str(file))["place"]
    assert line.result is Result.WARNING and "elbow_joint" in line.found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("urdf: nowhere.urdf\n", "nowhere.urdf"),
        ("urdf: ur5\ndriver: nobody\n", "nobody"),
        ("urdf: ur5\nhome: {elbow: 1.0}\n", "elbow"),
        ("urdf: ur5\ndriver: ros2_control\noptions: {namespace: /}\n", "namespace"),
        ("{", "YAML"),
        ("", "mapping"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_failed_line(tmp_path, text, found):
    file = tmp_path / "cell.yaml"
    file.write_text(text)
    lines = list(check_arm(CheckSetting(str(file))))
    assert len(lines) == 1 and lines[0].result is Result.FAILED and found in lines[0].found


def test_limits_in_degrees_are_suspected(tmp_path):
    urdf = (
        '<robot name="r"><link name="a"/><link name="tool0"/><joint name="j" type="revolute"><parent link="a"/>'
        '<child link="tool0"/><axis xyz="0 0 1"/><limit lower="-170" upper="170" velocity="2" effort="9"/></joint>'
        "</robot>"
    )
    (tmp_path / "r.urdf").write_text(urdf)
    file = tmp_path / "cell.yaml"
    file.write_text("urdf: r.urdf\ndriver: ros2_control\noptions: {namespace: /nobody}\n")
    line = next(line for line in file_lines(load_robot(str(file))) if line.check == "limits")
    assert line.result is Result.WARNING and "degrees" in line.advice


def test_the_exit_code_is_the_worst_line():
    ok, warning, failed = (Line("a", "b", result) for result in (Result.OK, Result.WARNING, Result.FAILED))
    assert [exit_code(lines) for lines in ([], [ok], [ok, warning], [warning, failed])] == [0, 0, 1, 2]
