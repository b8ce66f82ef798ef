"""Checks of new points against the plan's tail."""

from dataclasses import replace

import numpy as np
import pytest
from plan_values import points, poses

from telerobot_nodes.core.protocol import OperationKind
from telerobot_nodes.errors import InvalidValueError, QueueFullError
from telerobot_nodes.plan.executor.admission import Tail, admit
from telerobot_nodes.plan.log import Operation

TAIL = Tail(seq=4, highest_seq=6, time=0.5, pose=poses(1)[0], room=100, max_step=0.01, max_turn=0.1)


def append(new, after_seq=4):
    return Operation(1, 2, OperationKind.APPEND, "ann", new, after_seq)


def turned(n, angle):
    new = points(7, n, time=0.52)
    pose = np.array(new.pose)
    pose[-1, 3:] = [0.0, 0.0, np.sin(0.5 * angle), np.cos(0.5 * angle)]
    return replace(new, pose=pose)


def test_points_that_continue_the_plan_are_accepted():
    new = points(7, 5, time=0.52)
    assert admit(append(new), TAIL, 6) is new


@pytest.mark.parametrize(
    ("field", "new", "after_seq"),
    [
        (r"operation\.after_seq", points(7, 2, time=0.52), 5),
        (r"points\.author", points(7, 2, time=0.52, author="bob"), 4),
        (r"points\.first_seq", points(6, 2, time=0.52), 4),
        (r"points\.time\[0\]", points(7, 2, time=0.4), 4),
        (r"points\.gripper\[1\]", points(7, 2, time=0.52, gripper=[0.1, 0.5]), 4),
        (r"points\.gripper\[0\]", points(7, 2, time=0.52, gripper=[-0.1, 0.1]), 4),
        (r"points\.posture", points(7, 2, time=0.52, posture=np.zeros(10)), 4),
    ],
)
def test_a_refusal_names_the_field(field, new, after_seq):
    with pytest.raises(InvalidValueError, match=field):
        admit(append(new, after_seq), TAIL, 6)


@pytest.mark.parametrize("tail", [TAIL, replace(TAIL, seq=0, time=-np.inf), replace(TAIL, time=5e8)])
def test_no_plan_time_leaves_no_room_for_the_next_plan(tail):
    """A plan begins after the robot's tail: executed at the latest time that is allowed, a point ended planning."""
    begin = max(tail.time, 0.0)
    day = replace(points(7, 2), time=np.array([begin + 1.0, begin + 86_400.0]))
    assert admit(append(day, tail.seq), tail, 6)
    late = replace(day, time=np.array([begin + 1.0, begin + 86_401.0]))
    with pytest.raises(InvalidValueError, match=r"points\.time\[1\].*a day after the tail"):
        admit(append(late, tail.seq), tail, 6)


def test_the_buffer_has_a_limit():
    new = points(7, 5, time=0.52)
    assert admit(append(new), replace(TAIL, room=5), 6)
    with pytest.raises(QueueFullError, match="allowed: 4"):
        admit(append(new), replace(TAIL, room=4), 6)


def test_a_step_too_far_is_refused_with_its_index():
    far = replace(points(7, 3, time=0.52), pose=poses(3, spacing=0.02))
    with pytest.raises(InvalidValueError, match=r"pose\[1\] \(step\).*0\.02.*of the plan"):
        admit(append(far), TAIL, 6)


def test_a_first_point_too_far_from_the_arm_is_refused():
    far = replace(points(7, 1, time=0.52), pose=poses(1, start=0.02))
    start = replace(TAIL, seq=0)
    with pytest.raises(InvalidValueError, match=r"pose\[0\] \(step\).*of the arm"):
        admit(append(far, 0), start, 6)


def test_a_turn_too_far_is_refused_and_the_sign_of_a_quaternion_is_no_turn():
    assert admit(append(turned(2, 0.09)), TAIL, 6)
    with pytest.raises(InvalidValueError, match=r"pose\[1\] \(turn\)"):
        admit(append(turned(2, 0.11)), TAIL, 6)
    opposite = points(7, 2, time=0.52)
    pose = np.array(opposite.pose)
    pose[1, 3:] *= -1.0
    assert admit(append(replace(opposite, pose=pose)), TAIL, 6)


def test_the_posture_has_one_value_for_each_joint():
    assert admit(append(points(7, 2, time=0.52, posture=np.zeros(12))), TAIL, 6)
