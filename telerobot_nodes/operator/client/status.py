"""Status of queue, robot, simulation, link and recorder as the operator's side receives it: validated values.

Field names equal those of `PlanQueueState`, `ExecutorState`, `ForwardState`, `LinkStatus`, `LinkState`, `InputState`
and `RecorderState`, which state units and ranges. What must never enter: messages, clocks, texts for people
(`operator/view`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.protocol import ConflictKind, ControlMode, DeviceState, ExecutorMode, LinkState, UpdateKind
from telerobot_nodes.core.values import FloatArray, finite, finite_array
from telerobot_nodes.errors import InvalidValueError

Member = TypeVar("Member", bound=IntEnum)


def _empty() -> FloatArray:
    return np.empty(0)


def _member(kind: type[Member], value: int, field: str) -> Member:
    if value not in tuple(kind):
        raise InvalidValueError(field, value, f"allowed: 0 .. {int(max(kind))}")
    return kind(value)


def _check(value: object, numbers: tuple[str, ...], arrays: tuple[str, ...] = ()) -> None:
    """Check that numbers and arrays are finite; make arrays flat and read-only."""
    for name in numbers:
        object.__setattr__(value, name, finite(getattr(value, name), name))
    for name in arrays:
        array = finite_array(getattr(value, name), name)
        array.setflags(write=False)
        object.__setattr__(value, name, array)


def _pose_or_empty(array: FloatArray, name: str) -> None:
    if array.size not in (0, 7):
        raise InvalidValueError(f"{name} (length)", array.size, "allowed: 7 values, or none")


class DisplayMode(Enum):
    """How the forward simulation follows the operator's hand, from the two clutches [US5046022]."""

    SYNCHRONISED = "in time and position"
    POSITION_SYNCHRONISED = "in position, not in time"
    DESYNCHRONISED = "neither: trial path"


@dataclass(frozen=True)
class QueueStatus:
    """The operator's plan queue (`PlanQueueState.msg`). Raises InvalidValueError naming the field."""

    time_clutch: bool = False
    position_clutch: bool = True
    time_ratio: float = 1.0
    orientation_clutch: bool = True
    linear_scale: float = 1.0
    angular_scale: float = 1.0
    brake_rate: float = 0.0
    device: DeviceState = DeviceState.IDLE
    notice: str = ""
    jumps: int = 0
    refused: int = 0
    head_seq: int = 0
    head_time: float = 0.0
    length: int = 0
    capacity: int = 0
    trial_length: int = 0
    lead: float = 0.0
    unacknowledged: int = 0
    reset_number: int = 0  # latest RESET sent in this epoch
    tare_number: int = 0
    resume_number: int = 0
    epoch: int = 0
    agent: str = ""
    has_authority: bool = False
    data_age: float = -1.0
    round_trip: float = -1.0
    stale: bool = True
    stop_before_collision: bool = True
    pass_singularities: bool = False
    gripper: float = -1.0  # [m] requested; negative: not set
    target_pose: FloatArray = field(default_factory=_empty)

    def __post_init__(self) -> None:
        object.__setattr__(self, "device", _member(DeviceState, self.device, "device"))
        numbers = ("time_ratio", "linear_scale", "angular_scale", "brake_rate", "head_time", "lead", "data_age")
        _check(self, (*numbers, "round_trip", "gripper"), ("target_pose",))
        _pose_or_empty(self.target_pose, "target_pose")

    @property
    def display_mode(self) -> DisplayMode:
        """What the forward simulation shows of the hand's motion."""
        if not self.position_clutch:
            return DisplayMode.DESYNCHRONISED
        return DisplayMode.SYNCHRONISED if self.time_clutch else DisplayMode.POSITION_SYNCHRONISED


@dataclass(frozen=True)
class RobotStatus:
    """State of the robot's side (`ExecutorState.msg`). Raises InvalidValueError naming the field."""

    mode: ExecutorMode = ExecutorMode.IDLE
    reason: str = ""
    authority: str = ""
    asker: str = ""  # agent that requests authority; empty: none
    waiting: tuple[str, ...] = ()  # agents that requested it after the asker, in their order
    granted: bool = False  # the request is granted
    forced: bool = False  # by a supervisor
    holder_silent: bool = False  # no recent message of the holder; it keeps authority
    epoch: int = 0  # of authority; numbers of operations begin anew with it
    applied_number: int = 0  # every operation up to this one was applied or refused
    refused_number: int = 0
    refusal: str = ""
    reset_number: int = 0  # latest RESET that was answered by the node that serves it
    reset_refusal: str = ""  # why it was refused; empty: it was done
    tare_number: int = 0
    tare_refusal: str = ""
    executed_seq: int = 0
    committed_seq: int = 0
    tail_seq: int = 0
    halt_count: int = 0  # the robot's own count of halts
    halts_received: tuple[tuple[str, int], ...] = ()  # sender and number of the latest halts that it obeyed
    plan_time: float = 0.0
    rate: float = 0.0
    stopping_time: float = 0.0  # [s] until the arm would rest if it were stopped now
    queue_length: int = 0
    joint_position: FloatArray = field(default_factory=_empty)
    tool_pose: FloatArray = field(default_factory=_empty)
    wrench: FloatArray = field(default_factory=_empty)  # (6,) or empty: none measured
    moving: bool = False
    estop: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "mode", _member(ExecutorMode, self.mode, "state"))
        _check(self, ("plan_time", "rate", "stopping_time"), ("joint_position", "tool_pose", "wrench"))
        _pose_or_empty(self.tool_pose, "tool_pose")
        if self.wrench.size not in (0, 6):
            raise InvalidValueError("wrench (length)", self.wrench.size, "allowed: 6 values, or none")


@dataclass(frozen=True)
class SimulationStatus:
    """Forward simulation and estimate of the robot's present (`ForwardState.msg`). Raises InvalidValueError."""

    head_time: float = 0.0
    estimate_time: float = 0.0
    lead: float = 0.0
    data_age: float = -1.0
    head_position: FloatArray = field(default_factory=_empty)
    trial_position: FloatArray = field(default_factory=_empty)
    estimate_position: FloatArray = field(default_factory=_empty)
    head_pose: FloatArray = field(default_factory=_empty)
    conflicts: int = 0
    conflict_kind: ConflictKind = ConflictKind.NONE
    conflict_subject: str = ""  # joint or colliding bodies
    conflict: str = ""  # for people

    def __post_init__(self) -> None:
        object.__setattr__(self, "conflict_kind", _member(ConflictKind, self.conflict_kind, "conflict_kind"))
        arrays = ("head_position", "trial_position", "estimate_position", "head_pose")
        _check(self, ("head_time", "estimate_time", "lead", "data_age"), arrays)
        _pose_or_empty(self.head_pose, "head_pose")


@dataclass(frozen=True)
class LinkSetting:
    """The emulated link in force (`LinkStatus.msg`). Raises InvalidValueError."""

    delay: float = 0.0
    jitter: float = 0.0
    loss: float = 0.0
    duplicate: float = 0.0
    reorder: bool = False
    up: bool = True
    down: bool = True

    def __post_init__(self) -> None:
        _check(self, ("delay", "jitter", "loss", "duplicate"))


@dataclass(frozen=True)
class PeerStatus:
    """The link to one other host (`LinkState.msg`). Raises InvalidValueError naming the field."""

    peer: str = ""
    state: LinkState = LinkState.WAITING
    age: float = -1.0
    peer_age: float = -1.0
    round_trip: float = -1.0
    reason: str = ""
    peer_refused: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", _member(LinkState, self.state, "state"))
        _check(self, ("age", "peer_age", "round_trip"))

    @property
    def word(self) -> str:
        """The state as people read it."""
        return self.state.name.lower().replace("_", "-")


@dataclass(frozen=True)
class InputStatus:
    """What the operator's device moves (`InputState.msg`). Raises InvalidValueError naming the field."""

    mode: ControlMode = ControlMode.TELEOPERATION
    plan: bool = True
    primitive: bool = False
    replay: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "mode", _member(ControlMode, self.mode, "mode"))


@dataclass(frozen=True)
class RecorderStatus:
    """The recorder of the operator's host (`RecorderState.msg`). Raises InvalidValueError."""

    recording: bool = False
    folder: str = ""
    duration: float = 0.0
    size: int = 0
    written: int = 0
    dropped: int = 0
    failure: str = ""
    free: int = 0
    reserve: int = 0

    def __post_init__(self) -> None:
        _check(self, ("duration",))


@dataclass(frozen=True)
class PlanChange:
    """One change of the recorded plan (`PlanUpdate.msg`). Raises InvalidValueError naming the field."""

    kind: UpdateKind
    trial: bool = False
    after_seq: int = 0
    first_seq: int = 1
    position: FloatArray = field(default_factory=lambda: np.empty((0, 3)))  # (n, 3) [m] tool in WORLD
    timing: npt.NDArray[np.uint8] = field(
        default_factory=lambda: np.empty(0, np.uint8)
    )  # (n,) timing kind, PlanPoints.TIMING_*

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", _member(UpdateKind, self.kind, "plan.kind"))
        position = finite_array(self.position, "plan.position").reshape(-1, 3)
        timing = np.array(self.timing, dtype=np.uint8).reshape(-1)
        if len(position) != timing.size:
            raise InvalidValueError("plan.timing (length)", timing.size, f"allowed: {len(position)}, one per point")
        for name, array in (("position", position), ("timing", timing)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)
