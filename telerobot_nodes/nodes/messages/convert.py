"""Messages to values and back, in one place. Values validate themselves when made; nothing else is computed here."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from geometry_msgs.msg import Pose, PoseStamped, TwistStamped

from telerobot.msg import Authority, ExecutorState, LinkStamp, PlanOperation, PlanOperations
from telerobot.msg import MotionWindow as MotionWindowMessage
from telerobot.msg import PlanPoints as PlanPointsMessage
from telerobot.msg import PlanUpdate as PlanUpdateMessage
from telerobot_nodes.core.protocol import (
    AuthorityKind,
    ControlState,
    ExecutorMode,
    MotionWindow,
    OperationKind,
    UpdateKind,
)
from telerobot_nodes.core.values import FloatArray, finite_array, poses
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.authority import AuthorityMessage
from telerobot_nodes.plan.log import (
    ControlReport,
    ExecutorReport,
    Operation,
    PlanPoints,
    PlanUpdate,
    UnreadableOperation,
)

MAX_OPERATIONS = 64  # per message, as PlanOperations.msg states
WRENCH_SIZE = 48  # [B] six doubles
SHORTEST_WRENCH = 68  # [B] of a serialized WrenchStamped: encapsulation, stamp, empty frame, padding, wrench
LITTLE, BIG = "<f8", ">f8"


def doubles(values: Any) -> array[float]:
    """A message's float64[] from any sequence, without a Python loop."""
    out = array("d")
    out.frombytes(np.ascontiguousarray(values, dtype=np.float64).tobytes())
    return out


def octets(values: Any) -> array[int]:
    """A message's uint8[] from any sequence."""
    out = array("B")
    out.frombytes(np.ascontiguousarray(values, dtype=np.uint8).tobytes())
    return out


def floats(values: Any) -> FloatArray:
    """A float64 array over a message's float64[]; no copy, read only by convention."""
    return np.frombuffer(values, dtype=np.float64) if len(values) else np.empty(0)


def points_to_message(points: PlanPoints) -> Any:
    """PlanPoints.msg of the value."""
    return PlanPointsMessage(
        first_seq=points.first_seq,
        time=doubles(points.time),
        pose=doubles(points.pose),
        gripper=doubles(points.gripper),
        posture=doubles(points.posture),
        timing=octets(points.timing),
        author=points.author,
    )


def points_from_message(message: Any) -> PlanPoints:
    """Value of PlanPoints.msg; raises InvalidValueError naming the field."""
    timing: npt.NDArray[np.uint8] = np.array(message.timing, dtype=np.uint8)
    return PlanPoints(
        first_seq=message.first_seq,
        time=floats(message.time),
        pose=floats(message.pose),
        timing=timing,
        author=message.author,
        gripper=floats(message.gripper),
        posture=floats(message.posture),
    )


def operations_to_message(link: Any, operations: Iterable[Operation]) -> Any:
    """PlanOperations.msg of at most MAX_OPERATIONS operations."""
    return PlanOperations(link=link, operations=[_operation_to_message(entry) for entry in operations])


def _operation_to_message(operation: Operation) -> Any:
    message = PlanOperation(
        epoch=operation.epoch,
        number=operation.number,
        kind=int(operation.kind),
        agent=operation.agent,
        copy=operation.copy,
        after_seq=operation.after_seq,
        rate=float(operation.rate),
        window=float(operation.window),
        halt_count=operation.halt_count,
    )
    if operation.points is not None:
        message.points = points_to_message(operation.points)
    return message


def operations_from_message(message: Any) -> list[Operation | UnreadableOperation]:
    """Operations of PlanOperations.msg; one with a bad value is unreadable, with the reason that names the field.

    Raises InvalidValueError when there are too many.
    """
    if len(message.operations) > MAX_OPERATIONS:
        raise InvalidValueError("operations (length)", len(message.operations), f"allowed: {MAX_OPERATIONS} or fewer")
    return [_readable_operation(entry) for entry in message.operations]


def _readable_operation(message: Any) -> Operation | UnreadableOperation:
    try:
        return _operation_from_message(message)
    except InvalidValueError as error:
        return UnreadableOperation(message.epoch, message.number, message.agent, str(error), message.copy)


def _operation_from_message(message: Any) -> Operation:
    if message.kind > max(OperationKind):
        raise InvalidValueError("operation.kind", message.kind, f"allowed: 0 .. {int(max(OperationKind))}")
    kind = OperationKind(message.kind)
    return Operation(
        epoch=message.epoch,
        number=message.number,
        kind=kind,
        agent=message.agent,
        copy=message.copy,
        points=points_from_message(message.points) if kind is OperationKind.APPEND else None,
        after_seq=message.after_seq,
        rate=message.rate if kind is OperationKind.RATE else 1.0,
        window=message.window,
        halt_count=message.halt_count,
    )


_REPORT_FIELDS = tuple(name for name in ExecutorReport.__dataclass_fields__ if name not in ("mode", "number"))


def report_to_message(link: Any, report: ExecutorReport) -> Any:
    """ExecutorState.msg with the plan's part filled; the arm's part is the node's."""
    values = {name: getattr(report, name) for name in _REPORT_FIELDS}
    return ExecutorState(link=link, state=int(report.mode), **values)


def report_from_message(message: Any) -> ExecutorReport:
    """The plan's part of ExecutorState.msg; raises InvalidValueError when a number is not finite."""
    if message.state > max(ExecutorMode):
        raise InvalidValueError("state", message.state, f"allowed: 0 .. {int(max(ExecutorMode))}")
    times = ("plan_time", "committed_time", "tail_time", "rate", "rate_goal", "stopping_time", "applied_age")
    finite_array([getattr(message, name) for name in times], "executor state times")
    values = {name: getattr(message, name) for name in _REPORT_FIELDS}
    return ExecutorReport(mode=ExecutorMode(message.state), number=message.link.number, **values)


def window_to_message(window: MotionWindow) -> Any:
    """MotionWindow.msg of the value."""
    return MotionWindowMessage(
        number=window.number,
        splice=float(window.splice),
        start=float(window.start),
        period=float(window.period),
        dof=int(window.position.shape[1]),
        position=doubles(window.position),
        velocity=doubles(window.velocity),
        acceleration=doubles(window.acceleration),
        plan_time=doubles(window.plan_time),
        gripper=doubles(window.gripper),
    )


def window_from_message(message: Any) -> MotionWindow:
    """Value of MotionWindow.msg; raises InvalidValueError when lengths disagree or a number is not finite."""
    samples, dof = len(message.plan_time), message.dof
    if not samples or not dof:
        raise InvalidValueError("window.plan_time (length), window.dof", (samples, dof), "allowed: 1 or more")
    return MotionWindow(
        number=message.number,
        splice=message.splice,
        start=message.start,
        period=message.period,
        position=finite_array(message.position, "window.position", samples * dof).reshape(samples, dof),
        velocity=finite_array(message.velocity, "window.velocity", samples * dof).reshape(samples, dof),
        acceleration=finite_array(message.acceleration, "window.acceleration", samples * dof).reshape(samples, dof),
        plan_time=finite_array(message.plan_time, "window.plan_time", samples),
        gripper=finite_array(message.gripper, "window.gripper"),
    )


def pose_to_array(pose: Any) -> FloatArray:
    """(7,) x y z [m], qx qy qz qw of a geometry_msgs/Pose; not validated."""
    p, q = pose.position, pose.orientation
    return np.array((p.x, p.y, p.z, q.x, q.y, q.z, q.w))


def pose_to_message(pose: FloatArray) -> Any:
    """geometry_msgs/Pose of (7,)."""
    message = Pose()
    p, q = message.position, message.orientation
    p.x, p.y, p.z, q.x, q.y, q.z, q.w = (float(value) for value in pose)
    return message


def pose_stamped(pose: FloatArray, frame: str, stamp: Any) -> Any:
    """geometry_msgs/PoseStamped of (7,)."""
    message = PoseStamped(pose=pose_to_message(pose))
    message.header.frame_id, message.header.stamp = frame, stamp
    return message


def twist_to_array(twist: Any) -> FloatArray:
    """(6,) linear [m/s], angular [rad/s] of a geometry_msgs/Twist; not validated."""
    v, w = twist.linear, twist.angular
    return np.array((v.x, v.y, v.z, w.x, w.y, w.z))


class LinkCounter:
    """Stamps what a sender puts on the link: sender, number without gaps."""

    def __init__(self, sender: str) -> None:
        self._sender = sender
        self._numbers = itertools.count(1)

    def next(self, stamp: Any) -> Any:
        """LinkStamp.msg of the next message. Any thread."""
        return LinkStamp(stamp=stamp, sender=self._sender, number=next(self._numbers))


def wrench_to_array(wrench: Any) -> FloatArray:
    """(6,) force [N], torque [N m] of a geometry_msgs/Wrench; not validated."""
    f, t = wrench.force, wrench.torque
    return np.array((f.x, f.y, f.z, t.x, t.y, t.z))


def wrench_from_bytes(data: bytes) -> FloatArray:
    """(6,) force [N], torque [N m] of a serialized geometry_msgs/WrenchStamped, at whose end they stand; not validated.

    For subscribers that read nothing else: no message is built, which is a third of what it costs to receive one.
    Raises InvalidValueError.
    """
    if len(data) < SHORTEST_WRENCH:
        raise InvalidValueError("wrench (bytes)", len(data), f"allowed: {SHORTEST_WRENCH} or more")
    return np.frombuffer(data, LITTLE if data[1] & 1 else BIG, 6, len(data) - WRENCH_SIZE).astype(float)


def control_from_message(message: Any) -> ControlReport:
    """The executor's part of ControlState.msg; raises InvalidValueError naming the field."""
    if message.state > max(ControlState):
        raise InvalidValueError("control.state", message.state, f"allowed: 0 .. {int(max(ControlState))}")
    return ControlReport(
        state=ControlState(message.state),
        window_number=message.window_number,
        refused_window=message.refused_window,
        plan_time=message.plan_time,
        joint_position=floats(message.path_position),
        joint_velocity=floats(message.path_velocity),
        arrived_window=message.arrived_window,
        arrived_time=message.arrived_time,
        waiting=message.waiting_reason,
        reason=message.reason,
        recoverable=message.recoverable,
        primitive=message.primitive,
        halted=message.halted,
        halt_count=message.halt_count,
        halt_reason=message.halt_reason,
        estop=message.estop,
    )


def authority_to_message(link: Any, value: AuthorityMessage) -> Any:
    """Authority.msg of the value."""
    return Authority(
        link=link,
        kind=int(value.kind),
        agent=value.agent,
        peer=value.peer,
        epoch=value.epoch,
        number=value.number,
    )


def authority_from_message(message: Any) -> AuthorityMessage:
    """Value of Authority.msg; raises InvalidValueError naming the field."""
    if message.kind > max(AuthorityKind):
        raise InvalidValueError("authority.kind", message.kind, f"allowed: 0 .. {int(max(AuthorityKind))}")
    kind = AuthorityKind(message.kind)
    return AuthorityMessage(kind, message.agent, message.peer, message.epoch, message.number)


def update_to_message(update: PlanUpdate, stamp: Any) -> Any:
    """PlanUpdate.msg of the value."""
    message = PlanUpdateMessage(stamp=stamp, kind=int(update.kind), trial=update.trial, after_seq=update.after_seq)
    if update.points is not None:
        message.points = points_to_message(update.points)
    if update.tip is not None:
        message.tip = doubles(update.tip)
    return message


def update_from_message(message: Any) -> PlanUpdate:
    """Value of PlanUpdate.msg; raises InvalidValueError naming the field."""
    if message.kind > max(UpdateKind):
        raise InvalidValueError("plan.kind", message.kind, f"allowed: 0 .. {int(max(UpdateKind))}")
    points = points_from_message(message.points) if len(message.points.time) else None
    if len(message.tip) not in (0, 7):
        raise InvalidValueError("plan.tip (length)", len(message.tip), "allowed: 0, 7")
    tip = poses(message.tip, "plan.tip")[0] if len(message.tip) else None
    return PlanUpdate(UpdateKind(message.kind), message.trial, points, message.after_seq, tip)


def twist_stamped(velocity: FloatArray, frame: str, stamp: Any) -> Any:
    """geometry_msgs/TwistStamped of (6,) [m/s], [rad/s]."""
    message = TwistStamped()
    message.header.frame_id, message.header.stamp = frame, stamp
    v, w = message.twist.linear, message.twist.angular
    v.x, v.y, v.z, w.x, w.y, w.z = (float(value) for value in velocity)
    return message
