"""`gcmsf_control`: host of the control loop, between windows, primitives and the joint servo [GCMSF]."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pinocchio as pin
import yaml
from diagnostic_msgs.msg import DiagnosticStatus

from telerobot.msg import ControlState, JointSetpoint
from telerobot_nodes.core.options import NodeOptions
from telerobot_nodes.core.parameters import parameter
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.share import share_path
from telerobot_nodes.core.validation import finite_array
from telerobot_nodes.cspace.force_field import FieldSettings
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.motion.control_records import ControlOutput
from telerobot_nodes.motion.control_state import ControlState as LoopState
from telerobot_nodes.motion.desk import PrimitiveDesk
from telerobot_nodes.motion.loop import ControlLoop, HostedLoop
from telerobot_nodes.motion.loop_host import ProcessLoop
from telerobot_nodes.motion.loop_process import LoopSetting, make_control
from telerobot_nodes.motion.orders import Order, Tare
from telerobot_nodes.motion.parameters import parameters_from
from telerobot_nodes.nodes import convert
from telerobot_nodes.nodes.base import GraphNode, Health
from telerobot_nodes.nodes.convert_planning import scene_from_message
from telerobot_nodes.nodes.field_source import FieldSource
from telerobot_nodes.nodes.parameters import node_parameters
from telerobot_nodes.nodes.primitive_goals import Hand, PrimitiveGoals
from telerobot_nodes.nodes.process import run_node

STATE_PERIOD = 0.02  # [s]
FIELD_PERIOD = 0.01  # [s]
SWITCH_INTERVAL = 5e-4  # [s] of this process's threads: setpoints pass on while others compute


@dataclass(frozen=True)
class LoopParameters:
    """Parameters of `gcmsf_control`."""

    rate: float = parameter(500.0, unit="Hz", low=50.0, high=1000.0, doc="control loop rate")
    setpoint_rate: float = parameter(250.0, unit="Hz", low=50.0, high=1000.0, doc="most setpoints sent to the arm")
    own_process: bool = parameter(True, doc="the loop runs in a process of its own; else on a thread of this one")
    priority: int = parameter(80, low=0, high=99, doc="SCHED_FIFO priority asked for; 0: none")
    cpu: int = parameter(-1, low=-1, high=1023, doc="the loop's process is bound to it; -1: any")
    stream: str = parameter("", doc="law of the plan's stream: file or name in config/streams; empty: plain")
    field: bool = parameter(False, doc="obstacles in force push the arm, in primitives and under a stream's law")
    field_influence: float = parameter(0.08, unit="m", low=1e-3, high=1.0, doc="obstacles farther away do not push")
    field_gain: float = parameter(0.004, unit="m^2/s", low=0.0, high=1.0, doc="strength of the field")

    @property
    def every(self) -> int:
        """Steps of the loop per setpoint."""
        return max(1, round(self.rate / self.setpoint_rate))


class GcmsfControlNode(GraphNode):
    """Windows, primitives, joints and halts in; setpoints and reports out. The loop never waits; this node may."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        sys.setswitchinterval(SWITCH_INTERVAL)
        self._parameters = parameters = node_parameters(self, LoopParameters)
        self._setting = LoopSetting(
            options.robot,
            1.0 / parameters.rate,
            parameters.priority,
            parameters.cpu,
            parameters.every,
            _stream_law(parameters.stream),
        )
        robot = load_robot(options.robot)
        self._robot = robot
        self._names = list(robot.joint_names)
        self._output = ControlOutput(robot.dof)
        self._halts: dict[str, int] = {}
        self._gripper = float("nan")
        self._setpoint = self.publisher("hardware_interface/setpoint")
        self._state = self.publisher("gcmsf_control/state")
        self._loop = self._make_loop()
        self._work = ThreadPoolExecutor(1, "prepare")
        self._goals = PrimitiveGoals(self)
        self._desk = PrimitiveDesk(robot, self._setting.period, self._give, self._goals.say, self._work)
        self._goals.desk = self._desk
        self._hand = Hand()
        self._field = self._make_field() if parameters.field else None
        self._listen()

    def _listen(self) -> None:
        self.subscribe("plan_executor/window", self._on_window)
        self.subscribe("joint_states", self._on_joints)
        self.subscribe("hardware_interface/state", self._on_hardware)
        self.subscribe("hardware_interface/wrench", self._on_wrench)
        self.subscribe("gcmsf_control/teleop_cmds", self._on_hand)
        for name in ("halt", "rtc_decision_unit/halt"):
            self.subscribe(name, lambda message, name=name: self._on_halt(name, message))  # type: ignore[misc]
        self.serve("gcmsf_control/tare", self._on_tare)
        self.every(STATE_PERIOD, self._tick)

    def _make_loop(self) -> Any:
        if self._parameters.own_process:
            return ProcessLoop(self._setting, self._robot.dof, self._emit, self._on_loop_end)
        control = make_control(self._setting)
        return ControlLoop(control, self._emit, self._setting.priority, self._setting.every)

    def _make_field(self) -> FieldSource:
        parameters = self._parameters
        field = FieldSource(self._robot, FieldSettings(parameters.field_influence, parameters.field_gain))
        self.subscribe("cspace_planner/world", lambda message: field.set_world(scene_from_message(message)))
        self.every(FIELD_PERIOD, self._push)
        return field

    def start(self) -> None:
        """Start the loop."""
        if not self._loop.running and self._loop.ended:
            self._loop = self._make_loop()
        try:
            self._loop.start()
        except TelerobotError as error:
            self.failure = str(error)
            raise

    def stop(self) -> None:
        """Ramp down on the path, then end the loop."""
        self._loop.stop()

    # on the node's thread ------------------------------------------------------------------------------------

    def _give(self, order: Order) -> None:
        self._loop.give(order)

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
        self._gripper = message.gripper
        self._loop.inbox.hardware(self.now(), message.state, message.reason, message.gripper)

    def _on_wrench(self, message: Any) -> None:
        # not finite: the loop must see it, and stops what needs the sensor
        self._loop.inbox.wrench(self.now(), convert.wrench_to_array(message.wrench))

    def _on_halt(self, topic: str, message: Any) -> None:
        """Every source counts its own halts; the loop counts them all."""
        if message.number <= self._halts.get(topic, 0):
            return
        self._halts[topic] = message.number
        self._halts["all"] = number = max(self._halts.get("all", 0) + 1, message.number)
        reason = f"{message.agent}: {message.reason}"
        self._loop.inbox.halt(number, reason)
        self._desk.stop(0, f"halt by {reason}")

    def _on_hand(self, message: Any) -> None:
        law = self._desk.parameters
        if law is None:
            raise InvalidValueError("teleop_cmds", message.header.frame_id, "allowed: while a primitive runs")
        self._loop.inbox.hand(self._hand.increment(self.now(), message, law.teleoperation.tele_mode))

    def _on_tare(self, _request: Any, response: Any) -> None:
        if self._output.state not in (LoopState.HOLDING, LoopState.STOPPED):
            raise InvalidValueError("tare", LoopState(self._output.state).name, "allowed: while the arm rests")
        self._give(Tare())
        response.success, response.message = True, "present wrench is no contact"

    def _push(self) -> None:
        law = self._desk.parameters
        if self._field is None or not self._field.obstacles or (law is None and self._setting.stream is None):
            return
        T_nom = pin.SE3.Identity() if law is None else law.trajectory.se3("tr_nom")
        self._loop.inbox.field(self.now(), self._field.twist(self._output.measured_q, T_nom))

    def _tick(self) -> None:
        if self._loop.error and not self.failure:
            self._on_loop_end(self._loop.error)
        if self._loop.read_output(self._output):
            self._state.publish(_state_message(self._output, self.stamp()))
            self._desk.update(self.now(), self._output, self._loop.read_status(), self._gripper)

    def health(self) -> Health:
        """Period, lateness, step time and misses of the loop."""
        if self._loop.error:
            return Health(DiagnosticStatus.ERROR, f"control loop ended: {self._loop.error}")
        values = {**_output_values(self._output), **_loop_values(self._loop), "primitives": len(self._desk)}
        if self._field is not None:
            values |= {"obstacles": self._field.obstacles, "nearest_m": self._field.least}
        return Health(message=self._output.reason or "ok", values=values)

    # on other threads ----------------------------------------------------------------------------------------

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
                    gripper_force=output.gripper_force,
                )
            )

    def _on_loop_end(self, reason: str) -> None:
        """The arm's watchdog holds it; this process ends, and the supervisor acts."""
        self.failure = f"control loop ended: {reason}"


def _stream_law(name: str) -> dict[str, Any] | None:
    """Parameters of the plan's stream. Raises InvalidValueError or ModelError."""
    if not name:
        return None
    path = Path(name) if name.endswith((".yaml", ".yml")) else share_path(f"config/streams/{name}.yaml")
    try:
        values = yaml.safe_load(path.read_text())
    except (OSError, yaml.YAMLError) as error:
        raise InvalidValueError("stream", name, f"allowed: a readable parameter file ({error})") from None
    if not isinstance(values, dict):
        raise InvalidValueError("stream", name, "allowed: a file of parameter: value")
    parameters_from(values)
    return values


def _state_message(output: ControlOutput, stamp: Any) -> Any:
    return ControlState(
        stamp=stamp,
        monotonic=output.now,
        state=output.state,
        reason=output.reason,
        recoverable=bool(output.recoverable),
        primitive=output.primitive,
        window_number=output.window,
        refused_window=output.refused,
        plan_time=output.plan_time,
        halt_number=output.halt,
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
    )


def _output_values(output: ControlOutput) -> dict[str, object]:
    return {
        "state": output.state,
        "reason": output.reason,
        "primitive": output.primitive,
        "missed": output.missed,
        "saturated": output.saturated,
        "refused_window": output.refused,
        "refusal": output.refusal,
    }


def _loop_values(loop: HostedLoop) -> dict[str, object]:
    scheduling, summary = loop.scheduling, loop.statistics.summary()
    return {
        "scheduling": f"{scheduling.policy} {scheduling.priority} {scheduling.reason}".strip(),
        "memory_locked": scheduling.locked,
        "step_p50_us": 1e6 * loop.durations.quantile(0.5),
        "step_p99_us": 1e6 * loop.durations.quantile(0.99),
        **{name: getattr(summary, name) for name in summary.__dataclass_fields__},
    }


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    return run_node(GcmsfControlNode, options)
