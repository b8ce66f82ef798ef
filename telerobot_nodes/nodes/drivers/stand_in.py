"""`telerobot arm stand-in`: the topics of a controller manager with a simulated arm behind them, from an arm file.

A process of its own, for trying an arm file before the arm is there, and for tests. Faults are brought about by
services below the node: `/NAMESPACE/controller_manager/FAULT`, and `release` ends them; or by their names, one a line.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware.ros2_control import (
    PERIOD,
    CommandMode,
    JointReport,
    Order,
    StandIn,
    StandInFault,
    StandInSettings,
    WrenchReport,
    read_options,
)
from telerobot_nodes.nodes.drivers.ros2_control_messages import seconds
from telerobot_nodes.nodes.framework import leave

NODE = "controller_manager"
RELEASE = "release"
WARM = 100  # steps before anybody listens: what is compiled is loaded then
LATE = 0.05  # [s] of the clock that is not caught up with
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class StandInServer:
    """The stand-in behind topics. Raises InvalidValueError for another driver, ParameterFileError for its options."""

    def __init__(self, robot: RobotModel, settings: StandInSettings) -> None:
        if robot.driver.name != "ros2_control":
            raise InvalidValueError("driver", robot.driver.name, "allowed: ros2_control, whose topics it stands in for")
        self.options = read_options(robot)
        self.core = StandIn(robot, self.options, settings)
        self._lock = threading.Lock()
        self._orders: list[Order] = []
        self._context = Context()
        rclpy.init(context=self._context, signal_handler_options=SignalHandlerOptions.NO)
        self._node = rclpy.create_node(NODE, context=self._context, namespace=self.options.namespace)
        self._publish()
        self._subscribe()

    def _publish(self) -> None:
        node, options = self._node, self.options
        self._joints = node.create_publisher(JointState, options.joint_states, 10)
        self._wrench = node.create_publisher(WrenchStamped, options.wrench.topic, 10) if options.wrench else None
        self._running = node.create_publisher(Bool, options.running_topic, LATCHED) if options.running_topic else None

    def _subscribe(self) -> None:
        node, options = self._node, self.options
        if options.command is CommandMode.TRAJECTORY:
            node.create_subscription(JointTrajectory, options.command_to, self._on_trajectory, 1)
        else:
            node.create_subscription(Float64MultiArray, options.command_to, self._on_command, 1)
        if options.gripper is not None:
            node.create_subscription(Float64MultiArray, options.gripper.topic, self._on_finger, 1)
        for fault in StandInFault:
            node.create_service(Trigger, f"~/{fault.value}", self._bringing(fault))
        node.create_service(Trigger, "~/release", self._on_release)

    def order(self, word: str) -> str:
        """Bring a fault about by its name, or `release` all; returns what is allowed for another word, or ""."""
        faults = {fault.value: fault for fault in StandInFault}
        if word == RELEASE:
            self.core.release()
        elif word in faults:
            self.core.bring(faults[word])
        else:
            return f"{word!r} is not allowed; allowed: {', '.join((RELEASE, *faults))}"
        return ""

    # the executor's thread -----------------------------------------------------------------------------------

    def _put(self, order: Order) -> None:
        with self._lock:
            self._orders.append(order)

    def _on_command(self, message: Any) -> None:
        self._put(Order(np.array(message.data)))

    def _on_trajectory(self, message: Any) -> None:
        names, order = list(message.joint_names), self.options.order or self.core.arm.names
        if message.points and sorted(names) == sorted(order) and len(message.points[0].positions) == len(names):
            point = message.points[0]
            values = np.array(point.positions)[[names.index(name) for name in order]]
            self._put(Order(values, seconds(point.time_from_start)))

    def _on_finger(self, message: Any) -> None:
        if len(message.data):
            self.core.arm.grip(float(message.data[0]))

    def _bringing(self, fault: StandInFault) -> Callable[[Any, Any], Any]:
        def bring(_request: Any, answer: Any) -> Any:
            self.core.bring(fault)
            answer.success = True
            return answer

        return bring

    def _on_release(self, _request: Any, answer: Any) -> Any:
        self.core.release()
        answer.success = True
        return answer

    # the main thread -----------------------------------------------------------------------------------------

    def run(self, ended: threading.Event, ready: Callable[[], None], show: Callable[[str], None]) -> None:
        """Serve until `ended`; `ready` is called once, `show` with each protective stop and its end."""
        executor = SingleThreadedExecutor(context=self._context)
        executor.add_node(self._node)
        spinning = threading.Thread(target=_spin, args=(executor,), daemon=True)
        spinning.start()
        for _ in range(WARM):
            self.core.step(time.monotonic())
        self._report_running(True)
        ready()
        try:
            self._serve(ended, show)
        finally:
            executor.shutdown()
            spinning.join()
            leave(self._node)
            rclpy.try_shutdown(context=self._context)

    def _serve(self, ended: threading.Event, show: Callable[[str], None]) -> None:
        begin = due = time.monotonic()
        tick, every = 0, max(1, round(1.0 / (self.core.settings.rate * PERIOD)))
        runs = True
        while not ended.is_set():
            due += PERIOD
            now = time.monotonic()
            if now < due:
                time.sleep(due - now)
            elif now - due > LATE:
                due = now
            self._take_orders(due)
            self.core.step(due)
            tick += 1
            if bool(self.core.arm.stopped) is runs:
                runs = not runs
                self._report_running(runs)
                show(self.core.arm.stopped or "runs again")
            if tick % every == 0:
                for joints, wrench in self.core.reports(due, due - begin):
                    self._report(joints, wrench)

    def _take_orders(self, now: float) -> None:
        with self._lock:
            orders, self._orders = self._orders, []
        for order in orders:
            self.core.receive(now, order)

    def _report_running(self, runs: bool) -> None:
        if self._running is not None:
            self._running.publish(Bool(data=runs))

    def _report(self, joints: JointReport, wrench: WrenchReport | None) -> None:
        message = JointState(
            name=joints.names, position=joints.position, velocity=joints.velocity, effort=joints.effort
        )
        _set_stamp(message, joints.stamp)
        self._joints.publish(message)
        if self._wrench is not None and wrench is not None:
            self._wrench.publish(_wrench_message(wrench))


def _spin(executor: Any) -> None:
    try:
        executor.spin()
    except ExternalShutdownException:
        return


def _set_stamp(message: Any, stamp: float) -> None:
    message.header.stamp.sec, message.header.stamp.nanosec = int(stamp), int(1e9 * (stamp % 1.0))


def _wrench_message(report: WrenchReport) -> Any:
    message = WrenchStamped()
    _set_stamp(message, report.stamp)
    message.header.frame_id = report.frame
    force, torque = message.wrench.force, message.wrench.torque
    force.x, force.y, force.z, torque.x, torque.y, torque.z = (float(value) for value in report.wrench)
    return message
