"""Task files: degrees and roll-pitch-yaw become radians and quaternions; a mistake is named with its place."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from telerobot_nodes.errors import InvalidValueError, ModelError, ParameterFileError
from telerobot_nodes.tasks import load_task, task_names
from telerobot_nodes.tasks.task_file import pose_of

TASK = """\
name: press
doc: Press on the table.
start: {pose: {xyz: [0.5, 0.0, 0.3], rpy_deg: [180, 0, 90]}}
error: {bodies: [box], angle_deg: 3}
primitives:
  - {label: touch, primitive: move_to_touch, values: {tr_rel_dest: [0, 0, 0.03, 0, 0, 0, 1], max_force_thres: 3}}
  - {label: press, primitive: gcm, values: {end_time: 2.0}, repeat: 2}
success:
  - {name: tilted, of: tilt, body: box, op: "<=", value_deg: 90, during: [press]}
"""


@pytest.fixture
def load(tmp_path):
    def loaded(text=TASK):
        path = tmp_path / "press.yaml"
        path.write_text(text)
        return load_task(str(path))

    return loaded


def test_a_file_becomes_a_task_in_metres_and_radians(load):
    task = load()
    assert (task.name, [step.label for step in task.primitives]) == ("press", ["touch", "press"])
    assert task.primitives[1].repeat == 2
    assert task.error.angle == pytest.approx(math.pi / 60)
    assert task.success[0].value == pytest.approx(math.pi / 2)
    assert task.start.pose[:3] == (0.5, 0.0, 0.3)
    x_axis, z_axis = Rotation.from_quat(task.start.pose[3:]).apply([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert x_axis == pytest.approx([0.0, 1.0, 0.0], abs=1e-12)
    assert z_axis == pytest.approx([0.0, 0.0, -1.0], abs=1e-12)


@given(
    st.lists(st.floats(-360.0, 360.0), min_size=3, max_size=3), st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3)
)
def test_roll_pitch_and_yaw_turn_about_the_fixed_axes_in_this_order(rpy_deg, xyz):
    pose = pose_of(xyz, rpy_deg, "pose")
    assert pose[:3] == xyz
    expected = Rotation.from_euler("xyz", rpy_deg, degrees=True).as_matrix()  # lower case: fixed axes
    assert Rotation.from_quat(pose[3:]).as_matrix() == pytest.approx(expected, abs=1e-9)
    assert np.linalg.norm(pose[3:]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("angle_deg: 3", "angle_deg: 60", r"angle.*0 \.\. 0\.5 \[rad\]"),
        ("angle_deg: 3", "angle_deg: much", "angle_deg.*much"),
        ("rpy_deg: [180, 0, 90]", "rpy_deg: [180, 0]", r"rpy_deg.*2 is not allowed; allowed: 3 values"),
        ("repeat: 2", "repeat: 0", r"press\.repeat.*1 \.\. 100"),
        ("repeat: 2", "repaet: 2", "repaet"),
        ("label: press", "label: touch", r"primitives\.label.*each once"),
        ("primitive: gcm", "primitive: gmc", r"press\.name.*gmc.*cartesian_guarded"),
        ("end_time: 2.0", "ende_time: 2.0", r"press\.ende_time.*allowed for gcm: .*end_time"),
        ("max_force_thres: 3", "max_force_thres: -3", r"touch\.max_force_thres.*-3"),
        ("of: tilt", "of: lean", r"success\.tilted\.of.*lean.*tilt"),
        ("body: box, op", "joint: hinge, op", "`body` for the others"),
        ("during: [press]", "during: [pull]", r"tilted\.during.*pull.*press, touch"),
        ("doc: Press on the table.\n", "", "doc"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(load, old, new, problem):
    assert old in TASK
    line = TASK[: TASK.index(old)].count("\n") + 1
    with pytest.raises(ParameterFileError, match=problem) as caught:
        load(TASK.replace(old, new))
    assert caught.value.file.endswith("press.yaml")
    assert caught.value.line <= line


@pytest.mark.parametrize("success", ["", "success: []"])
def test_a_task_without_a_measure_of_success_is_rejected(load, success):
    with pytest.raises(ParameterFileError, match="success"):
        load(TASK[: TASK.index("success:")] + success)


def test_common_values_go_to_the_primitives_that_allow_them_and_a_step_s_own_come_first(load):
    task = load(TASK + "common: {max_force_thres: 60, dead_zone: [0, 0, 0, 0, 0, 0], reverse_force_thres: 2}\n")
    touch, press = (task.values(step) for step in task.primitives)
    assert (touch["max_force_thres"], press["max_force_thres"]) == (3, 60)
    assert touch["reverse_force_thres"] == 2
    assert "reverse_force_thres" not in press


def test_a_name_that_is_no_task_is_rejected_with_those_that_are():
    with pytest.raises(ModelError, match=f"'bolted'.*{', '.join(task_names())}"):
        load_task("bolted")


def test_a_missing_file_is_rejected_by_its_name(tmp_path):
    with pytest.raises(ParameterFileError, match=r"nothing\.yaml"):
        load_task(str(tmp_path / "nothing.yaml"))


@pytest.mark.parametrize("bad", [[0.0, 0.0], [0.0, 0.0, math.nan], "ahead"])
def test_an_offset_that_is_not_three_finite_numbers_is_rejected_by_its_field(bad):
    with pytest.raises(InvalidValueError, match=r"start\.pose\.xyz"):
        pose_of(bad, [0, 0, 0], "start.pose")
