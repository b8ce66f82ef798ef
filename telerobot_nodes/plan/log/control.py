"""Report of the control loop to the executor: the values of `ControlState.msg` that the plan needs."""

from __future__ import annotations

from dataclasses import dataclass

from telerobot_nodes.core.protocol import ControlState
from telerobot_nodes.core.values import FloatArray, finite, finite_array
from telerobot_nodes.errors import InvalidValueError


@dataclass(frozen=True)
class ControlReport:
    """State of the control loop; validated when made. Raises InvalidValueError naming the field."""

    state: ControlState
    window_number: int  # window in use; 0: none
    refused_window: int  # latest window that the loop refused; 0: none
    plan_time: float  # [s] plan time of the setpoint
    joint_position: FloatArray  # (dof,) [rad] of the windows' motion: the setpoint without the sensors' share
    joint_velocity: FloatArray  # (dof,) [rad/s]
    arrived_window: int = 0  # window of the last setpoint that hardware, joints and fingers have followed; 0: none
    arrived_time: float = 0.0  # [s] plan time of it
    waiting: str = ""  # for what the setpoints after it wait; empty: there are none
    reason: str = ""  # why STOPPING, STOPPED or FAULT
    recoverable: bool = False  # stale data or a stall only: continues without RESUME
    primitive: int = 0  # id of the primitive that moves the arm; 0: none
    halted: bool = False  # nothing moves the arm until the RESUME of `halt_count`
    halt_count: int = 0  # the robot's own count of halts
    halt_reason: str = ""
    estop: bool = False  # the hardware's e-stop is latched

    def __post_init__(self) -> None:
        if self.state not in tuple(ControlState):
            raise InvalidValueError("control.state", self.state, f"allowed: 0 .. {max(ControlState)}")
        finite(self.plan_time, "control.plan_time")
        finite(self.arrived_time, "control.arrived_time")
        position = finite_array(self.joint_position, "control.joint_position")
        velocity = finite_array(self.joint_velocity, "control.joint_velocity", position.size)
        object.__setattr__(self, "state", ControlState(self.state))
        object.__setattr__(self, "joint_position", position)
        object.__setattr__(self, "joint_velocity", velocity)

    @property
    def interrupted(self) -> bool:
        """True when the loop stops or has stopped by itself."""
        return self.state in (ControlState.STOPPING, ControlState.STOPPED, ControlState.FAULT)

    @property
    def resting(self) -> bool:
        """True when the loop is at rest and accepts windows."""
        ready = self.state in (ControlState.HOLDING, ControlState.STOPPED) and not self.primitive
        return ready and float(abs(self.joint_velocity).max(initial=0.0)) < 1e-3
