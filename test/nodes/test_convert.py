"""Messages to values and back: every value survives the way, and bad messages are rejected by the name of the field."""

import dataclasses
import struct

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from rclpy.serialization import serialize_message

from telerobot.msg import Authority, ControlState, ExecutorState, LinkStamp, MotionWindow, PlanOperation, PlanOperations
from telerobot.msg import PlanUpdate as PlanUpdateMessage
from telerobot_nodes.core.protocol import AuthorityKind, ExecutorMode, OperationKind, UpdateKind
from telerobot_nodes.core.protocol import MotionWindow as Window
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.messages import convert
from telerobot_nodes.plan.authority import AuthorityMessage
from telerobot_nodes.plan.log import ExecutorReport, Operation, PlanPoints, PlanUpdate, UnreadableOperation

LINK = LinkStamp(sender="test", number=1)
N, DOF = 4, 6


def points(**other):
    pose = np.tile([0.4, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0], (N, 1))
    values = {"gripper": np.linspace(0.0, 0.06, N), "posture": np.arange(N * DOF, dtype=float), **other}
    return PlanPoints(7, 0.02 * np.arange(N), pose, np.array([0, 1, 2, 3], np.uint8), "a", **values)


def equal(a, b):
    """Field by field, arrays by their values."""
    assert type(a) is type(b)
    for entry in dataclasses.fields(a):
        ours, theirs = getattr(a, entry.name), getattr(b, entry.name)
        if dataclasses.is_dataclass(ours):
            equal(ours, theirs)
        else:
            np.testing.assert_array_equal(ours, theirs, err_msg=entry.name)


@pytest.mark.parametrize("other", [{}, {"gripper": np.empty(0)}, {"posture": np.empty(0)}])
def test_points_survive_the_way(other):
    value = points(**other)
    equal(convert.points_from_message(convert.points_to_message(value)), value)


OPERATIONS = [
    Operation(3, 1, OperationKind.APPEND, "a", points(), after_seq=6, window=2.5),
    Operation(3, 2, OperationKind.TRUNCATE, "a", after_seq=4, copy=7),
    Operation(3, 3, OperationKind.RATE, "a", rate=0.5),
    *(Operation(3, 4 + kind, kind, "a") for kind in (OperationKind.CLEAR, OperationKind.PAUSE, OperationKind.RESUME)),
    Operation(4, 1, OperationKind.AUTHORITY, "b"),
]


def test_operations_survive_the_way_in_order():
    found = convert.operations_from_message(convert.operations_to_message(LINK, OPERATIONS))
    assert len(found) == len(OPERATIONS)
    for ours, theirs in zip(OPERATIONS, found, strict=True):
        equal(theirs, ours)


def test_more_operations_than_a_message_may_hold_are_rejected():
    message = PlanOperations(operations=[PlanOperation(number=1, agent="a", kind=2)] * 65)
    with pytest.raises(InvalidValueError, match="64 or fewer"):
        convert.operations_from_message(message)


def test_a_bad_operation_takes_its_place_among_the_good_ones_with_the_reason():
    message = convert.operations_to_message(LINK, OPERATIONS[1:4])
    message.operations[1].kind = 10
    found = convert.operations_from_message(message)
    assert [entry.number for entry in found] == [2, 3, 6]
    assert isinstance(found[1], UnreadableOperation)
    assert "operation.kind" in found[1].reason


def report(**other):
    values = {entry.name: entry.default for entry in dataclasses.fields(ExecutorReport)}
    numbers = {"rate": 1.0, "rate_goal": 0.5, "plan_time": 1.25, "committed_time": 2.5, "tail_time": 9.0}
    for entry in dataclasses.fields(ExecutorReport):
        if entry.default is dataclasses.MISSING:
            values[entry.name] = numbers.get(entry.name, "text" if entry.type == "str" else 3)
    return ExecutorReport(**{**values, "mode": ExecutorMode.HALTED, **other})


def test_a_report_survives_the_way():
    value = report(
        holder_silent=True, applied_copy=3, applied_age=0.25, denied_number=9, denial="why", number=LINK.number
    )
    equal(convert.report_from_message(convert.report_to_message(LINK, value)), value)


def window():
    at = np.arange(N, dtype=float)
    rows = at[:, None] + np.arange(DOF) / 10
    return Window(5, 12.5, 12.0, 0.004, rows, 2 * rows, 3 * rows, at, np.full(N, 0.02))


def test_a_window_survives_the_way():
    equal(convert.window_from_message(convert.window_to_message(window())), window())


@pytest.mark.parametrize("kind", AuthorityKind)
def test_a_message_of_authority_survives_the_way(kind):
    value = AuthorityMessage(kind, "a", "b", 2, 7)
    assert convert.authority_from_message(convert.authority_to_message(LINK, value)) == value


@pytest.mark.parametrize(
    "value",
    [
        PlanUpdate(UpdateKind.APPEND, False, points()),
        PlanUpdate(UpdateKind.TRUNCATE, True, after_seq=3),
        PlanUpdate(UpdateKind.RESET, False),
        PlanUpdate(UpdateKind.TIP, True, tip=np.array([0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0])),
    ],
    ids=lambda value: value.kind.name,
)
def test_an_update_survives_the_way(value):
    equal(convert.update_from_message(convert.update_to_message(value, Time())), value)


BAD = {
    "state": (convert.report_from_message, ExecutorState(state=9)),
    "executor state times": (convert.report_from_message, ExecutorState(plan_time=float("nan"))),
    "window.plan_time": (convert.window_from_message, MotionWindow(dof=DOF)),
    "window.position": (convert.window_from_message, MotionWindow(dof=DOF, plan_time=[0.0], position=[0.0])),
    "control.state": (convert.control_from_message, ControlState(state=9)),
    "authority.kind": (convert.authority_from_message, Authority(kind=9)),
    "plan.kind": (convert.update_from_message, PlanUpdateMessage(kind=9)),
    "plan.tip": (convert.update_from_message, PlanUpdateMessage(kind=3, tip=2 * [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])),
}


@pytest.mark.parametrize("field", BAD)
def test_a_bad_message_is_rejected_by_the_name_of_its_field(field):
    function, message = BAD[field]
    with pytest.raises(InvalidValueError) as rejection:
        function(message)
    assert rejection.value.field.startswith(field)


def test_poses_twists_and_wrenches_survive_the_way():
    pose = np.array([0.1, 0.2, 0.3, 0.0, 0.6, 0.0, 0.8])
    stamped = convert.pose_stamped(pose, "world", Time(sec=3))
    assert (stamped.header.frame_id, stamped.header.stamp.sec) == ("world", 3)
    np.testing.assert_array_equal(convert.pose_to_array(stamped.pose), pose)
    velocity = np.arange(6.0)
    np.testing.assert_array_equal(
        convert.twist_to_array(convert.twist_stamped(velocity, "tool", Time()).twist), velocity
    )


@pytest.mark.parametrize("frame", ["", "tool", "wrist_3_link_of_the_left_arm"])
def test_a_wrench_is_read_from_the_end_of_its_bytes(frame):
    message = WrenchStamped(wrench=Wrench(force=Vector3(x=1.0, y=-2.0, z=3.0), torque=Vector3(x=4.0, y=5.0, z=-6.0)))
    message.header.frame_id = frame
    data = serialize_message(message)
    assert convert.wrench_from_bytes(data).tolist() == [1.0, -2.0, 3.0, 4.0, 5.0, -6.0]
    with pytest.raises(InvalidValueError, match="wrench"):
        convert.wrench_from_bytes(data[:60])


def test_a_wrench_of_a_machine_of_the_other_byte_order_is_read():
    data = bytes([0, 0, 0, 0]) + bytes(16) + struct.pack(">6d", *range(6))
    assert convert.wrench_from_bytes(data).tolist() == list(range(6))


def test_numbers_of_a_link_have_no_gaps():
    counter = convert.LinkCounter("a")
    assert [(counter.next(Time()).sender, counter.next(Time()).number) for _ in range(2)] == [("a", 2), ("a", 4)]
