"""`operator_input`: devices of the operator, their stops, force back to the hand, replays of hands [US5231693]."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rclpy.duration import Duration

from telerobot_nodes.core.config import NodeOptions, share_path
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.clients import RosPort
from telerobot_nodes.nodes.framework import GraphNode, Health, node_parameters, run_node
from telerobot_nodes.nodes.messages import convert, twist_stamped
from telerobot_nodes.nodes.operator.reflected_force import ReflectedForce
from telerobot_nodes.operator.client import (
    OperatorClient,
    Outcome,
    QueueStatus,
    commands,
    robot_from_message,
    status_from_message,
)
from telerobot_nodes.operator.devices import (
    Fit,
    HandRecording,
    InputParameters,
    Joystick,
    Reach,
    Replay,
    ReplayState,
    box_reach,
    device_motion,
    fit,
    load_hand,
)

DEMO_HAND = "config/hands/demo_hand.csv"
TICK_PERIOD = 0.1  # [s] between repetitions of a stop
BUTTONS: dict[str, Callable[[], commands.Command]] = {  # by their names in the mapping
    "halt": commands.Halt,
    "estop": commands.EStop,
    "reset": commands.Reset,
    "tare": commands.Tare,
}


class OperatorInputNode(GraphNode):
    """Joy messages and recordings in, tool velocities and device poses out."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        robot = load_robot(options.robot)
        self._box = robot.workspace
        parameters = node_parameters(self, InputParameters)
        self._joystick = Joystick(parameters)
        self._target: FloatArray = self._box.center  # [m] plan's head, WORLD
        self._replay = Replay(self._send, self._replay_ended)
        self._hand: HandRecording | None = None
        self._fit: Fit | None = None
        self._pose = self.publisher("path_plan_queue/pose_target_cmds")
        self._twist = self.publisher("path_plan_queue/delta_twist_cmds")
        self._teleop = self.publisher("gcmsf_control/teleop_cmds")
        self._poses_sent = 0
        self._direct = False  # the device moves the robot's primitive, not the plan
        port = RosPort(self, "gamepad", frozenset({commands.Reset, commands.Tare}))
        self._client = OperatorClient(port, agent=port.agent)
        self._reflected = ReflectedForce(self, robot, parameters, self._move)
        self.subscribe("plan_executor/state", self._on_robot)
        self.every(TICK_PERIOD, lambda: self._client.tick(self.now()))
        self.subscribe("joy", self._on_joy)
        self.subscribe("path_plan_queue/state", self._on_queue)
        self.serve("operator_input/replay", self._start_replay)
        self.serve("operator_input/stop_replay", self._stop_replay)
        self.serve("operator_input/direct", self._set_direct)

    def stop(self) -> None:
        """End a replay, and let go of the hand."""
        self._replay.stop()
        self._reflected.stop()

    def _on_robot(self, message: Any) -> None:
        self._client.receive_robot(robot_from_message(message), self.now())
        self._reflected.on_robot(message)

    def _on_queue(self, message: Any) -> None:
        self._client.receive_queue(status_from_message(QueueStatus, message), self.now())
        if len(message.target_pose) == 7:
            self._target = np.array(message.target_pose[:3])

    def _on_joy(self, message: Any) -> None:
        self._reflected.on_joy()
        for name in self._joystick.presses(message.buttons):
            self._client.ask(BUTTONS[name](), self.now(), partial(self._tell, name))
        velocity = self._joystick.twist(message.axes, message.buttons)
        if velocity is not None:
            self._move(velocity, self._joystick.mapping.frame)

    def _move(self, velocity: FloatArray, frame: str) -> None:
        """Move the plan, or the running primitive, with `velocity` (6,) [m/s], [rad/s]."""
        (self._teleop if self._direct else self._twist).publish(twist_stamped(velocity, frame, self.stamp()))

    def _tell(self, name: str, outcome: Outcome) -> None:
        self.get_logger().info(f"button {name}: {outcome.text or ('done' if outcome.done else 'not done')}")

    def _set_direct(self, request: Any, response: Any) -> None:
        if request.data and self._replay.playing:
            raise InvalidValueError("replay", "running", "allowed with direct: none; call stop_replay first")
        if self._joystick.active and request.data != self._direct:  # end the motion of the previous one
            self._move(np.zeros(6), self._joystick.mapping.frame)
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

    def _send(self, pose: FloatArray, late: float) -> None:
        """Publish a pose with the time at which it was due, so that the receiver can measure how late it is."""
        due = self.get_clock().now() - Duration(seconds=late)
        self._pose.publish(convert.pose_stamped(pose, "device", due.to_msg()))
        self._poses_sent += 1

    def _replay_ended(self, state: ReplayState) -> None:
        paused = f", {self._replay.paused:.1f} s late: this side stood still" if self._replay.paused else ""
        self.get_logger().info(f"replay {state.value}: {self._replay.sent} poses{paused}")

    def health(self) -> Health:
        """State of the replay and the joystick."""
        replay = self._replay
        values: dict[str, object] = {
            "replay": replay.state.value,
            "replay_sent": replay.sent,
            "poses_sent": self._poses_sent,
            "replay_lateness_max_ms": 1e3 * replay.lateness_max,
            "replay_paused_ms": 1e3 * replay.paused,
            "replay_lateness_mean_ms": 1e3 * replay.lateness_sum / max(1, replay.sent),
            "joystick": "moving" if self._joystick.active else "at rest",
            "direct": self._direct,
            "hand_energy_J": float(self._reflected.reflection.energy.sum()),
        }
        if self._hand is not None and self._fit is not None:
            values |= {"hand": self._hand.source, "scale": self._fit.scale, "jumps_in_recording": self._fit.jumps}
        return Health(message=f"replay {replay.state.value}", values=values)


def _describe(hand: HandRecording, chosen: Fit) -> str:
    size = ", ".join(f"{value:.2f}" for value in chosen.upper - chosen.lower)
    reach = "" if chosen.fits else "; part of it is outside the workspace from here"
    return f"{Path(hand.source).name} at scale {chosen.scale:.2f} ({size} m), {chosen.jumps} jumps in it{reach}"


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    return run_node(OperatorInputNode, options)
