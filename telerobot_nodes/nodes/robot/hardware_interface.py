"""`hardware_interface`: the arm behind its driver; embedded MuJoCo physics by default [US5231693]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState

from telerobot.msg import HardwareState, Obstacle, Obstacles
from telerobot_nodes.core.config import LifeRecord, NodeOptions, parameter, state_file
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.errors import JournalError
from telerobot_nodes.graph import SIMULATED
from telerobot_nodes.hardware import Hardware, HardwareStatus, KeptPose, Measured, Realism, SeesLoose, SeesScene
from telerobot_nodes.nodes.drivers import DriverSetting, make_arm
from telerobot_nodes.nodes.framework import GraphNode, Health, node_parameters, run_node
from telerobot_nodes.nodes.messages import convert

TICK_PERIOD = 0.005  # [s] between measurements published
TICKS_PER_STATE = 4
OBJECTS_PERIOD = 0.5  # [s]
SCENE_PERIOD = 0.1  # [s]
RESTARTED = "the hardware interface ended and was started again"


@dataclass(frozen=True)
class HardwareParameters(Realism):
    """Parameters of `hardware_interface`."""

    servo_period: float = parameter(0.001, unit="s", low=0.0005, high=0.005, doc="joint servo period")
    task_board: bool = parameter(True, doc="put the task board into the simulated scene")


class HardwareInterfaceNode(GraphNode):
    """Setpoints in; joints, wrench and readiness out."""

    linger = 1.5  # [s] the control loop comes to rest meanwhile; without one the watchdog brakes

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        parameters = node_parameters(self, HardwareParameters)
        robot = load_robot(options.robot)
        if options.graph in SIMULATED:
            robot = robot.simulated  # no driver of the arm file is even loaded
        self._names = list(robot.joint_names)
        self._sensor_frame = robot.sensor_frame or robot.tool_frame
        self._life = LifeRecord(state_file(self.get_fully_qualified_name(), "life"))
        self._inherited = RESTARTED if self._life.died else str(self._life.note.get("estop", ""))
        file = state_file(self.get_fully_qualified_name(), "pose")
        self._pose = KeptPose(file, robot) if file is not None else None
        start = self._pose.latest() if self._pose is not None else None
        setting = DriverSetting(
            robot, parameters.servo_period, self.get_namespace(), parameters, parameters.task_board, start=start
        )
        self._arm = Hardware(robot, parameters.servo_period, make_arm(setting))
        self._ticks = 0
        self._measured_at = -math.inf
        self._joints = self.publisher("joint_states")
        self._wrench = self.publisher("hardware_interface/wrench")
        self._state = self.publisher("hardware_interface/state")
        self.subscribe("hardware_interface/setpoint", self._on_setpoint)
        self.subscribe("estop", self._on_estop_message)
        self.serve("hardware_interface/estop", self._on_estop)
        self.serve("hardware_interface/reset", self._on_reset)
        self.serve("hardware_interface/zero_ftsensor", self._on_tare)
        self.every(TICK_PERIOD, self._tick)
        self._objects = self.publisher("hardware_interface/objects")
        self.every(OBJECTS_PERIOD, self._publish_objects)
        self._scene = self.publisher("hardware_interface/scene")
        self.every(SCENE_PERIOD, self._publish_scene)

    def start(self) -> None:
        """Connect to the arm; it holds where it is. After a death, or an e-stop never released, it waits for RESET."""
        self._arm.open(self.now())
        self._note("", runs=True)
        if self._inherited:
            self._latch(self._inherited)
            self._inherited = ""

    @property
    def finished(self) -> bool:
        """True when the arm is at rest: it may be disconnected."""
        return self._arm.at_rest

    def stop(self) -> None:
        """Disconnect; the arm is left holding."""
        status = self._arm.status()
        self._arm.close()
        self._note(status.reason if status.state == HardwareState.ESTOP else "", runs=bool(self.failure))

    def _note(self, estop: str, runs: bool) -> None:
        """Note for a successor whether this node runs, and the e-stop that it shall latch."""
        try:
            self._life.write({"estop": estop.removeprefix("e-stop: ")}, runs)
        except JournalError as error:
            self.get_logger().error(f"nothing is noted for a successor: {error}")

    def _on_setpoint(self, message: Any) -> None:
        self._arm.command(self.now(), message)  # rejected setpoints are counted and reported in HardwareState

    def _on_estop_message(self, message: Any) -> None:
        self._latch(f"{message.agent[:128]}: {message.reason[:200]}")

    def _latch(self, reason: str) -> None:
        self._arm.estop(reason)
        self.get_logger().warning(f"e-stop by {reason}", throttle_duration_sec=1.0)

    def _on_estop(self, _request: Any, response: Any) -> None:
        self._latch("service call")
        response.success, response.message = True, "e-stop latched"

    def _on_reset(self, _request: Any, response: Any) -> None:
        self._arm.reset()
        self.get_logger().warning("reset by a service call")
        response.success, response.message = True, self._arm.status().reason

    def _on_tare(self, _request: Any, response: Any) -> None:
        response.success = self._arm.tare()
        response.message = (
            "present wrench is zero" if response.success else "nothing changed: the wrist sensor is silent"
        )

    def _tick(self) -> None:
        self._arm.step(self.now())
        measured = self._arm.measured()
        if measured.time > self._measured_at:  # an old measurement must not look new
            self._measured_at, stamp = measured.time, self.stamp(measured.time)
            self._joints.publish(_joint_state(self._names, measured, stamp))
            if self._pose is not None:
                self._pose.keep(measured.position, measured.gripper)
            if np.isfinite(measured.wrench_sensor).all():  # a sensor that is silent says nothing
                self._wrench.publish(_wrench(self._sensor_frame, measured, stamp))
        self._ticks += 1
        if self._ticks % TICKS_PER_STATE == 0:
            self._state.publish(_state(self._arm.status(), self.stamp()))

    def _publish_objects(self) -> None:
        """Publish the loose objects of a simulated scene, as a camera over it would find them."""
        if isinstance(self._arm.arm, SeesLoose):
            rows = [Obstacle(name=name, pose=convert.doubles(pose)) for name, pose in self._arm.arm.loose().items()]
            self._objects.publish(Obstacles(stamp=self.stamp(), replace=True, obstacles=rows))

    def _publish_scene(self) -> None:
        """Publish the state of every body of a simulated scene, for those who judge what the arm did."""
        if isinstance(self._arm.arm, SeesScene):
            self._scene.publish(_scene(self._arm.arm.scene(), self.stamp()))

    def health(self) -> Health:
        """Readiness, refusals, tracking, pacing."""
        status = self._arm.status()
        level = DiagnosticStatus.OK if status.state in (0, 1) else DiagnosticStatus.ERROR
        values = {
            name: getattr(status, name) for name in status.__dataclass_fields__ if name not in ("state", "reason")
        }
        return Health(level, status.reason or status.state.name.lower(), values)


def _joint_state(names: list[str], measured: Measured, stamp: Any) -> Any:
    message = JointState(
        name=names,
        position=convert.doubles(measured.position),
        velocity=convert.doubles(measured.velocity),
        effort=convert.doubles(measured.effort),
    )
    message.header.stamp = stamp
    return message


def _scene(bodies: dict[str, tuple[float, float]], stamp: Any) -> Any:
    message = JointState(
        name=list(bodies),
        position=convert.doubles([position for position, _ in bodies.values()]),
        effort=convert.doubles([force for _, force in bodies.values()]),
    )
    message.header.stamp = stamp
    return message


def _wrench(frame: str, measured: Measured, stamp: Any) -> Any:
    message = WrenchStamped()
    message.header.stamp, message.header.frame_id = stamp, frame
    force, torque = message.wrench.force, message.wrench.torque
    force.x, force.y, force.z, torque.x, torque.y, torque.z = (float(value) for value in measured.wrench_sensor)
    return message


def _state(status: HardwareStatus, stamp: Any) -> Any:
    return HardwareState(
        stamp=stamp,
        state=int(status.state),
        reason=status.reason,
        setpoint_number=status.setpoint_number,
        refused=status.refused,
        refusal=status.refusal,
        saturated=status.saturated,
        gripper=float(status.gripper),
        gripper_reference=float(status.gripper_reference),
        tracking_error=float(status.tracking_error),
        real_time_factor=float(status.real_time_factor),
    )


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    return run_node(HardwareInterfaceNode, options)
