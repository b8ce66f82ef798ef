"""What the operator's side hears of queue, robot, simulation and link, as validated values.

Field names equal those of `PlanQueueState`, `ExecutorState`, `ForwardState` and `LinkStatus`, which state units
and ranges. What must never enter: messages, clocks, texts for people (`view_model.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.validation import FloatArray, finite, finite_array
from telerobot_nodes.errors import InvalidValueError


class Device(IntEnum):
    """Values equal `PlanQueueState.DEVICE_*`."""

    IDLE = 0
    TRACKING = 1
    HELD = 2


class RobotMode(IntEnum):
    """Values equal the constants of `ExecutorState.msg`."""

    IDLE = 0
    RUNNING = 1
    PAUSED = 2
    HALTED = 3
    FAULT = 4


class PlanKind(IntEnum):
    """Values equal the constants of `PlanUpdate.msg`."""

    APPEND = 0
    TRUNCATE = 1
    RESET = 2


def _empty() -> FloatArray:
    return np.empty(0)


def _check(value: object, numbers: tuple[str, ...], arrays: tuple[str, ...] = ()) -> None:
    """Numbers finite, arrays finite, flat and read-only."""
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
    """How the forward simulation relates to the hand, from the two clutches [US5046022]."""

    SYNCHRONISED = "in time and position"
    POSITION_SYNCHRONISED = "in position, not in time"
    DESYNCHRONISED = "neither: trial path"


@dataclass(frozen=True)
class QueueStatus:
    """The operator's plan queue (`PlanQueueState.msg`). Raises InvalidValueError naming the field."""

    time_clutch: bool = False
    position_clutch: bool = True
    time_ratio: float = 1.0
    brake_rate: float = 0.0
    device: Device = Device.IDLE
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
    epoch: int = 0
    agent: str = ""
    has_authority: bool = False
    data_age: float = -1.0
    round_trip: float = -1.0
    stale: bool = True
    gripper: float = -1.0  # [m] asked for; negative: nothing said
    target_pose: FloatArray = field(default_factory=_empty)

    def __post_init__(self) -> None:
        if self.device not in tuple(Device):
            raise InvalidValueError("device", self.device, f"allowed: 0 .. {int(max(Device))}")
        object.__setattr__(self, "device", Device(self.device))
        numbers = ("time_ratio", "brake_rate", "head_time", "lead", "data_age", "round_trip", "gripper")
        _check(self, numbers, ("target_pose",))
        _pose_or_empty(self.target_pose, "target_pose")

    @property
    def display_mode(self) -> DisplayMode:
        """What the forward simulation shows of the hand's motion."""
        if not self.position_clutch:
            return DisplayMode.DESYNCHRONISED
        return DisplayMode.SYNCHRONISED if self.time_clutch else DisplayMode.POSITION_SYNCHRONISED


@dataclass(frozen=True)
class RobotStatus:
    """What the robot's side says it did and kept (`ExecutorState.msg`). Raises InvalidValueError."""

    mode: RobotMode = RobotMode.IDLE
    reason: str = ""
    authority: str = ""
    asker: str = ""  # agent that asks for the plan; empty: nobody
    granted: bool = False  # it may take it
    forced: bool = False  # a supervisor decided so
    holder_silent: bool = False  # the holder was not heard lately; it keeps authority
    refused_number: int = 0
    refusal: str = ""
    executed_seq: int = 0
    committed_seq: int = 0
    tail_seq: int = 0
    halt_number: int = 0
    plan_time: float = 0.0
    rate: float = 0.0
    queue_length: int = 0
    joint_position: FloatArray = field(default_factory=_empty)
    tool_pose: FloatArray = field(default_factory=_empty)
    wrench: FloatArray = field(default_factory=_empty)  # (6,) or empty: none measured
    moving: bool = False
    estop: bool = False

    def __post_init__(self) -> None:
        if self.mode not in tuple(RobotMode):
            raise InvalidValueError("state", self.mode, f"allowed: 0 .. {int(max(RobotMode))}")
        object.__setattr__(self, "mode", RobotMode(self.mode))
        _check(self, ("plan_time", "rate"), ("joint_position", "tool_pose", "wrench"))
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
    conflict: str = ""

    def __post_init__(self) -> None:
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
class PlanChange:
    """One change of the plan as the operator lays it (`PlanUpdate.msg`). Raises InvalidValueError."""

    kind: PlanKind
    trial: bool = False
    after_seq: int = 0
    first_seq: int = 1
    position: FloatArray = field(default_factory=lambda: np.empty((0, 3)))  # (n, 3) [m] tool in WORLD
    timing: npt.NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))  # (n,) how timed

    def __post_init__(self) -> None:
        if self.kind not in tuple(PlanKind):
            raise InvalidValueError("plan.kind", self.kind, f"allowed: 0 .. {int(max(PlanKind))}")
        position = finite_array(self.position, "plan.position").reshape(-1, 3)
        timing = np.array(self.timing, dtype=np.uint8).reshape(-1)
        if len(position) != timing.size:
            raise InvalidValueError("plan.timing (length)", timing.size, f"allowed: {len(position)}, one per point")
        for name, array in (("position", position), ("timing", timing)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)
