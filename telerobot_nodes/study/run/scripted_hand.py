"""The scripted operator of the simulated study at the real graph, to try a study through.

He sees what the client has received, moves a device, and presses the buttons of his condition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.client import OperatorClient, commands
from telerobot_nodes.study.design import DIRECT, Act, Goal, ScriptedOperator, Strategy, Trial, View

if TYPE_CHECKING:
    from telerobot_nodes.nodes.clients import Terminal

SHAPED = 0.3  # [s] from moving the hand to seeing the end of its motion without any delay
TARGETS = "path_plan_queue/pose_target_cmds"
FRAME = "device"  # of the hand: only its motions count
BRAKE_RATE = 6.0  # [plan s/s]
ACTS = {Act.BRAKE: commands.Brake(BRAKE_RATE), Act.RELEASE: commands.Brake(0.0)}


class ScriptedHand:
    """The operator of one trial with `goals`; the simulated tool is drawn `error` (3,) [m] beside."""

    def __init__(self, terminal: Terminal, trial: Trial, goals: list[Goal], error: FloatArray) -> None:
        self._terminal, self._trial, self._error = terminal, trial, error
        self._publisher = terminal.publisher(TARGETS)
        self._operator = ScriptedOperator(goals, trial.seed, Strategy(brake=trial.condition == "d"))
        self._goals = goals

    def step(self, now: float, goals: list[Goal]) -> None:
        """Look, move the hand, press; every 20 ms or so. `goals`: where the targets are now."""
        from telerobot_nodes.nodes.messages import pose_stamped

        client = self._terminal.operator
        if goals is not self._goals:
            self._goals = goals
            self._operator.see_moved(goals)
        act = self._operator.step(now, self._view(client))
        if act in ACTS:
            client.ask(ACTS[act], now)
        pose = np.concatenate((self._operator.hand, (0.0, 0.0, 0.0, 1.0)))
        self._publisher.publish(pose_stamped(pose, FRAME, self._terminal.stamp()))

    def _view(self, client: OperatorClient) -> View:
        arm, queue = client.robot.tool_pose[:3], client.queue
        if self._trial.condition == DIRECT:
            late = self._trial.round_trip + SHAPED
            return View(arm, late, arm, late)
        ahead = client.simulation.head_pose
        behind = max(self._trial.round_trip, queue.lead) if queue.time_clutch else np.inf if queue.length else 0.0
        return View((ahead[:3] if ahead.size else arm) + self._error, SHAPED, arm, behind)
