"""Outputs of the control loop as messages and diagnostics."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from telerobot.msg import ControlState, HaltReceipt, JointSetpoint
from telerobot_nodes.motion.loop import ControlOutput, HostedLoop
from telerobot_nodes.nodes.messages import convert

REST_PERIOD = 0.012  # [s] between setpoints that repeat the one before; no gap is over 20 ms


class Repetitions:
    """Tells which setpoints need not be sent: those of an arm at rest, but one each REST_PERIOD as a sign of life."""

    def __init__(self) -> None:
        self._sent: tuple[object, ...] = ()
        self._due = -math.inf  # [s]

    def leaves_out(self, output: ControlOutput) -> bool:
        """True for a setpoint that says what the last one sent said, before another sign of life is due."""
        motion = (output.q.tobytes(), output.qd.tobytes(), output.qdd.tobytes())
        said = (*motion, output.gripper, output.gripper_force)
        if said == self._sent and output.now < self._due:
            return True
        self._sent, self._due = said, output.now + REST_PERIOD
        return False


def setpoint_message(output: ControlOutput) -> Any:
    """JointSetpoint.msg of one output."""
    return JointSetpoint(
        number=output.number,
        monotonic=output.now,
        position=convert.doubles(output.q),
        velocity=convert.doubles(output.qd),
        acceleration=convert.doubles(output.qdd),
        gripper=output.gripper,
        gripper_force=output.gripper_force,
    )


def state_message(output: ControlOutput, stamp: Any, received: Iterable[tuple[str, int]] = ()) -> Any:
    """ControlState.msg of one output; `received`: senders and numbers of the halts that the loop obeyed."""
    return ControlState(
        stamp=stamp,
        monotonic=output.now,
        state=output.state,
        reason=output.reason,
        cause=output.cause,
        recoverable=bool(output.recoverable),
        primitive=output.primitive,
        window_number=output.window,
        refused_window=output.refused,
        plan_time=output.plan_time,
        arrived_window=output.arrived_window,
        arrived_time=output.arrived_time,
        waiting=output.waiting,
        waiting_reason=output.waiting_text,
        joint_position=convert.doubles(output.q),
        joint_velocity=convert.doubles(output.qd),
        joint_acceleration=convert.doubles(output.qdd),
        path_position=convert.doubles(output.path_q),
        path_velocity=convert.doubles(output.path_qd),
        tool_pose=convert.doubles(output.tool_pose),
        measured_position=convert.doubles(output.measured_q),
        measured_velocity=convert.doubles(output.measured_qd),
        steps=output.steps,
        missed=output.missed,
        saturated=output.saturated,
        estop=bool(output.estop),
        halted=bool(output.halted),
        halt_count=output.halt_count,
        halt_reason=output.halt_reason,
        halts_received=[HaltReceipt(agent=agent, number=number) for agent, number in received],
    )


def output_values(output: ControlOutput) -> dict[str, object]:
    """State, counts and rejections of the loop, for diagnostics."""
    return {
        "state": output.state,
        "reason": output.reason,
        "primitive": output.primitive,
        "missed": output.missed,
        "saturated": output.saturated,
        "refused_window": output.refused,
        "refusal": output.refusal,
    }


def loop_values(loop: HostedLoop) -> dict[str, object]:
    """Scheduling, period, lateness and step time of the loop, for diagnostics."""
    scheduling, summary = loop.scheduling, loop.statistics.summary()
    return {
        "scheduling": f"{scheduling.policy} {scheduling.priority} {scheduling.reason}".strip(),
        "memory_locked": scheduling.locked,
        "step_p50_us": 1e6 * loop.durations.quantile(0.5),
        "step_p99_us": 1e6 * loop.durations.quantile(0.99),
        **{name: getattr(summary, name) for name in summary.__dataclass_fields__},
    }
