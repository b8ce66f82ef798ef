import dataclasses

import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import ParameterFileError
from telerobot_nodes.hardware.ros2_control import CommandMode, read_options


def options_of(tmp_path, text, gripper=None):
    file = tmp_path / "cell.yaml"
    file.write_text("urdf: arm\ndriver: ros2_control\noptions:\n" + text)
    return read_options(dataclasses.replace(load_robot(str(file)), gripper=gripper))


def test_the_controllers_usual_names_are_the_default(tmp_path):
    options = options_of(tmp_path, "  namespace: /cell\n")
    assert options.command is CommandMode.POSITION and options.command_to == "forward_position_controller/commands"
    options = options_of(tmp_path, "  namespace: /cell\n  command: trajectory\n")
    assert options.command_to == "joint_trajectory_controller/joint_trajectory"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("  command: position\n", 4, "namespace: the key is missing"),
        ("  namespace: /c\n  command: torque\n", 5, "allowed: position, velocity, trajectory"),
        ("  namespace: /c\n  joints: {elbow: e}\n", 5, "elbow: not a joint of the arm"),
        ("  namespace: /c\n  joints: {joint1: joint2}\n", 5, "same name"),
        ("  namespace: /c\n  order: [joint1, joint2]\n", 5, "each of joint1"),
        ("  namespace: /c\n  rate: 5000\n", 5, "allowed: 20 .. 1000"),
        ("  namespace: /c\n  gripper: {joint: f, open: 0.04}\n", 5, "max_opening"),
        ("  namespace: /c\n  wrench: {topic: w}\n", 5, "frame: the key is missing"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, text, line, words):
    with pytest.raises(ParameterFileError, match=words) as caught:
        options_of(tmp_path, text)
    assert caught.value.line == line


def test_a_gripper_that_cannot_move_is_named(tmp_path):
    with pytest.raises(ParameterFileError, match="open"):
        options_of(tmp_path, "  namespace: /c\n  gripper: {joint: f, open: 0.0}\n", load_robot("arm").gripper)
