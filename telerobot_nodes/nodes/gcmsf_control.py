"""`gcmsf_control`: the control loop on its own thread, between motion windows and the joint servo [GCMSF]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus

from telerobot.msg import ControlState, JointSetpoint
from telerobot_nodes.core.options import NodeOptions
from telerobot_nodes.core.parameters import parameter
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.timing import TimingSummary
from telerobot_nodes.core.validation import finite_array
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.control_records import ControlOutput
from telerobot_nodes.motion.control_step import ControlStep
from telerobot_nodes.motion.loop import ControlLoop
from telerobot_nodes.nodes import convert
from telerobot_nodes.nodes.base import GraphNode, Health
from telerobot_nodes.nodes.parameters import node_parameters
from telerobot_nodes.nodes.process import run_node

STATE_PERIOD = 0.02  # [s]


@dataclass(frozen=True)
class LoopParameters:
    """Parameters of `gcmsf_control`."""

    rate: float = parameter(200.0, unit="Hz", low=50.0, high=1000.0, doc="control loop rate")
    priority: int = parameter(80, low=0, high=99, doc="SCHED_FIFO priority asked for; 0: none")


class GcmsfControlNode(GraphNode):
    """Windows, joints and halts in; setpoints out. The loop neither waits nor logs; this node does both for it."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        parameters = node_parameters(self, LoopParameters)
        robot = load_robot(options.robot)
        self._names = list(robot.joint_names)
        self._output = ControlOutput(robot.dof)
        self._setpoint = self.publisher("hardware_interface/setpoint")
        self._state = self.publisher("gcmsf_control/state")
        step = ControlStep(robot, 1.0 / parameters.rate)
        self._loop = ControlLoop(step, emit=self._emit, priority=parameters.priority)
        self.subscribe("plan_executor/window", self._on_window)
        self.subscribe("joint_states", self._on_joints)
        self.subscribe("hardware_interface/state", self._on_hardware)
        self.subscribe("hardware_interface/wrench", self._on_wrench)
        self.subscribe("halt", self._on_halt)
        self.every(STATE_PERIOD, self._publish_state)

    def start(self) -> None:
        """Start the loop's thread."""
        self._loop.start()

    def stop(self) -> None:
        """Ramp down on the path, then end the loop's thread."""
        self._loop.stop()

    # on the node's thread ------------------------------------------------------------------------------------

    def _on_window(self, message: Any) -> None:
        self._loop.inbox.window(convert.window_from_message(message))

    def _on_joints(self, message: Any) -> None:
        if list(message.name) != self._names:
            raise InvalidValueError("joint_states.name", list(message.name), f"allowed: {self._names}")
        dof = len(self._names)
        position = finite_array(message.position, "joint_states.position", dof)
        velocity = finite_array(message.velocity, "joint_states.velocity", dof)
        self._loop.inbox.measured(self.now(), position, velocity)

    def _on_hardware(self, message: Any) -> None:
        self._loop.inbox.hardware(self.now(), message.state, message.reason)

    def _on_wrench(self, message: Any) -> None:
        self._loop.inbox.wrench(self.now(), finite_array(convert.wrench_to_array(message.wrench), "wrench", 6))

    def _on_halt(self, message: Any) -> None:
        self._loop.inbox.halt(message.number, f"{message.agent}: {message.reason}")

    def _publish_state(self) -> None:
        if self._loop.read_output(self._output):
            self._state.publish(_state_message(self._output, self.stamp()))

    def health(self) -> Health:
        """Period, lateness, step time and misses of the loop."""
        if self._loop.error is not None:
            return Health(DiagnosticStatus.ERROR, f"control loop ended: {self._loop.error!r}")
        output, scheduling = self._output, self._loop.scheduling
        values: dict[str, object] = {
            "state": output.state,
            "reason": output.reason,
            "missed": output.missed,
            "saturated": output.saturated,
            "refused_window": output.refused,
            "refusal": output.refusal,
            "scheduling": f"{scheduling.policy} {scheduling.priority} {scheduling.reason}".strip(),
            "step_p50_us": 1e6 * self._loop.durations.quantile(0.5),
            "step_p99_us": 1e6 * self._loop.durations.quantile(0.99),
        }
        values.update(_timing_values(self._loop.statistics.summary()))
        return Health(message=output.reason or "ok", values=values)

    # on the loop's thread ------------------------------------------------------------------------------------

    def _emit(self, output: ControlOutput) -> None:
        if output.commanding:
            self._setpoint.publish(
                JointSetpoint(
                    number=output.number,
                    monotonic=output.now,
                    position=convert.doubles(output.q),
                    velocity=convert.doubles(output.qd),
                    acceleration=convert.doubles(output.qdd),
                    gripper=output.gripper,
                )
            )


def _state_message(output: ControlOutput, stamp: Any) -> Any:
    return ControlState(
        stamp=stamp,
        monotonic=output.now,
        state=output.state,
        reason=output.reason,
        recoverable=bool(output.recoverable),
        window_number=output.window,
        refused_window=output.refused,
        plan_time=output.plan_time,
        halt_number=output.halt,
        joint_position=convert.doubles(output.q),
        joint_velocity=convert.doubles(output.qd),
        joint_acceleration=convert.doubles(output.qdd),
        tool_pose=convert.doubles(output.tool_pose),
        measured_position=convert.doubles(output.measured_q),
        measured_velocity=convert.doubles(output.measured_qd),
        steps=output.steps,
        missed=output.missed,
        saturated=output.saturated,
        estop=bool(output.estop),
    )


def _timing_values(summary: TimingSummary) -> dict[str, object]:
    return {name: getattr(summary, name) for name in summary.__dataclass_fields__}


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    return run_node(GcmsfControlNode, options)
