"""`gcmsf_control`: host of the control loop, between windows, primitives and the joint servo [GCMSF]."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pinocchio as pin
from diagnostic_msgs.msg import DiagnosticStatus

from telerobot_nodes.core.config import LifeRecord, NodeOptions, parameter, read_yaml, share_path, state_file
from telerobot_nodes.core.protocol import ESTOP_SENDER
from telerobot_nodes.core.protocol import ControlState as LoopState
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.geometry import FieldSettings
from telerobot_nodes.errors import InvalidValueError, JournalError, TelerobotError
from telerobot_nodes.motion.loop import (
    ControlLoop,
    ControlOutput,
    ForkedLoop,
    LoopSetting,
    Order,
    ProcessLoop,
    Tare,
    make_control,
    schedule,
)
from telerobot_nodes.motion.parameters import parameters_from
from telerobot_nodes.motion.scheduling import PrimitiveScheduler
from telerobot_nodes.nodes.framework import GraphNode, Health, be_urgent, node_parameters, run_node
from telerobot_nodes.nodes.halts import HaltProcess
from telerobot_nodes.nodes.robot.field_inputs import wired_field
from telerobot_nodes.nodes.robot.field_source import FieldSource
from telerobot_nodes.nodes.robot.loop_inputs import LoopInputs
from telerobot_nodes.nodes.robot.loop_messages import (
    Repetitions,
    loop_values,
    output_values,
    setpoint_message,
    state_message,
)
from telerobot_nodes.nodes.robot.primitive_goals import PrimitiveGoals
from telerobot_nodes.nodes.robot.sequence_goals import SequenceGoals

HALT_TOPICS = {"halt": "", "rtc_decision_unit/halt": "", "estop": ESTOP_SENDER}  # and what precedes the sender
TEXTS = "rtc_decision_unit/commands"  # in the node's namespace; those that begin with a halt word halt
ARM_NAME = "rtc_decision_unit/arm_name"
STATE_PERIOD = 0.02  # [s]
FIELD_PERIOD = 0.01  # [s]
UNSEEN_HALTS = 1000  # more than a loop can count between two notes: no older RESUME names the halt of its successor
RESTARTED = "the control loop ended and was started again"
PREPARE_PRIORITY = 40  # SCHED_FIFO: while it holds the interpreter nothing else may keep it from the processor


@dataclass(frozen=True)
class LoopParameters:
    """Parameters of `gcmsf_control`."""

    rate: float = parameter(500.0, unit="Hz", low=50.0, high=1000.0, doc="control loop rate")
    setpoint_rate: float = parameter(
        250.0, unit="Hz", low=50.0, high=1000.0, doc="highest rate of setpoints sent to the arm; at rest about 80 Hz"
    )
    own_process: bool = parameter(True, doc="run the loop in a process of its own; else on a thread of this one")
    priority: int = parameter(80, low=0, high=99, doc="requested SCHED_FIFO priority; 0: none")
    cpu: int = parameter(-1, low=-1, high=1023, doc="core that the loop's process is bound to; -1: any")
    stream: str = parameter("", doc="stream law for the plan: file or name in config/streams; empty: none")
    arrive_error: float = parameter(
        0.02, unit="rad", low=1e-4, high=1.0, doc="distance of a joint from its setpoint at which a point is executed"
    )
    field: bool = parameter(False, doc="obstacles and other arms push the arm, in primitives and under a stream law")
    field_arms: str = parameter(
        "",
        doc="the other arms of the field, as NAME ROBOT X Y Z YAW [NAMESPACE], separated by semicolons: the place of "
        "its graph's WORLD [m, rad]; without a namespace it is the name",
    )
    field_influence: float = parameter(0.08, unit="m", low=1e-3, high=1.0, doc="distance from which obstacles push")
    field_gain: float = parameter(0.004, unit="m^2/s", low=0.0, high=1.0, doc="strength of the field")

    @property
    def every(self) -> int:
        """Steps of the loop per setpoint."""
        return max(1, round(self.rate / self.setpoint_rate))


class GcmsfControlNode(GraphNode):
    """Windows, primitives, joints and halts in; setpoints and reports out. The loop never waits; this node may."""

    def __init__(self, options: NodeOptions, forked: ForkedLoop | None = None) -> None:
        """`forked`: the process for the loop, in place of one that has to load everything."""
        super().__init__(options)
        self._parameters = parameters = node_parameters(self, LoopParameters)
        self._life = LifeRecord(state_file(self.get_fully_qualified_name(), "life"))
        self._latch = successor_halt(self._life)
        self._notes = ThreadPoolExecutor(1, "notes")  # a slow disk must not keep measured joints from the loop
        self._setting = LoopSetting(
            options.robot,
            1.0 / parameters.rate,
            parameters.priority,
            parameters.cpu,
            parameters.every,
            _stream_law(parameters.stream),
            *self._latch,
            arrive_error=parameters.arrive_error,
        )
        self._robot = robot = load_robot(options.robot)
        if self._setting.stream is not None:
            parameters_from(self._setting.stream).check_sensor(robot)
        self._output = ControlOutput(robot.dof)
        self._setpoint = self.publisher("hardware_interface/setpoint")
        self._repetitions = Repetitions()
        self._state = self.publisher("gcmsf_control/state")
        self._loop = self._make_loop(forked)
        self._halts = self._make_halts()
        prepare_priority = min(parameters.priority, PREPARE_PRIORITY)
        self._work = ThreadPoolExecutor(1, "prepare", lambda: schedule(prepare_priority))
        self._goals = PrimitiveGoals(self)
        self._scheduler = PrimitiveScheduler(
            robot, self._setting.period, self._send_order, self._goals.report, self._work
        )
        self._goals.scheduler = self._scheduler
        self._sequences = self._goals.sequences = SequenceGoals(self, robot, self._scheduler, prepare_priority)
        self._inputs = LoopInputs(self, robot, self._scheduler, lambda: self._loop)
        self._field = self._make_field() if parameters.field else None
        if parameters.field_arms and not parameters.field:
            self.get_logger().warning("field_arms: the parameter field is false, so nothing pushes the arm")
        self.serve("gcmsf_control/tare", self._on_tare)
        self.every(STATE_PERIOD, self._tick)

    def _make_loop(self, forked: ForkedLoop | None = None) -> ControlLoop | ProcessLoop:
        if self._parameters.own_process:
            return ProcessLoop(self._setting, self._robot.dof, self._emit, self._on_loop_end, forked)
        if forked is not None:
            forked.close()
        control = make_control(self._setting)
        return ControlLoop(control, self._emit, self._setting.priority, self._setting.every)

    def _make_halts(self) -> HaltProcess:
        topics = {self.resolve_topic_name(topic): word for topic, word in HALT_TOPICS.items()}
        name, memory = f"{self.get_fully_qualified_name()}_halts", self._loop.memory
        texts, arm_name = self.resolve_topic_name(TEXTS), self.resolve_topic_name(ARM_NAME)
        return HaltProcess(self._loop.descriptor, memory.received, name, texts, arm_name, topics)

    def _make_field(self) -> FieldSource:
        parameters = self._parameters
        settings = FieldSettings(parameters.field_influence, parameters.field_gain)
        field = wired_field(self, load_robot(self.options.robot), settings, parameters.field_arms)
        self.every(FIELD_PERIOD, self._push)
        return field

    def start(self) -> None:
        """Start the loop."""
        if not self._loop.running and self._loop.ended:
            count, halted = self._latch
            self._setting = replace(self._setting, halt_count=count, halted=halted)
            self._loop = self._make_loop()
        if self._halts.ended:
            self._halts = self._make_halts()
        try:
            self._notes.submit(self._note, self._latch).result()
            self._loop.start()
            self._halts.wait_ready()
        except TelerobotError as error:
            self.failure = str(error)
            raise

    def stop(self) -> None:
        """Ramp down on the path, then end the loop."""
        self._loop.stop()
        self._halts.stop()
        self._loop.read_output(self._output)
        self._remember()  # a halt on the way to rest
        self._notes.submit(self._note, self._latch, runs=bool(self.failure)).result()

    def _note(self, latch: tuple[int, str], runs: bool = True) -> None:
        """Note the loop's halts for a successor."""
        try:
            self._life.write({"halt_count": latch[0], "halted": latch[1]}, runs)
        except JournalError as error:  # a halt holds the arm, noted or not
            self.get_logger().error(f"halts are not noted for a successor: {error}")

    # on the node's thread ------------------------------------------------------------------------------------

    def _send_order(self, order: Order) -> None:
        self._loop.send_order(order)

    def _on_tare(self, _request: Any, response: Any) -> None:
        if self._output.state not in (LoopState.HOLDING, LoopState.STOPPED):
            raise InvalidValueError("tare", LoopState(self._output.state).name, "allowed: while the arm rests")
        self._send_order(Tare())
        response.success, response.message = True, "present wrench is no contact"

    def _push(self) -> None:
        law = self._scheduler.parameters
        if self._field is None or not self._field.active or (law is None and self._setting.stream is None):
            return
        T_nom = pin.SE3.Identity() if law is None else law.trajectory.se3("tr_nom")
        now, measured = self.now(), (self._output.measured_q, self._output.measured_qd)
        self._loop.inbox.field(now, self._field.twist(now, *measured, T_nom))

    def _tick(self) -> None:
        if self._loop.error and not self.failure:
            self._on_loop_end(self._loop.error)
        self.failure = self.failure or self._check_halts()
        if self._loop.read_output(self._output):
            received = self._halts.received.obeyed(self._output.distinct)
            self._state.publish(state_message(self._output, self.stamp(), received))
            self._sequences.update()
            self._remember()
            self._scheduler.update(self.now(), self._output, self._loop.read_status(), self._inputs.gripper)

    def _remember(self) -> None:
        if not self._output.steps:
            return
        latch = self._output.halt_count, self._output.halt_reason if self._output.halted else ""
        if latch != self._latch:
            self._latch = latch
            self._notes.submit(self._note, latch)

    def _check_halts(self) -> str:
        """Note the halts that the loop has received; returns why it receives none, "" while it does."""
        if self._halts.news():
            self._scheduler.stop(0, f"halt by {self._halts.received.reason}")
        return self._halts.trouble(self.now())

    def health(self) -> Health:
        """Period, lateness, step time and misses of the loop."""
        if self._loop.error:
            return Health(DiagnosticStatus.ERROR, f"control loop ended: {self._loop.error}")
        values = {**output_values(self._output), **loop_values(self._loop), "primitives": len(self._scheduler)}
        if self._field is not None:
            values |= {"obstacles": self._field.obstacles, "nearest_m": self._field.least}
            unknown = self._field.unknown(self.now())
            if unknown:
                texts = self._output.reason, f"the field receives no joints of {', '.join(unknown)}"
                return Health(DiagnosticStatus.WARN, "; ".join(filter(None, texts)), values)
        return Health(message=self._output.reason or "ok", values=values)

    # on other threads ----------------------------------------------------------------------------------------

    def _emit(self, output: ControlOutput) -> None:
        if output.commanding and not self._repetitions.leaves_out(output):
            self._setpoint.publish(setpoint_message(output))

    def _on_loop_end(self, reason: str) -> None:
        """End this process; the watchdog of the hardware interface holds the arm, and the supervisor acts."""
        self.failure = f"control loop ended: {reason}"


def successor_halt(life: LifeRecord) -> tuple[int, str]:
    """Count and reason of the halt with which the loop begins: after a death it waits for RESUME."""
    count, halted = int(life.note.get("halt_count", 0)), str(life.note.get("halted", ""))
    return (count + UNSEEN_HALTS, halted or RESTARTED) if life.died else (count, halted)


def _stream_law(name: str) -> dict[str, Any] | None:
    """Parameters of the plan's stream. Raises ParameterFileError or InvalidValueError."""
    if not name:
        return None
    path = Path(name) if name.endswith((".yaml", ".yml")) else share_path(f"config/streams/{name}.yaml")
    values = read_yaml(path)
    parameters_from(values)
    return values


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    be_urgent()  # the loop's process, too
    return run_node(partial(GcmsfControlNode, forked=ForkedLoop()), options)
