"""The records between the control loop and its host, of fixed size for a given arm.

What belongs here: their fields and conversions. What must never enter: decisions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from telerobot_nodes.core.memory import Record
from telerobot_nodes.core.protocol import MotionWindow, Waiting
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError

WINDOW_SAMPLES = 512  # most samples of a window
REASON_BYTES = 240

_REASON = f"S{REASON_BYTES}"


def measured_dtype(dof: int) -> np.dtype[Any]:
    """Measured joints: `at` [s] received, `q` [rad], `qd` [rad/s]."""
    return np.dtype([("at", "f8"), ("q", "f8", (dof,)), ("qd", "f8", (dof,))], align=True)


def wrench_dtype() -> np.dtype[Any]:
    """Measured wrench: `at` [s] received, force [N] and torque [N m], SENSOR frame."""
    return np.dtype([("at", "f8"), ("wrench", "f8", (6,))], align=True)


def hardware_dtype() -> np.dtype[Any]:
    """Hardware state, as in HardwareState.msg: `at` [s] received; openings `gripper`, `gripper_reference` [m]."""
    floats = [(name, "f8") for name in ("at", "gripper", "gripper_reference")]
    return np.dtype([*floats, ("state", "i8"), ("setpoint", "i8"), ("reason", _REASON)], align=True)


def device_dtype() -> np.dtype[Any]:
    """Motion of the operator's device: `total` (6,) [m], [rad] since the start, so that no part is lost or doubled."""
    return np.dtype([("total", "f8", (6,))], align=True)


def field_dtype() -> np.dtype[Any]:
    """Force field: `at` [s] of its computation, `twist` (6,) [m/s], [rad/s] of NOM."""
    return np.dtype([("at", "f8"), ("twist", "f8", (6,))], align=True)


def resume_dtype() -> np.dtype[Any]:
    """End of a halt: `count` of it, any number that fits a message."""
    return np.dtype([("count", "u8")], align=True)


def window_dtype(dof: int) -> np.dtype[Any]:
    """A motion window of up to WINDOW_SAMPLES samples."""
    n = WINDOW_SAMPLES
    return np.dtype(
        [
            ("number", "i8"),
            ("count", "i8"),
            ("openings", "i8"),
            ("splice", "f8"),
            ("start", "f8"),
            ("period", "f8"),
            ("position", "f8", (n, dof)),
            ("velocity", "f8", (n, dof)),
            ("acceleration", "f8", (n, dof)),
            ("plan_time", "f8", (n,)),
            ("gripper", "f8", (n,)),
        ],
        align=True,
    )


def output_dtype(dof: int) -> np.dtype[Any]:
    """Result of one control step, see `ControlOutput`."""
    integers = (
        "number",
        "state",
        "cause",
        "window",
        "refused",
        "halted",
        "halt_count",
        "distinct",
        "steps",
        "missed",
        "saturated",
        "estop",
        "commanding",
        "recoverable",
        "primitive",
        "begun",
        "changed",
        "arrived_window",
        "waiting",
    )
    joints = ("q", "qd", "qdd", "measured_q", "measured_qd", "path_q", "path_qd")
    texts = ("reason", "halt_reason", "refusal", "begin_refusal", "change_refusal")
    return np.dtype(
        [(name, "i8") for name in integers]
        + [(name, "f8") for name in ("now", "plan_time", "arrived_time", "gripper", "gripper_force")]
        + [(name, "f8", (dof,)) for name in joints]
        + [("tool_pose", "f8", (7,))]
        + [(name, _REASON) for name in texts],
        align=True,
    )


def pack_window(window: MotionWindow, record: Record) -> None:
    """Write `window` into a record. Raises InvalidValueError if it does not fit."""
    count = len(window.position)
    if count > WINDOW_SAMPLES:
        raise InvalidValueError("window.position (samples)", count, f"allowed: up to {WINDOW_SAMPLES}")
    dof = record["position"].shape[-1]
    for name in ("position", "velocity", "acceleration"):
        if np.shape(getattr(window, name)) != (count, dof):
            raise InvalidValueError(f"window.{name} (shape)", np.shape(getattr(window, name)), f"allowed: (n, {dof})")
        record[name][:count] = getattr(window, name)
    for name in ("plan_time", "gripper"):
        size = np.size(getattr(window, name))
        if size != count and not (name == "gripper" and size == 0):
            raise InvalidValueError(f"window.{name} (length)", size, f"allowed: {count}")
        record[name][:size] = getattr(window, name)
    record["number"], record["count"], record["openings"] = window.number, count, np.size(window.gripper)
    record["splice"], record["start"], record["period"] = window.splice, window.start, window.period


def unpack_window(record: Record) -> MotionWindow:
    """The window of a record; its arrays share the record's memory."""
    n = int(record["count"])
    return MotionWindow(
        int(record["number"]),
        float(record["splice"]),
        float(record["start"]),
        float(record["period"]),
        record["position"][:n],
        record["velocity"][:n],
        record["acceleration"][:n],
        record["plan_time"][:n],
        record["gripper"][: int(record["openings"])],
    )


def encoded(text: str) -> bytes:
    """The bytes of a `reason` or `refusal` field; a longer text is cut."""
    return text.encode()[:REASON_BYTES] if text else b""


def text(value: object) -> str:
    """The string of a `reason` or `refusal` field."""
    return bytes(value).decode("utf-8", "replace")  # type: ignore[call-overload, no-any-return]


def _scalar(name: str) -> Any:
    def read(self: ControlOutput) -> Any:
        value = self.record[name].item()
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value

    return property(read)


class ControlOutput:
    """Result of one control step (ControlState.msg and JointSetpoint.msg), in one record reused by every step.

    Arrays are views: copy what is kept. While `commanding` is 0, the arm's joints are unknown: no setpoint is valid.
    """

    number = _scalar("number")  # counts setpoints from 1
    now = _scalar("now")  # [s] host monotonic clock of the step
    state = _scalar("state")  # ControlState
    reason = _scalar("reason")  # why STOPPING, STOPPED or FAULT
    cause = _scalar("cause")  # StopCause of it
    window = _scalar("window")  # window in use; 0: none
    refused = _scalar("refused")  # latest window rejected
    refusal = _scalar("refusal")  # why
    halted = _scalar("halted")  # 1: nothing moves the arm until the resume of `halt_count`
    halt_count = _scalar("halt_count")  # the robot's own count of halts
    halt_reason = _scalar("halt_reason")  # of the present one
    distinct = _scalar("distinct")  # distinct halts that the loop has obeyed
    plan_time = _scalar("plan_time")  # [s]
    arrived_window = _scalar("arrived_window")  # of the last setpoint that hardware, joints and fingers followed
    arrived_time = _scalar("arrived_time")  # [s] plan time of it
    waiting = _scalar("waiting")  # Waiting: for what the later ones wait
    gripper = _scalar("gripper")  # [m]; negative: unchanged
    gripper_force = _scalar("gripper_force")  # [N] largest; 0: the gripper's own
    steps = _scalar("steps")  # control steps since start
    missed = _scalar("missed")  # periods missed since start
    saturated = _scalar("saturated")  # steps in which a joint limit changed the setpoint
    estop = _scalar("estop")  # 1: the hardware's e-stop is latched
    recoverable = _scalar("recoverable")  # 1: stopped only by stale data or a stall
    commanding = _scalar("commanding")  # 1: the setpoint is valid
    primitive = _scalar("primitive")  # id of the running primitive; 0: none
    begun = _scalar("begun")  # number of the latest Begin order
    begin_refusal = _scalar("begin_refusal")  # why it was rejected; empty: accepted
    changed = _scalar("changed")  # number of the latest Change order
    change_refusal = _scalar("change_refusal")

    def __init__(self, dof: int, record: Record | None = None) -> None:
        self.record = np.zeros((), output_dtype(dof)) if record is None else record
        self.q: FloatArray = self.record["q"]  # (dof,) [rad] setpoint
        self.qd: FloatArray = self.record["qd"]  # (dof,) [rad/s]
        self.qdd: FloatArray = self.record["qdd"]  # (dof,) [rad/s^2]
        self.measured_q: FloatArray = self.record["measured_q"]  # (dof,) [rad]
        self.measured_qd: FloatArray = self.record["measured_qd"]  # (dof,) [rad/s]
        self.path_q: FloatArray = self.record["path_q"]  # (dof,) [rad] motion of the windows, without sensor motion
        self.path_qd: FloatArray = self.record["path_qd"]  # (dof,) [rad/s]
        self.tool_pose: FloatArray = self.record["tool_pose"]  # x y z [m], qx qy qz qw of the setpoint, WORLD

    @property
    def waiting_text(self) -> str:
        """Why the latest setpoints are not executed yet, for people; "" when they are."""
        if self.waiting == Waiting.ARM:
            error = np.abs(self.q - self.measured_q)
            joint = int(error.argmax())
            return f"joint {joint} is {error[joint]:.3f} rad from its setpoint"
        if self.waiting == Waiting.GRIPPER:
            if self.gripper < 0.0:
                return "the fingers were stopped on their way"
            return f"the fingers are not at {self.gripper:.3f} m, and hold nothing"
        if self.waiting == Waiting.HARDWARE:
            return "the hardware interface has not accepted the setpoint"
        return ""
