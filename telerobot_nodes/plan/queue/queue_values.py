"""Configuration and state of the path-plan queue: values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from telerobot_nodes.core.protocol import DeviceState
from telerobot_nodes.core.values import FloatArray, in_range
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.plan.log import MAX_WINDOW, RATE_RANGE, SenderConfig
from telerobot_nodes.plan.shaping import ShaperConfig, TimeBaseConfig


class Join(Enum):
    """How the trial path joins the plan when the position clutch is engaged again [US5046022 claims 12, 13]."""

    CONNECT = "by a connecting path to the latest trial point"
    ADOPT = "with all its points"
    DISCARD = "not at all: the trial path is deleted"


JOINED = {Join.CONNECT: "connected", Join.ADOPT: "adopted", Join.DISCARD: "discarded"}  # for people


@dataclass(frozen=True)
class QueueConfig:
    """Settings of the queue; validated when made."""

    agent: str = "operator"
    sample_period: float = 0.02  # [s]
    send_period: float = 0.04  # [s] least time between operations that append or truncate
    capacity: int = 100_000  # points of the plan, and of the trial path
    reserve: int = 256  # points kept free, so that the tool comes to rest inside the capacity
    stale_after: float = 0.4  # [s] without a report
    underrun_margin: float = 1.0  # [s] of plan left at the robot, beyond the round trip, below which it may run out
    ratio_low: float = 0.1  # [-] least time ratio
    ratio_high: float = 10.0  # [-] greatest time ratio
    brake_low: float = 0.1  # [plan s/s] least rate of the time brake
    brake_high: float = 20.0  # [plan s/s] greatest rate of the time brake
    brake_margin: float = 0.2  # [s] of plan left before the committed stretch, because the robot's state is known late
    meeting_distance: float = 0.05  # [m] between the stand-by's tool and the active plan for a hand-off
    meeting_angle: float = 0.3  # [rad]
    execution_window: float = 0.0  # [s] after receipt, by the robot's clock, when waiting points expire; 0: never
    stop_before_collision: bool = True  # the robot waits before points that the forward simulation predicts to collide
    pass_singularities: bool = False  # the hand's path may pass singularities, as slowly as the joints need
    shaper: ShaperConfig = field(default_factory=ShaperConfig)
    time_base: TimeBaseConfig = field(default_factory=TimeBaseConfig)
    sender: SenderConfig = field(default_factory=SenderConfig)

    def __post_init__(self) -> None:
        if not self.agent:
            raise InvalidValueError("queue.agent", self.agent, "allowed: a name")
        in_range(self.sample_period, "queue.sample_period", 0.004, 0.2, "s")
        in_range(self.send_period, "queue.send_period", 0.0, 1.0, "s")
        in_range(self.reserve, "queue.reserve", 16, 100_000, "points")
        in_range(self.capacity, "queue.capacity", 2 * self.reserve, 10_000_000, "points")
        in_range(self.stale_after, "queue.stale_after", 0.05, 60.0, "s")
        in_range(self.underrun_margin, "queue.underrun_margin", 0.0, 60.0, "s")
        in_range(self.ratio_low, "queue.ratio_low", RATE_RANGE[0], 1.0)
        in_range(self.ratio_high, "queue.ratio_high", 1.0, RATE_RANGE[1])
        in_range(self.brake_low, "queue.brake_low", 0.01, 1000.0, "plan s/s")
        in_range(self.brake_high, "queue.brake_high", self.brake_low, 1000.0, "plan s/s")
        in_range(self.brake_margin, "queue.brake_margin", 0.0, 10.0, "s")
        in_range(self.meeting_distance, "queue.meeting_distance", 1e-4, 1.0, "m")
        in_range(self.meeting_angle, "queue.meeting_angle", 1e-3, 3.2, "rad")
        in_range(self.execution_window, "queue.execution_window", 0.0, MAX_WINDOW, "s")


@dataclass(frozen=True)
class PlanQueueState:
    """State for the operator's display (`PlanQueueState.msg`)."""

    time_clutch: bool
    position_clutch: bool
    time_ratio: float  # [-]
    orientation_clutch: bool
    linear_scale: float  # [-]
    angular_scale: float  # [-]
    brake_rate: float  # [plan s/s]
    device: DeviceState
    notice: str
    jumps: int
    refused: int
    head_seq: int
    head_time: float  # [s]
    length: int
    capacity: int
    trial_length: int
    lead: float  # [s]
    unacknowledged: int
    reset_number: int  # latest RESET sent in this epoch; 0: none
    tare_number: int
    resume_number: int
    epoch: int
    agent: str
    has_authority: bool
    data_age: float  # [s] negative if none
    round_trip: float  # [s] negative if none
    stale: bool
    execution_window: float  # [s] 0: none
    stop_before_collision: bool
    pass_singularities: bool
    gripper: float  # [m] opening of the next points; negative: unchanged
    target_pose: FloatArray  # (7,)
