"""The arm file: what it sets, and errors that name file, line, column and key."""

import numpy as np
import pytest

from telerobot_nodes.core.robot import is_arm_file, load_robot
from telerobot_nodes.core.robot.limits import JERK_RATIO
from telerobot_nodes.errors import ParameterFileError

WHOLE = """\
urdf: arm
home: {joint1: 0.1}
limits:
  joint1: {lower: -1.0, upper: 1.0, velocity: 0.5, acceleration: 2.0, effort: 10.0, jerk: 30.0}
  joint2: {acceleration: 3.0}
  joint3: {jerk: 9000.0}
  joint6: {velocity: 1.0}
workspace: [0.2, 0.3, 0.4]
gripper: {max_opening: 0.05}
hand: {mass: 0.8, center: [0.0, 0.01, 0.05]}
driver: ros2_control
options: {namespace: /cell}
"""


URDF = """\
<robot name="r"><link name="base"/><link name="one"/><joint name="j" type="revolute"><parent link="base"/>
<child link="one"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="2" effort="3"/></joint></robot>"""
SRDF = '<robot name="r"><disable_collisions link1="base" link2="one" reason="{}"/></robot>'


@pytest.fixture
def load(tmp_path):
    def write(text):
        file = tmp_path / "cell.yaml"
        file.write_text(text)
        return load_robot(str(file))

    return write


def test_only_what_is_given_differs_from_the_known_robot(load):
    robot, known = load("urdf: arm\n"), load_robot("arm")
    assert robot.name == "cell" and robot.driver.name == "mujoco" and robot.hand is None
    assert robot.joint_names == known.joint_names and robot.gripper == known.gripper
    assert (robot.limits.velocity == known.limits.velocity).all() and (robot.home == known.home).all()
    assert robot.sensor_frame == known.sensor_frame and robot.tool_frame == known.tool_frame


def test_everything_that_is_given_counts(load):
    robot, known = load(WHOLE), load_robot("arm")
    assert robot.home[0] == 0.1 and (robot.home[1:] == known.home[1:]).all()
    limits = robot.limits
    assert (limits.lower[0], limits.upper[0], limits.velocity[0]) == (-1.0, 1.0, 0.5)
    assert (limits.acceleration[0], limits.effort[0], limits.velocity[5]) == (2.0, 10.0, 1.0)
    assert limits.jerk[:3].tolist() == [30.0, 3.0 * JERK_RATIO, 9000.0]  # without one: by the acceleration given
    assert (limits.velocity[1:5] == known.limits.velocity[1:5]).all()
    assert robot.workspace_size == (0.2, 0.3, 0.4) and robot.gripper.max_opening == 0.05
    assert robot.hand.mass == 0.8 and robot.hand.center == (0.0, 0.01, 0.05)
    assert robot.driver.name == "ros2_control" and robot.driver.options["namespace"] == "/cell"


def test_kinematics_see_the_tighter_limits(load):
    robot = load("urdf: arm\nlimits: {joint2: {upper: 1.2}}\n")
    assert np.array(robot.model.upperPositionLimit)[1] == 1.2


def test_a_urdf_is_looked_for_beside_the_file(load, tmp_path):
    (tmp_path / "one.urdf").write_text(URDF)
    assert load("urdf: one.urdf\ntool_frame: one\n").joint_names == ("j",)


def test_the_srdf_is_the_one_it_names_else_the_one_beside_the_urdf(load, tmp_path):
    (tmp_path / "one.urdf").write_text(URDF)
    assert load("urdf: one.urdf\n").srdf is None
    (tmp_path / "one.srdf").write_text(SRDF.format("Beside"))
    (tmp_path / "cell").mkdir()
    (tmp_path / "cell" / "ours.srdf").write_text(SRDF.format("Named"))
    assert load("urdf: one.urdf\n").srdf.reason("base", "one") == "Beside"
    assert load("urdf: one.urdf\nsrdf: cell/ours.srdf\n").srdf.reason("base", "one") == "Named"


def test_an_srdf_that_does_not_fit_is_rejected(load, tmp_path):
    (tmp_path / "other.srdf").write_text(SRDF.format("Never").replace('name="r"', 'name="other"'))
    for name, words in (("other", "robot 'other'; the URDF's is"), ("nowhere", "not readable")):
        with pytest.raises(ParameterFileError, match=words) as caught:
            load(f"urdf: arm\nsrdf: {name}.srdf\n")
        assert (caught.value.line, caught.value.key) == (2, "srdf")


@pytest.mark.parametrize(
    ("text", "place", "key", "words"),
    [
        ("driver: mujoco\n", (1, 1), "urdf", "missing"),
        ("urdf: nowhere.urdf\n", (1, 1), "urdf", "neither a URDF"),
        ("urdf: arm\ntool_frame: tol\n", (2, 1), "tool_frame", "'tol' is not a link"),
        ("urdf: arm\nsensor_frame: ft\n", (2, 1), "sensor_frame", "ft_sensor"),
        ("urdf: arm\nlimts: {}\n", (2, 1), "limts", "did you mean limits"),
        ("urdf: arm\nlimits:\n  joint7: {velocity: 1.0}\n", (3, 3), "joint7", "joint1, joint2"),
        ("urdf: arm\nlimits:\n  joint1: {velocity: 100.0}\n", (3, 12), "velocity", "beyond the URDF's"),
        ("urdf: arm\nlimits:\n  joint1: {lower: -9.0}\n", (3, 12), "lower", "beyond the URDF's"),
        ("urdf: arm\nlimits:\n  joint1: {lower: 1.0, upper: 0.5}\n", (3, 12), "lower", "not below upper"),
        ("urdf: arm\nlimits:\n  joint1: {jerk: 0.1}\n", (3, 12), "jerk", "is below"),
        ("urdf: arm\nlimits:\n  joint1: {velocity: -1.0}\n", (3, 12), "limits.joint1.velocity", "allowed"),
        ("urdf: arm\nlimits:\n  joint1: {velocity: .nan}\n", (3, 12), "limits.joint1.velocity", "finite"),
        ("urdf: arm\nhome: {elbow: 0.0}\n", (2, 8), "elbow", "not a joint"),
        ("urdf: arm\nhome: {joint1: 6.0}\n", (2, 1), "home", "joint1 at 6 is outside"),
        ("urdf: arm\nhand: {mass: 1.0, center: [0.0, 0.1]}\n", (2, 19), "center", "allowed: 3"),
        ("urdf: arm\nhand: {mass: 90}\n", (2, 8), "hand.mass", "allowed: 0 .. 50"),
        ("urdf: arm\nurdf: arm\n", (2, 1), "urdf", "given twice"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(load, text, place, key, words):
    with pytest.raises(ParameterFileError, match=words) as caught:
        load(text)
    assert (caught.value.line, caught.value.column, caught.value.key) == (*place, key)
    assert caught.value.file.endswith("cell.yaml")


def test_arm_files_are_told_by_their_names():
    assert is_arm_file("a/cell.yaml") and is_arm_file("cell.yml") and not is_arm_file("arm.urdf")


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("urdf: ur5\n", True),
        ("urdf: ur5\nwrist_sensor: false\n", False),
        ("urdf: ur5\ndriver: ros2_control\noptions: {namespace: /c}\n", False),
        ("urdf: ur5\ndriver: ros2_control\noptions: {namespace: /c, wrench: {frame: ft}}\n", True),
        ("urdf: ur5\ndriver: ros2_control\nwrist_sensor: false\noptions: {wrench: {frame: ft}}\n", False),
        ("urdf: ur5\ndriver: another\n", True),
    ],
)
def test_whether_there_is_a_wrist_sensor_is_said_or_follows_from_the_options(load, text, there):
    assert load(text).wrist_sensor is there


def test_a_wrist_sensor_without_its_topic_is_refused(load):
    with pytest.raises(ParameterFileError, match="wrist_sensor: true, but"):
        load("urdf: ur5\ndriver: ros2_control\nwrist_sensor: true\noptions: {namespace: /c}\n")
