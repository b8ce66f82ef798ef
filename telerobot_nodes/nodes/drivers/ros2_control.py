"""Driver `ros2_control`: the transport of a `RemoteArm` over the topics of a controller manager.

Receiving and sending have a thread each and a ROS context of their own; the servo only sets and reads latest values.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware.ros2_control import RemoteArm, read_options
from telerobot_nodes.nodes.drivers.ros2_control_messages import CommandWriter, FingerWriter, seconds
from telerobot_nodes.nodes.framework import leave

NODE = "ros2_control_driver"
CONNECT = 10.0  # [s] the start waits for the arm; later it is a fault that a reset ends
LOOK = 0.1  # [s] between looks at who listens
FRESH = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Ros2ControlArm(RemoteArm):
    """`ArmHardware` over topics. Raises ParameterFileError or InvalidValueError for options that cannot work."""

    def __init__(self, robot: RobotModel, period: float, own_namespace: str, listen_only: bool = False) -> None:
        super().__init__(robot, period, read_options(robot), listen_only)
        options = self.options
        if options.namespace.strip("/") == own_namespace.strip("/"):
            raise InvalidValueError(
                "options.namespace", options.namespace, "allowed: another one than that of hardware_interface"
            )
        self._closing = threading.Event()
        self._heard = threading.Event()
        self._threads: list[threading.Thread] = []
        self._context = Context()

    def open(self, now: float) -> None:
        """Connect; wait a few seconds for the arm, then begin at its measured position."""
        begin = time.monotonic()
        self._connect()
        self._heard.wait(CONNECT)
        while self.engage() and time.monotonic() - begin < CONNECT:
            self._closing.wait(LOOK)
            self._now = time.monotonic()

    def _connect(self) -> None:
        if self._threads:
            return
        rclpy.init(context=self._context, signal_handler_options=SignalHandlerOptions.NO)
        self._node = node = rclpy.create_node(
            NODE, context=self._context, namespace=self.options.namespace, start_parameter_services=False
        )
        options = self.options
        node.create_subscription(JointState, options.joint_states, self._on_joints, FRESH)
        if options.wrench is not None:
            node.create_subscription(WrenchStamped, options.wrench.topic, self._on_wrench, FRESH)
        if options.running_topic:  # some drivers latch it, some do not
            for qos in (FRESH, LATCHED):
                node.create_subscription(Bool, options.running_topic, self._on_running, qos)
        self._writer = CommandWriter(node, self)
        self._fingers = FingerWriter(node, self)
        for work, name in ((self._receive, "driver receive"), (self._send, "driver send")):
            thread = threading.Thread(target=work, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """Disconnect; the arm is left holding."""
        super().close()
        self._closing.set()
        for thread in self._threads:
            thread.join(1.0)
        if self._threads:
            leave(self._node)
            rclpy.try_shutdown(context=self._context)

    # the receiving thread ------------------------------------------------------------------------------------

    def _receive(self) -> None:
        executor = EventsExecutor(context=self._context)
        executor.add_node(self._node)
        while not self._closing.is_set():
            try:
                executor.spin_once(timeout_sec=LOOK)
            except ExternalShutdownException:
                break
            except Exception as error:  # noqa: BLE001 -- a bad message must not end the receipt of all others
                self._node.get_logger().error(f"callback failed: {error}", throttle_duration_sec=1.0)
        executor.shutdown(timeout_sec=0.5)

    def _on_joints(self, message: Any) -> None:
        stamp = seconds(message.header.stamp)
        self.receive_joints(time.monotonic(), stamp, message.name, message.position, message.velocity, message.effort)
        self._heard.set()

    def _on_wrench(self, message: Any) -> None:
        force, torque = message.wrench.force, message.wrench.torque
        row = (force.x, force.y, force.z, torque.x, torque.y, torque.z)
        self.receive_wrench(time.monotonic(), seconds(message.header.stamp), message.header.frame_id, row)

    def _on_running(self, message: Any) -> None:
        self.running = bool(message.data)

    # the sending thread --------------------------------------------------------------------------------------

    def _send(self) -> None:
        period = 1.0 / self.options.rate
        due = look = time.monotonic()
        while not self._closing.is_set():
            now = time.monotonic()
            if now >= look:
                look = now + LOOK
                self.listening = self._writer.listeners() > 0
            command = self.commander.next(now)
            if command is not None:
                self._writer.write(command)
            if not self.listen_only:
                self._fingers.write(now)
            due = max(due + period, now)  # a missed deadline is not caught up with
            time.sleep(max(0.0, due - time.monotonic()))
