"""Force back to the hand on topics of `operator_input`: a haptic device's port, and the rumble of a gamepad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JoyFeedback

from telerobot_nodes.core.protocol import PrimitiveOutcome
from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray, finite_array, one_of, se3_from_pose
from telerobot_nodes.motion.law import sensor_in_tool
from telerobot_nodes.nodes.framework import GraphNode
from telerobot_nodes.nodes.messages import convert
from telerobot_nodes.operator.devices import ReflectConfig, Reflection, wrench_at_hand

FRAMES = ("world", "tool")  # axes in which a hand can feel
PAD_GONE = 2.0  # [s] without joy messages: no gamepad to rumble
REST_PERIOD = 0.1  # [s] between zeros while the hand is silent


class ReflectedForce:
    """Answers each motion of the hand with the wrench to be held until its next one; `move` passes the motion on."""

    def __init__(
        self, node: GraphNode, robot: RobotModel, config: ReflectConfig, move: Callable[[FloatArray, str], None]
    ) -> None:
        self._node, self._move = node, move
        self._T_tool_sensor = sensor_in_tool(robot)
        self._frame = FRAMES[0]
        self._robot_state: Any = None  # the latest ExecutorState
        self._pad_at = -np.inf  # [s] of the latest joy message
        self.reflection = Reflection(config)
        self._out = node.publisher("operator_input/reflected")
        self._feedback = node.publisher("joy/set_feedback")
        node.subscribe("operator_input/hand", self._on_hand)
        node.subscribe("gcmsf_control/report", self._on_report)
        node.every(REST_PERIOD, self._let_go)

    def on_joy(self) -> None:
        """A gamepad is there."""
        self._pad_at = self._node.now()

    def on_robot(self, message: Any) -> None:
        """Receive the robot's state; a gamepad rumbles."""
        self._robot_state = message
        self._receive()
        now = self._node.now()
        if now - self._pad_at <= PAD_GONE:
            strength = self.reflection.rumble(now)
            self._feedback.publish(JoyFeedback(type=JoyFeedback.TYPE_RUMBLE, id=0, intensity=strength))

    def stop(self) -> None:
        """Let go of the hand."""
        self._publish(np.zeros(6))

    def _receive(self) -> None:
        state = self._robot_state
        if state is None or len(state.wrench) != 6 or len(state.tool_pose) != 7:
            return  # an arm without a sensor, or one that has not been measured yet
        wrench = np.array(state.wrench)
        rotation = se3_from_pose(state.tool_pose, "state.tool_pose").rotation if self._frame == "world" else np.eye(3)
        self.reflection.receive(self._node.now(), wrench_at_hand(wrench, self._T_tool_sensor, rotation))

    def _on_hand(self, message: Any) -> None:
        frame = one_of(message.header.frame_id, "hand.header.frame_id", FRAMES)
        velocity = finite_array(convert.twist_to_array(message.twist), "hand.twist", 6)
        if frame != self._frame:
            self._turn(frame)
        self._publish(self.reflection.wrench(self._node.now(), velocity))
        self._move(velocity, frame)

    def _turn(self, frame: str) -> None:
        """Feel in other axes: what was felt before is not there any more."""
        gain = self.reflection.primitive_gain
        self._frame, self.reflection = frame, Reflection(self.reflection.config)
        self.reflection.primitive_gain = gain

    def _on_report(self, message: Any) -> None:
        if message.phase == "queued":
            return  # another one still runs
        ended = message.state != PrimitiveOutcome.RUNNING
        readings = dict(zip(message.reading_names, message.readings, strict=False))
        self.reflection.primitive_gain = 1.0 if ended else readings.get("reflect_gain", 1.0)

    def _let_go(self) -> None:
        if self.reflection.hand_is_silent(self._node.now()):
            self._publish(np.zeros(6))

    def _publish(self, wrench: FloatArray) -> None:
        message = WrenchStamped()
        message.header.stamp, message.header.frame_id = self._node.stamp(), self._frame
        force, torque = message.wrench.force, message.wrench.torque
        force.x, force.y, force.z, torque.x, torque.y, torque.z = (float(value) for value in wrench)
        self._out.publish(message)
