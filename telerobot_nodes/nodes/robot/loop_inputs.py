"""The topics whose messages go into the control loop: windows, joints, hardware, wrench, device, ends of halts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pinocchio as pin

from telerobot_nodes.core.memory import AGENT_LENGTH
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, finite_array
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.motion.loop import HostedLoop
from telerobot_nodes.motion.scheduling import PrimitiveScheduler
from telerobot_nodes.nodes.framework import GraphNode
from telerobot_nodes.nodes.messages import convert
from telerobot_nodes.nodes.robot.teleop_input import TeleopInput, along_mode

REASON_LENGTH = 200  # characters of a reason that are passed on


class LoopInputs:
    """Subscriptions of `gcmsf_control`. `loop` returns the present loop: another one after each activation."""

    def __init__(
        self,
        node: GraphNode,
        robot: RobotModel,
        scheduler: PrimitiveScheduler,
        loop: Callable[[], HostedLoop],
    ) -> None:
        self._node, self._names = node, list(robot.joint_names)
        self._robot, self._kinematics = robot, robot.new_data()
        self._measured: FloatArray = robot.home
        self._scheduler, self._loop = scheduler, loop
        self._teleop = TeleopInput()
        self.gripper = float("nan")  # [m] measured opening
        node.subscribe("plan_executor/window", self._on_window)
        node.subscribe("joint_states", self._on_joints)
        node.subscribe("hardware_interface/state", self._on_hardware)
        node.subscribe("hardware_interface/wrench", self._on_wrench, raw=True)
        node.subscribe("gcmsf_control/teleop_cmds", self._on_device)
        node.subscribe("gcmsf_control/resume", self._on_resume)
        node.subscribe("rtc_decision_unit/stop", self._on_stop)

    def _on_window(self, message: Any) -> None:
        self._loop().inbox.window(convert.window_from_message(message))

    def _on_joints(self, message: Any) -> None:
        if list(message.name) != self._names:
            raise InvalidValueError("joint_states.name", list(message.name), f"allowed: {self._names}")
        dof = len(self._names)
        position = finite_array(message.position, "joint_states.position", dof)
        velocity = finite_array(message.velocity, "joint_states.velocity", dof)
        self._measured = position
        self._loop().inbox.measured(self._node.now(), position, velocity)

    def _on_hardware(self, message: Any) -> None:
        self.gripper = message.gripper
        followed = (message.gripper, message.gripper_reference, message.setpoint_number)
        self._loop().inbox.hardware(self._node.now(), message.state, message.reason, *followed)

    def _on_wrench(self, message: bytes) -> None:
        # also when not finite: the loop then stops the motions that need the sensor
        self._loop().inbox.wrench(self._node.now(), convert.wrench_from_bytes(message))

    def _on_device(self, message: Any) -> None:
        law, frame = self._scheduler.parameters, message.header.frame_id
        if law is None:
            raise InvalidValueError("teleop_cmds", frame, "allowed: while a primitive runs")
        velocity = finite_array(convert.twist_to_array(message.twist), "teleop_cmds.twist", 6)
        along = along_mode(velocity, frame, law, self._tool_axes())
        self._loop().inbox.device(self._teleop.increment(self._node.now(), along))

    def _tool_axes(self) -> FloatArray:
        """R_world_tool (3, 3) of the measured joints."""
        model, data = self._robot.model, self._kinematics
        pin.forwardKinematics(model, data, self._measured)
        rotation: FloatArray = pin.updateFramePlacement(model, data, self._robot.tool_frame_id).rotation
        return rotation

    def _on_stop(self, message: Any) -> None:
        self._scheduler.stop(0, message.reason[:REASON_LENGTH])

    def _on_resume(self, message: Any) -> None:
        self._loop().inbox.resume(message.halt_count)
        who = message.agent[:AGENT_LENGTH]
        self._node.get_logger().warning(f"end of halt {message.halt_count} asked by {who}", throttle_duration_sec=1.0)
