"""A person before the task board who also sees the physics, for the bench of skills: commands, hand, and the truth."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.nodes.clients import CommandClient
from telerobot_nodes.nodes.messages import convert

HAND_PERIOD = 0.02  # [s]
LOOK_LIMIT = 20.0  # [s]


def _bodies(message: Any) -> dict[str, tuple[float, float]]:
    return dict(zip(message.name, zip(message.position, message.effort, strict=True), strict=True))


# Topic: the attribute that keeps it, and how it is read.
_SHOWN: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "joint_states": ("joints", lambda message: np.array(message.position)),
    "hardware_interface/objects": (
        "loose",
        lambda message: {o.name: np.array(o.pose) for o in message.obstacles},
    ),
    "hardware_interface/scene": ("bodies", _bodies),
    "hardware_interface/state": ("opening", lambda message: float(message.gripper)),
    "hardware_interface/wrench": ("wrench", lambda message: convert.wrench_to_array(message.wrench)),
}


class SkillProbe(CommandClient):
    """Says texts, does the operator's tasks, moves the hand, and keeps what the simulated hardware shows."""

    def __init__(self, namespace: str = "") -> None:
        super().__init__(namespace, name="bench")
        self.joints: FloatArray = np.empty(0)  # (dof,) [rad]
        self.loose: dict[str, FloatArray] = {}  # poses (7,) in WORLD
        self.bodies: dict[str, tuple[float, float]] = {}  # hinge or slide [rad], [m]; force of the arm on it [N]
        self.opening = math.nan  # [m] of the fingers
        self.wrench: FloatArray = np.empty(0)  # (6,) [N], [N m]
        self.hand: FloatArray | None = None  # (6,) [m/s], [rad/s] in the tool frame; None: nobody moves it
        self.on_joints: Callable[[], None] = lambda: None
        self._seen: Counter[str] = Counter()
        self._teleop = self.publisher("gcmsf_control/teleop_cmds")
        for topic in _SHOWN:
            self.subscribe(topic, partial(self._take, topic))
        self.node.create_timer(HAND_PERIOD, self._move_hand)

    def command(self, text: str, limit: float) -> Any:
        """The last report of a text; raises TelerobotError with the reply when it begins no command."""
        ended = self.run(text, limit=limit)
        if not ended.command:
            raise TelerobotError(str(ended.text))
        return ended

    def look(self) -> None:
        """Wait until all that is kept was made after this call. Raises TelerobotError."""
        self._seen.clear()
        if not self.wait_until(lambda: all(self._seen[topic] > 1 for topic in _SHOWN), LOOK_LIMIT):
            silent = [topic for topic in _SHOWN if self._seen[topic] < 2]
            raise TelerobotError(f"silent for {LOOK_LIMIT:g} s: {', '.join(silent)}")

    def _take(self, topic: str, message: Any) -> None:
        self._seen[topic] += 1
        attribute, read = _SHOWN[topic]
        setattr(self, attribute, read(message))
        if topic == "joint_states":
            self.on_joints()

    def _move_hand(self) -> None:
        if self.hand is not None:
            self._teleop.publish(convert.twist_stamped(self.hand, "tool", self.stamp()))

    def _on_task(self, message: Any) -> None:
        super()._on_task(message)
        if message.shown:
            self.say(f"done task {message.task}")
