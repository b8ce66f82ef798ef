"""What the control loop says to the executor: values of `ControlState.msg`, as far as the plan needs them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from telerobot_nodes.core.validation import FloatArray, finite, finite_array
from telerobot_nodes.errors import InvalidValueError


class LoopState(IntEnum):
    """Values equal the constants of `ControlState.msg`."""

    HOLDING = 0
    TRACKING = 1
    STOPPING = 2
    STOPPED = 3
    FAULT = 4


@dataclass(frozen=True)
class ControlReport:
    """State of the control loop; validated when made. Raises InvalidValueError naming the field."""

    state: LoopState
    window_number: int  # window in use; 0: none
    refused_window: int  # latest window that did not join; 0: none
    plan_time: float  # [s] plan time executed
    joint_position: FloatArray  # (dof,) [rad] of the windows' motion: the setpoint without what sensors added
    joint_velocity: FloatArray  # (dof,) [rad/s]
    reason: str = ""  # why STOPPING, STOPPED or FAULT
    recoverable: bool = False  # only stale data or a stall: goes on without RESUME
    primitive: int = 0  # id of the primitive that moves the arm; 0: none

    def __post_init__(self) -> None:
        if self.state not in tuple(LoopState):
            raise InvalidValueError("control.state", self.state, f"allowed: 0 .. {max(LoopState)}")
        finite(self.plan_time, "control.plan_time")
        position = finite_array(self.joint_position, "control.joint_position")
        velocity = finite_array(self.joint_velocity, "control.joint_velocity", position.size)
        object.__setattr__(self, "state", LoopState(self.state))
        object.__setattr__(self, "joint_position", position)
        object.__setattr__(self, "joint_velocity", velocity)

    @property
    def interrupted(self) -> bool:
        """True when the loop left the window's timing to stop by itself."""
        return self.state in (LoopState.STOPPING, LoopState.STOPPED, LoopState.FAULT)

    @property
    def resting(self) -> bool:
        """True when the loop is at rest and takes windows."""
        ready = self.state in (LoopState.HOLDING, LoopState.STOPPED) and not self.primitive
        return ready and float(abs(self.joint_velocity).max(initial=0.0)) < 1e-3
