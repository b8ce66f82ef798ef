"""`operator_input`: devices of the operator, their stops, force back to the hand, replays of hands [US5231693]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rclpy.duration import Duration

from telerobot.msg import InputState
from telerobot_nodes.core.config import NodeOptions, share_path
from telerobot_nodes.core.protocol import ControlMode
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import FloatArray, poses
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.clients import RosPort
from telerobot_nodes.nodes.framework import GraphNode, Health, Send, node_parameters, run_node
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
    DeviceMotion,
    Fit,
    HandRecording,
    HeldPoses,
    InputParameters,
    JoyInput,
    Moves,
    Reach,
    Replay,
    ReplayState,
    Wish,
    Wishes,
    box_reach,
    device_motion,
    fit,
    load_hand,
    moves,
)

DEMO_HAND = "config/hands/demo_hand.csv"
STATE_PERIOD = 1.0  # [s]
WISHES = {Wish.REQUEST: commands.Deed.REQUEST_CONTROL, Wish.RELEASE: commands.Deed.RELEASE_CONTROL}
TICK_PERIOD = 0.1  # [s] between repetitions of a stop
RECEIVER = "path_plan_queue"
RECEIVER_LIMIT = 5.0  # [s] for the receiver of the poses to be connected
BUTTONS: dict[str, Callable[[], commands.Command]] = {  # by their names in the mapping
    "halt": commands.Halt,
    "estop": commands.EStop,
    "reset": commands.Reset,
    "tare": commands.Tare,
}


@dataclass(frozen=True)
class WaitingReplay:
    """A replay whose poses nobody receives yet; `limit` [s]: when it is refused for that."""

    motion: DeviceMotion
    response: Any  # of the service, without its outcome
    send: Send
    limit: float

    def answer(self, success: bool, message: str) -> None:
        """Send the response."""
        self.response.success, self.response.message = success, message
        self.send(self.response)


class OperatorInputNode(GraphNode):
    """Joy messages and recordings in, tool velocities and device poses out."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        robot = load_robot(options.robot)
        self._box = robot.workspace
        parameters = node_parameters(self, InputParameters)
        self._joy = JoyInput(parameters)
        self._held = HeldPoses()  # of a tracked device
        self._target: FloatArray = self._box.center  # [m] plan's head, WORLD
        self._replay = Replay(self._send, self._replay_ended)
        self._hand: HandRecording | None = None
        self._fit: Fit | None = None
        self._pose = self.publisher("path_plan_queue/pose_target_cmds")
        self._twist = self.publisher("path_plan_queue/delta_twist_cmds")
        self._teleop = self.publisher("gcmsf_control/teleop_cmds")
        self._poses_sent = 0
        self._waiting: WaitingReplay | None = None
        self._mode = ControlMode.named(parameters.mode)
        self._wishes = Wishes()
        self._moves = moves(self._mode, False)  # what the device moves
        self._state = self.publisher("operator_input/state")
        port = RosPort(self, "gamepad", frozenset({commands.Reset, commands.Tare, *WISHES.values()}))
        self._client = OperatorClient(port, agent=port.agent)
        self._reflected = ReflectedForce(self, robot, parameters, self._move)
        self.subscribe("plan_executor/state", self._on_robot)
        self.every(TICK_PERIOD, self._tick)
        self.subscribe("joy", self._on_joy)
        self.subscribe("operator_input/device_pose", self._on_device_pose)
        self.subscribe("path_plan_queue/state", self._on_queue)
        self.serve_deferred("operator_input/replay", self._on_replay)
        self.serve("operator_input/stop_replay", self._stop_replay)
        self.serve("operator_input/mode", self._on_mode)
        self.serve("operator_input/direct", self._set_direct)
        self.every(STATE_PERIOD, self._publish_state)

    def stop(self) -> None:
        """End a replay, and let go of the hand."""
        self._end_waiting("this node was stopped")
        self._replay.stop()
        self._reflected.stop()

    def _on_robot(self, message: Any) -> None:
        self._client.receive_robot(robot_from_message(message), self.now())
        self._reflected.on_robot(message)

    def _on_queue(self, message: Any) -> None:
        self._client.receive_queue(status_from_message(QueueStatus, message), self.now())
        self._wishes.see(self._client.queue.has_authority)
        if len(message.target_pose) == 7:
            self._target = np.array(message.target_pose[:3])
        self._turn_to(self._mode)  # the plan may have come or gone

    def _on_joy(self, message: Any) -> None:
        self._reflected.on_joy()
        joystick = self._joy.receive(message.header.frame_id, self.now())
        for name in joystick.presses(message.buttons):
            self._client.ask(BUTTONS[name](), self.now(), partial(self._tell, name))
        velocity = joystick.twist(message.axes, message.buttons)
        if velocity is not None:
            self._move(velocity, self._joy.frame)

    def _on_device_pose(self, message: Any) -> None:
        """A tracked device is held: its pose is the hand's, or its velocity moves the running primitive."""
        self._reflected.on_joy()
        taken = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        pose = poses(convert.pose_to_array(message.pose), "pose")[0]
        velocity = self._held.receive(self.now(), taken, pose)
        if velocity is None or self._busy:
            return
        if self._moves is Moves.PLAN:
            message.header.frame_id = "device"
            self._pose.publish(message)
        elif self._moves is Moves.PRIMITIVE:
            self._move(velocity, "world")

    def _move(self, velocity: FloatArray, frame: str) -> None:
        """Move the plan, the running primitive, or nothing, with `velocity` (6,) [m/s], [rad/s]."""
        topic = {Moves.PLAN: self._twist, Moves.PRIMITIVE: self._teleop}.get(self._moves)
        if topic is not None:
            topic.publish(twist_stamped(velocity, frame, self.stamp()))

    def _tell(self, name: str, outcome: Outcome) -> None:
        self.get_logger().info(f"button {name}: {outcome.text or ('done' if outcome.done else 'not done')}")

    def _set_direct(self, request: Any, response: Any) -> None:
        self._select(ControlMode.SHARED if request.data else ControlMode.TELEOPERATION)
        response.success, response.message = True, self._moves.value

    def _on_mode(self, request: Any, response: Any) -> None:
        self._select(ControlMode.named(request.mode))
        response.success, response.message = True, f"{self._mode.word}: {self._moves.value}"

    def _select(self, mode: ControlMode) -> None:
        """Change the mode; what the device moved until now comes to rest. Raises InvalidValueError."""
        if self._busy and moves(mode, True) is not Moves.PLAN:
            raise InvalidValueError("replay", "running", f"allowed in mode {mode.word}: none; call stop_replay first")
        if mode is not self._mode and self._client.received.queue is not None:
            asked = WISHES.get(self._wishes.wish(mode, self._client.queue.has_authority))
            if asked is not None:
                self._client.ask(asked, self.now(), partial(self._tell, asked.value))
        self._turn_to(mode)
        self._publish_state()

    def _turn_to(self, mode: ControlMode) -> None:
        """Let the device move what it shall in this mode."""
        target = moves(mode, self._client.queue.has_authority)
        changed = target is not self._moves
        if changed and target is not Moves.PLAN and (self._end_waiting(target.value) or self._replay.stop()):
            self.get_logger().info(f"the replay is stopped: in mode {mode.word} now {target.value}")
        if changed:
            self._held.let_go()  # what is held moves nothing else at once
        if changed and self._joy.let_go():
            self._move(np.zeros(6), self._joy.frame)
        self._mode, self._moves = mode, target
        if changed:
            self._publish_state()

    def _publish_state(self) -> None:
        self._state.publish(
            InputState(
                stamp=self.stamp(),
                mode=int(self._mode),
                plan=self._moves is Moves.PLAN,
                primitive=self._moves is Moves.PRIMITIVE,
                replay=self._replay.playing,
            )
        )

    def _tick(self) -> None:
        self._client.tick(self.now())
        if self._joy.fall_silent(self.now()):
            self.get_logger().warning("the device fell silent while it moved; it moves again once it was let go")
            self._move(np.zeros(6), self._joy.frame)
        if self._held.fell_silent(self.now()) and self._moves is Moves.PRIMITIVE:
            self._move(np.zeros(6), "world")
        self._play_waiting()

    def _on_replay(self, request: Any, response: Any, send: Send) -> None:
        if self._busy:
            raise InvalidValueError("replay", "running", "allowed: one at a time; call stop_replay first")
        if self._moves is not Moves.PLAN:
            raise InvalidValueError("replay", f"in mode {self._mode.word}", "allowed: where the device lays the plan")
        path = Path(request.file) if request.file else share_path(DEMO_HAND)
        hand = load_hand(path)
        chosen = fit(hand, self._reach(), request.scale)
        motion = device_motion(hand, chosen.scale, request.speed)
        self._hand, self._fit = hand, chosen
        response.message = _describe(hand, chosen)
        response.scale, response.duration = chosen.scale, motion.duration
        self._waiting = WaitingReplay(motion, response, send, self.now() + RECEIVER_LIMIT)
        self._play_waiting()

    def _play_waiting(self) -> None:
        """Start the replay that waits once its poses are received: what is published earlier is lost."""
        waiting = self._waiting
        if waiting is None:
            return
        if self._received():
            self._waiting = None
            self._replay.start(waiting.motion)
            waiting.answer(True, waiting.response.message)
            self.get_logger().info(f"replay: {waiting.response.message}")
        elif self.now() > waiting.limit:
            self._end_waiting(f"{RECEIVER} does not receive the poses, for {RECEIVER_LIMIT:g} s; is it running?")

    @property
    def _busy(self) -> bool:
        return self._replay.playing or self._waiting is not None

    def _received(self) -> bool:
        """True when the queue subscribes to the poses, and every subscription known is connected."""
        known = self.get_subscriptions_info_by_topic(self._pose.topic_name)
        names = {endpoint.node_name for endpoint in known}
        return RECEIVER in names and self._pose.get_subscription_count() >= len(known)

    def _end_waiting(self, reason: str) -> bool:
        """Refuse the replay that waits; False if none did."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.answer(False, reason)
        return waiting is not None

    def _stop_replay(self, _request: Any, response: Any) -> None:
        response.success = True
        stopped = self._end_waiting("stopped before it began") or self._replay.stop()
        response.message = "stopped" if stopped else "no replay was running"

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
            "joystick": "moving" if self._joy.active else "at rest",
            "joystick_gone": self._joy.gone,
            "mode": self._mode.word,
            "moves": self._moves.value,
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
