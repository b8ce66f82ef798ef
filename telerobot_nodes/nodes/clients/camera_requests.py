"""A request to the camera, repeated with each of its states until one shows it in force."""

from __future__ import annotations

from typing import Any

from telerobot.msg import CameraSetting
from telerobot_nodes.core.camera import KEEP, REFUSED
from telerobot_nodes.operator.client import Outcome, Result, commands

MOST_REPEATS = 60  # a state comes every second


class CameraRequests:
    """The latest request of one operator. The camera answers by its state only, over whatever delay there is."""

    def __init__(self, node: Any) -> None:
        self._node = node
        self._publisher = node.publisher("camera/request")
        self._open: commands.SetCamera | None = None
        self._repeats = 0
        self.outcome: Outcome | None = None  # of the latest request; None: not known yet
        node.subscribe("camera/state", self._on_state)

    @property
    def reached(self) -> bool:
        """True when a camera, or a link to one, is there."""
        return bool(self._publisher.get_subscription_count())

    def send(self, command: commands.SetCamera) -> Outcome:
        """Send a request; an older one is given up."""
        if not self.reached:
            return Outcome(Result.NOT_SERVED, "no camera: the robot's side was started without --camera")
        self._open, self._repeats, self.outcome = command, 0, None
        self._publish(command)
        return Outcome(Result.DONE, "sent to the robot's side")

    def _on_state(self, message: Any) -> None:
        command = self._open
        if command is None:
            return
        if _shows(message, command):
            self._end(Outcome(Result.DONE, "in force"))
        elif message.problem.startswith(REFUSED):
            self._end(Outcome(Result.REFUSED, message.problem))
        elif self._repeats == MOST_REPEATS:
            self._end(Outcome(Result.NO_ANSWER, "the camera does not take it"))
        else:
            self._repeats += 1
            self._publish(command)

    def _end(self, outcome: Outcome) -> None:
        self._open, self.outcome = None, outcome

    def _publish(self, command: commands.SetCamera) -> None:
        rate, budget = (KEEP if value is None else float(value) for value in (command.rate, command.budget))
        setting = CameraSetting(stamp=self._node.stamp(), camera=command.camera, rate=rate, budget=budget)
        self._publisher.publish(setting)


def _shows(state: Any, command: commands.SetCamera) -> bool:
    pairs = ((state.camera, command.camera or None), (state.rate, command.rate), (state.budget, command.budget))
    return all(asked is None or asked == shown for shown, asked in pairs)
