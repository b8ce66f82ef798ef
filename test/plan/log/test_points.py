"""Validation of plan points."""

import numpy as np
import pytest
from plan_values import points, poses

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.log import MIN_STEP, PlanPoints, Timing


def made(**values):
    rest = {"first_seq": 1, "time": [0.0, 0.02], "pose": poses(2), "timing": [0, 0], "author": "ann"}
    return PlanPoints(**{**rest, **values})


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("first_seq", {"first_seq": 0}),
        (r"time\[1\]", {"time": [0.0, 0.5 * MIN_STEP]}),
        (r"time\[0\]", {"time": [-0.1, 0.02]}),
        ("time", {"time": [0.0, np.inf]}),
        (r"time\[1\]", {"time": [0.0, 1e16]}),
        (r"pose \(length\)", {"pose": poses(3)}),
        ("pose", {"pose": np.zeros((2, 7))}),
        (r"timing \(length\)", {"timing": [0]}),
        ("timing", {"timing": [0, 4]}),
        (r"gripper \(length\)", {"gripper": np.zeros(1)}),
        (r"posture \(length\)", {"posture": np.zeros(3)}),
    ],
)
def test_bad_points_are_refused_by_field(field, values):
    with pytest.raises(InvalidValueError, match=rf"points\.{field}"):
        made(**values)


def test_the_least_step_is_allowed():
    assert len(made(time=[0.0, MIN_STEP])) == 2


def test_posture_has_a_row_for_each_point():
    assert made(posture=np.zeros(12)).posture.shape == (2, 6)


def test_arrays_are_read_only_copies():
    pose = poses(2)
    found = made(pose=pose)
    pose[0, 0] = 9.0
    assert found.pose[0, 0] != 9.0
    for name in ("time", "pose", "timing", "gripper", "posture"):
        assert not getattr(found, name).flags.writeable


def test_numbers_are_consecutive():
    assert points(5, 3).last_seq == 7
    assert points(5, 0).last_seq == 4


def test_kinds_of_timing_are_those_of_the_message():
    from telerobot.msg import PlanPoints as Message

    assert {kind.name: kind.value for kind in Timing} == {
        name: getattr(Message, f"TIMING_{name}") for name in ("SYNCED", "SCALED", "FREE", "LINK")
    }
