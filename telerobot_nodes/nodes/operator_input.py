"""`operator_input`: devices of the operator, and replay of recorded hands [US5231693]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import TwistStamped

from telerobot_nodes.core.options import NodeOptions
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.share import share_path
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes import convert
from telerobot_nodes.nodes.base import GraphNode, Health
from telerobot_nodes.nodes.parameters import node_parameters
from telerobot_nodes.nodes.process import run_node
from telerobot_nodes.operator.hand import HandRecording, device_motion, load_hand
from telerobot_nodes.operator.hand_fit import Fit, Reach, box_reach, fit
from telerobot_nodes.operator.joystick import JoyMapping, Joystick
from telerobot_nodes.operator.replay import Replay, ReplayState

DEMO_HAND = "config/hands/demo_hand.csv"


class OperatorInputNode(GraphNode):
    """Joy messages and recordings in, tool velocities and device poses out."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        self._box = load_robot(options.robot).workspace
        self._joystick = Joystick(node_parameters(self, JoyMapping))
        self._target: FloatArray = self._box.center  # [m] plan's head, WORLD
        self._replay = Replay(self._send, self._replay_ended)
        self._hand: HandRecording | None = None
        self._fit: Fit | None = None
        self._pose = self.publisher("path_plan_queue/pose_target_cmds")
        self._twist = self.publisher("path_plan_queue/delta_twist_cmds")
        self._teleop = self.publisher("gcmsf_control/teleop_cmds")
        self._direct = False  # the device moves the robot's primitive, not the plan
        self.subscribe("joy", self._on_joy)
        self.subscribe("path_plan_queue/state", self._on_queue)
        self.serve("operator_input/replay", self._start_replay)
        self.serve("operator_input/stop_replay", self._stop_replay)
        self.serve("operator_input/direct", self._set_direct)

    def stop(self) -> None:
        """End a replay."""
        self._replay.stop()

    def _on_queue(self, message: Any) -> None:
        if len(message.target_pose) == 7:
            self._target = np.array(message.target_pose[:3])

    def _on_joy(self, message: Any) -> None:
        velocity = self._joystick.twist(message.axes, message.buttons)
        if velocity is not None:
            message = twist_stamped(velocity, self._joystick.mapping.frame, self.stamp())
            (self._teleop if self._direct else self._twist).publish(message)

    def _set_direct(self, request: Any, response: Any) -> None:
        if request.data and self._replay.playing:
            raise InvalidValueError("replay", "running", "allowed with direct: none; call stop_replay first")
        if self._joystick.active and request.data != self._direct:  # the one that moved is told to rest
            still = twist_stamped(np.zeros(6), self._joystick.mapping.frame, self.stamp())
            (self._teleop if self._direct else self._twist).publish(still)
        self._direct = request.data
        response.success = True
        response.message = "the device moves the running primitive" if self._direct else "the device lays the plan"

    def _start_replay(self, request: Any, response: Any) -> None:
        if self._replay.playing:
            raise InvalidValueError("replay", "running", "allowed: one at a time; call stop_replay first")
        path = Path(request.file) if request.file else share_path(DEMO_HAND)
        hand = load_hand(path)
        chosen = fit(hand, self._reach(), request.scale)
        motion = device_motion(hand, chosen.scale, request.speed)
        self._hand, self._fit = hand, chosen
        self._replay.start(motion)
        response.success, response.message = True, _describe(hand, chosen)
        response.scale, response.duration = chosen.scale, motion.duration
        self.get_logger().info(f"replay: {response.message}")

    def _stop_replay(self, _request: Any, response: Any) -> None:
        response.success = True
        response.message = "stopped" if self._replay.stop() else "no replay was running"

    def _reach(self) -> Reach:
        """The robot's workspace seen from the plan's head, where the device is indexed."""
        offset = self._box.center - self._target
        return box_reach(offset - 0.5 * self._box.size, offset + 0.5 * self._box.size)

    def _send(self, pose: FloatArray) -> None:
        self._pose.publish(convert.pose_stamped(pose, "device", self.stamp()))

    def _replay_ended(self, state: ReplayState) -> None:
        self.get_logger().info(f"replay {state.value}: {self._replay.sent} poses")

    def health(self) -> Health:
        """What the replay and the joystick do."""
        replay = self._replay
        values: dict[str, object] = {
            "replay": replay.state.value,
            "replay_sent": replay.sent,
            "replay_lateness_max_ms": 1e3 * replay.lateness_max,
            "replay_lateness_mean_ms": 1e3 * replay.lateness_sum / max(1, replay.sent),
            "joystick": "moving" if self._joystick.active else "at rest",
            "direct": self._direct,
        }
        if self._hand is not None and self._fit is not None:
            values |= {"hand": self._hand.source, "scale": self._fit.scale, "jumps_in_recording": self._fit.jumps}
        return Health(message=f"replay {replay.state.value}", values=values)


def twist_stamped(velocity: FloatArray, frame: str, stamp: Any) -> Any:
    """geometry_msgs/TwistStamped of (6,) [m/s], [rad/s]."""
    message = TwistStamped()
    message.header.frame_id, message.header.stamp = frame, stamp
    v, w = message.twist.linear, message.twist.angular
    v.x, v.y, v.z, w.x, w.y, w.z = (float(value) for value in velocity)
    return message


def _describe(hand: HandRecording, chosen: Fit) -> str:
    size = ", ".join(f"{value:.2f}" for value in chosen.upper - chosen.lower)
    reach = "" if chosen.fits else "; part of it is outside the workspace from here"
    return f"{Path(hand.source).name} at scale {chosen.scale:.2f} ({size} m), {chosen.jumps} jumps in it{reach}"


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    return run_node(OperatorInputNode, options)
