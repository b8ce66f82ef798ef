"""Values of the client from messages: what is drawn red, whose solids, and fields that are wrong."""

from types import SimpleNamespace as Message

import numpy as np
import pytest

from telerobot_nodes.core.protocol import ExecutorMode, UpdateKind
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.operator.client import LinkSetting
from telerobot_nodes.operator.client.from_messages import (
    lines_from_markers,
    plan_change_from_message,
    robot_from_message,
    solids_from_message,
    status_from_message,
)
from telerobot_nodes.operator.client.status import RobotStatus

RED, GREEN, GREY = (Message(r=r, g=g, b=b) for r, g, b in ((0.9, 0.2, 0.1), (0.1, 0.8, 0.2), (0.5, 0.5, 0.5)))
VIOLET = Message(r=0.6, g=0.1, b=1.0)
POSE = [0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0]


def line(*colours, name="plan"):
    """A line strip along x, one point per colour."""
    points = [Message(x=float(i), y=0.0, z=1.0) for i in range(len(colours))]
    return Message(ns=name, points=points, colors=list(colours))


def test_a_stretch_is_in_conflict_when_its_end_is_red():
    message = Message(markers=[line(GREEN, RED, RED, GREEN), line(GREY, GREY), line(RED, GREEN)])
    expected = [[[0, 0, 1], [1, 0, 1]], [[1, 0, 1], [2, 0, 1]]]
    assert np.array_equal(lines_from_markers(message).conflicts, np.array(expected, float))


def test_markers_without_points_or_colours_have_no_conflicts():
    assert lines_from_markers(Message(markers=[])).conflicts.shape == (0, 2, 3)
    without = Message(ns="plan", points=line(RED, RED).points, colors=[])
    assert lines_from_markers(Message(markers=[without])).conflicts.shape == (0, 2, 3)


def test_the_motion_is_the_line_of_its_name_with_its_conflicts():
    message = Message(markers=[line(GREEN, GREEN), line(VIOLET, VIOLET, RED, name="motion")])
    drawn = lines_from_markers(message)
    assert drawn.motion.tolist() == [[0, 0, 1], [1, 0, 1], [2, 0, 1]]
    assert drawn.conflicts.tolist() == [[[1, 0, 1], [2, 0, 1]]]
    assert lines_from_markers(Message(markers=[line(GREEN, GREEN)])).motion.shape == (0, 3)


def solid(name, attached_to=""):
    return Message(name=name, kind="box", size=[0.1, 0.2, 0.3], pose=POSE, attached_to=attached_to)


def test_solids_are_those_around_and_those_in_this_arm_s_tool():
    message = Message(obstacles=[solid("table"), solid("pin", "left"), solid("cup", "right")])
    assert [(found.name, found.held) for found in solids_from_message(message, "left")] == [
        ("table", False),
        ("pin", True),
    ]


def test_a_status_takes_the_fields_of_its_own_names():
    message = Message(delay=1.0, jitter=0.1, loss=0.2, duplicate=0.0, reorder=True, up=True, down=False, more=7)
    assert status_from_message(LinkSetting, message) == LinkSetting(1.0, 0.1, 0.2, 0.0, True, True, False)
    with pytest.raises(InvalidValueError, match="loss"):
        status_from_message(LinkSetting, Message(**{**vars(message), "loss": float("nan")}))


def test_the_state_of_the_robot_has_the_halts_that_it_obeyed():
    names = [name for name in RobotStatus.__dataclass_fields__ if name not in ("mode", "halts_received")]
    fields = {name: getattr(RobotStatus(), name) for name in names}
    halts = [Message(agent="anna", number=3), Message(agent="shell", number=1)]
    found = robot_from_message(Message(**fields, state=3, halts_received=halts))
    assert found.mode is ExecutorMode.HALTED
    assert found.halts_received == (("anna", 3), ("shell", 1))
    with pytest.raises(InvalidValueError, match=r"state: 99 .*0 \.\."):
        robot_from_message(Message(**fields, state=99, halts_received=[]))


def test_a_change_of_the_plan_has_positions_and_timings_of_its_points():
    points = Message(first_seq=7, pose=POSE * 2, timing=b"\x00\x02")
    found = plan_change_from_message(Message(kind=0, trial=True, after_seq=6, points=points))
    assert (found.kind, found.trial, found.after_seq, found.first_seq) == (UpdateKind(0), True, 6, 7)
    assert np.array_equal(found.position, [POSE[:3]] * 2)
    assert found.timing.tolist() == [0, 2]
    none = Message(first_seq=0, pose=[], timing=b"")
    assert plan_change_from_message(Message(kind=1, trial=False, after_seq=6, points=none)).position.shape == (0, 3)


@pytest.mark.parametrize(
    ("pose", "timing", "field"), [(POSE[:6], b"\x00", "plan.pose"), (POSE, b"\x00\x00", "plan.timing")]
)
def test_a_change_with_wrong_lengths_is_rejected_by_its_field(pose, timing, field):
    points = Message(first_seq=7, pose=pose, timing=timing)
    with pytest.raises(InvalidValueError, match=field):
        plan_change_from_message(Message(kind=0, trial=False, after_seq=0, points=points))
