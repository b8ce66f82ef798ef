"""Tests of claims of US 5,231,693 ("Telerobot control system") that need no graph; the others: `..._on_graph.py`.

The claims' words in brief stand in each test's docstring. The local telerobot simulator is an arm in physics
(`telerobot macro test`).
"""

import numpy as np
import pytest

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import pose_from_se3
from telerobot_nodes.macros import OfflineRobot, Track, learn, play, read_macros, steps_of

ARM = load_robot("arm")
MACRO = """\
macro: approach
version: 1
doc: Move on along the tool's axis.
motion: relative
parameters:
  way: {unit: m, low: 0.01, high: 0.1, default: 0.04}
steps:
  - step: go
    primitive: cartesian_guarded
    values: {tr_rel_dest: [0, 0, "${way}", 0, 0, 0, 1]}
"""


def run(folder, name, robot, **arguments):
    end = play(steps_of(folder, name, arguments, robot.context), robot.send, lambda _: None)
    robot.rig.hold(0.4)
    return end


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "approach.yaml").write_text(MACRO)
    return tmp_path


@pytest.mark.lengthy
@pytest.mark.timeout(300)
def test_claim_5_a_macro_from_teleoperation_is_tested_edited_and_combined(folder):
    """Teleoperation of the local simulator indicates primitives, order and numbers; test, edit, combine with others."""
    robot, rows = OfflineRobot(ARM, board=False), []

    def record():
        measured = robot.rig.arm.read()
        pose = pose_from_se3(ARM.forward(measured.position.copy()))
        rows.append((robot.rig.now, pose, 0.0, measured.gripper, measured.gripper))

    # the hand moves the tool 40 mm along y in 2 s, while the primitive of teleoperation runs
    hand = """\
macro: hand
version: 1
doc: The operator's hand.
motion: relative
steps:
  - step: drive
    primitive: force_reflecting_teleoperation
    values: {tele_mode: world, end_time: 4.0, max_force_thres: 0, max_torque_thres: 0}
"""
    (folder / "hand.yaml").write_text(hand)
    executive = robot.rig.executive

    def drive():
        if executive.running and 0.5 < robot.rig.now - begun < 2.5:
            executive.teleoperate(np.array([0.0, 0.02 * robot.rig.period, 0.0, 0.0, 0.0, 0.0]))

    robot.rig.hold(0.5)
    begun = robot.rig.now
    robot.rig.before_step, robot.rig.after_step = drive, record
    assert run(read_macros(folder), "hand", robot).succeeded
    track = Track(*(np.array(column) for column in zip(*rows[::10], strict=True)))
    assert track.pose[-1, 1] - track.pose[0, 1] == pytest.approx(0.04, abs=0.002)
    (folder / "learned.yaml").write_text(learn(track, "learned", "What the hand did.", "relative"))

    combined = """\
macro: combined
version: 1
doc: What the hand did, then another macro.
motion: relative
steps:
  - {step: first, macro: learned}
  - {step: then, macro: approach, values: {way: 0.03}}
"""
    (folder / "combined.yaml").write_text(combined)
    for way in (0.03, 0.06):  # tested, edited, tested again
        (folder / "combined.yaml").write_text(combined.replace("0.03", str(way)))
        macros, other = read_macros(folder), OfflineRobot(ARM, board=False)
        assert macros.broken == {}
        start = other.context().tool_pose
        end = run(macros, "combined", other)
        assert end.succeeded, end.reason
        moved = other.context().tool_pose[:3] - start[:3]
        along = ARM.forward(ARM.home).rotation[:, 2]
        assert np.abs(moved - [0.0, 0.04, 0.0] - way * along).max() < 2e-3


@pytest.mark.lengthy
@pytest.mark.timeout(300)
def test_claim_7_a_primitive_s_numbers_come_from_the_context_when_it_begins(folder):
    """Parameters modified at the initiation of a primitive, based on the task's context at that time."""
    text = """\
macro: level
version: 1
doc: Move on, then back to a height above where the tool is by then.
motion: relative
steps:
  - {step: go, macro: approach}
  - {step: up, primitive: cartesian_guarded, values: {tr_tn_dest: "${shift(tool.pose, (0, 0, 1), 0.02)}"}}
"""
    (folder / "level.yaml").write_text(text)
    heights = []
    for way in (0.03, 0.06):
        (folder / "approach.yaml").write_text(MACRO.replace("0.04", str(way)))
        robot = OfflineRobot(ARM, board=False)
        start = robot.context().tool_pose[2]
        end = run(read_macros(folder), "level", robot)
        assert end.succeeded, end.reason
        heights.append(robot.context().tool_pose[2] - start)
    down = ARM.forward(ARM.home).rotation[2, 2]
    assert heights == pytest.approx([0.02 + 0.03 * down, 0.02 + 0.06 * down], abs=1e-3)
