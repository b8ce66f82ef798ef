"""Commands of the driver `ros2_control` as messages of the three kinds of controllers, and of the gripper's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from rclpy.action import ActionClient
from rclpy.qos import QoSProfile
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from telerobot_nodes.errors import NotInstalledError
from telerobot_nodes.hardware.ros2_control import Command, CommandMode, RemoteArm

GAIN = 5.0  # [1/s] of the position error in velocity mode
AHEAD = 2.0  # periods that a trajectory's point lies ahead
FINGER_PERIOD = 0.05  # [s]
FINGER_STEP = 1e-4  # [m] or [rad] smallest change that is sent
NEWEST = QoSProfile(depth=1)  # reliable, as the controllers subscribe


class CommandWriter:
    """Publishes commands to the arm's controller. Used by one thread."""

    def __init__(self, node: Any, arm: RemoteArm) -> None:
        self._arm, self._mode = arm, arm.options.command
        order = arm.options.order or arm.names
        self._order = [arm.names.index(name) for name in order]
        self._names = list(order)
        kind = JointTrajectory if self._mode is CommandMode.TRAJECTORY else Float64MultiArray
        self._publisher = node.create_publisher(kind, arm.options.command_to, NEWEST)
        self._ahead = AHEAD / arm.options.rate

    def listeners(self) -> int:
        """Number of controllers that subscribe."""
        return int(self._publisher.get_subscription_count())

    def write(self, command: Command) -> None:
        """Publish one command."""
        if self._mode is CommandMode.TRAJECTORY:
            self._publisher.publish(self._trajectory(command))
        else:
            row = command.position if self._mode is CommandMode.POSITION else self._velocity(command)
            self._publisher.publish(Float64MultiArray(data=self._row(row)))

    def _row(self, values: Any) -> list[float]:
        """In the controller's order."""
        return [float(values[i]) for i in self._order]

    def _velocity(self, command: Command) -> Any:
        sample, limits = self._arm.sample, self._arm.robot.limits
        if sample is None or not math.isfinite(command.position[0]):
            return command.velocity
        here = sample.position + sample.velocity * (command.time - sample.time)
        return np.clip(command.velocity + GAIN * (command.position - here), -limits.velocity, limits.velocity)

    def _trajectory(self, command: Command) -> JointTrajectory:
        point = JointTrajectoryPoint(
            positions=self._row(command.position + self._ahead * command.velocity),
            velocities=self._row(command.velocity),
            time_from_start=Duration(nanosec=round(1e9 * self._ahead)),
        )
        return JointTrajectory(joint_names=self._names, points=[point])


class FingerWriter:
    """Publishes the gripper's goal when it changes, or sends it as an action. Used by one thread."""

    def __init__(self, node: Any, arm: RemoteArm) -> None:
        self._arm = arm
        self._sent = math.nan, 0.0  # position of the joint, force [N]
        self._due = 0.0
        self._send = self._way(node)

    def _way(self, node: Any) -> Any:
        gripper = self._arm.options.gripper
        if gripper is None:
            return None
        if gripper.action:
            return _action(node, gripper.action)
        publisher = node.create_publisher(Float64MultiArray, gripper.topic, NEWEST)
        return lambda goal, _force: publisher.publish(Float64MultiArray(data=[goal]))

    def write(self, now: float) -> None:
        """Send the present goal if it is another one and the arm follows."""
        goal, force = self._arm.finger, self._arm.grip_force
        if self._send is None or now < self._due or self._arm.trouble is not None:
            return
        if not abs(goal - self._sent[0]) < FINGER_STEP or force != self._sent[1]:
            self._sent, self._due = (goal, force), now + FINGER_PERIOD
            self._send(goal, force)


def _action(node: Any, name: str) -> Any:
    """Sends goals of control_msgs/action/GripperCommand. Raises NotInstalledError."""
    try:
        from control_msgs.action import GripperCommand
    except ImportError:
        raise NotInstalledError(
            "options.gripper.action: control_msgs is not installed; use `topic`, or a host with ROS's control_msgs"
        ) from None
    client = ActionClient(node, GripperCommand, name)

    def send(goal: float, force: float) -> None:
        message = GripperCommand.Goal()
        message.command.position, message.command.max_effort = goal, force
        client.send_goal_async(message)

    return send


def seconds(stamp: Any) -> float:
    """A stamp of a message [s]."""
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)
