"""A macro in physics, drawn on a running graph: `telerobot macro test NAME --show`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError, TelerobotError

if TYPE_CHECKING:
    from telerobot_nodes.nodes.clients import Robot

PART = 20  # points that are sent together
LIMIT = 10.0  # [s] for the forward simulation to receive all
NAMES_LIMIT = 5.0  # [s] for the names of its joints
JOINTS = "forward_simulator/predicted"


class Drawing:
    """Sends a motion, as it is computed, to the forward simulation of a graph."""

    def __init__(self, robot: Robot, model: RobotModel) -> None:
        """Raises InvalidValueError: the graph's arm is another one."""
        from telerobot_nodes.nodes.menus import Motion, MotionSender

        self.joints: FloatArray = robot.state.joint_position
        if self.joints.size != model.dof:
            allowed = f"allowed: the graph's own, whose arm has {self.joints.size} joints"
            raise InvalidValueError("--robot", f"{model.dof} joints", allowed)
        self._motion, self._sender = Motion(), MotionSender(robot.show_motion, model.joint_names)

    def add(self, now: float, joints: FloatArray) -> None:
        """Joints (dof,) [rad] at `now` [s]."""
        self._motion.add(now, joints)
        if len(self._motion) % PART == 0:
            self._sender.draw(self._motion)

    def finish(self) -> None:
        """Send the rest."""
        self._sender.draw(self._motion)


def require_same_arm(model: RobotModel, namespace: str) -> None:
    """Raise InvalidValueError unless the joints that the forward simulation draws are those of the model."""
    from telerobot_nodes.nodes.framework import Foreground

    received: list[tuple[str, ...]] = []
    with Foreground(f"telerobot_show_{os.getpid()}", namespace) as foreground:
        foreground.subscribe(JOINTS, lambda message: received.append(tuple(message.name)))
        foreground.wait(lambda: bool(received), NAMES_LIMIT)
    if received and received[-1] != model.joint_names:
        allowed = f"allowed: the graph's own, whose joints are {', '.join(received[-1])}"
        raise InvalidValueError("--robot", model.name, allowed)


@contextmanager
def drawing(model: RobotModel, namespace: str) -> Iterator[Drawing]:
    """Draw on the graph of a namespace. Raises NoGraphError, TelerobotError: nothing there draws it."""
    from telerobot_nodes.client import connect

    with connect(namespace, "shell") as robot:
        if not robot.wait_for_display():
            raise TelerobotError(
                "--show: no forward simulation is running; allowed: with a graph of the operator's host"
            )
        require_same_arm(model, namespace)
        drawn = Drawing(robot, model)
        yield drawn
        drawn.finish()
        if not robot.wait_for_display(LIMIT):
            print(f"telerobot: not all of the motion was received within {LIMIT:g} s", file=sys.stderr)
