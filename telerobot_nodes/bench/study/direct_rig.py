"""Direct teleoperation over the same link: the arm follows the newest pose of the hand, as fast as its joints can.

What belongs here: the rival of the plan queue, from the best parts: time-optimal motion inside the limits of the joints
(Ruckig), no waiting for anything, what was overtaken on the link is dropped. Servo and dynamics are left out, as in
`delay_rig.py`.
"""

from __future__ import annotations

import numpy as np
import ruckig

from telerobot_nodes.bench.study.delay_rig import REPORT_STEPS, STEP
from telerobot_nodes.core.robot import Kinematics, RobotModel
from telerobot_nodes.core.values import FloatArray, pose_from_se3
from telerobot_nodes.errors import OutOfReachError
from telerobot_nodes.link import DelayLine, LinkSettings


class DirectRig:
    """One operator's hand and one robot, connected by a link."""

    ready = True  # there is no plan to take hold of

    def __init__(self, round_trip: float, seed: int, robot: RobotModel, jitter: float = 0.0, loss: float = 0.0) -> None:
        """As those of `DelayRig`."""
        self.robot = robot
        self.now = 0.0
        self.start = pose_from_se3(robot.forward(robot.home))
        self._kinematics = Kinematics(robot)
        link = LinkSettings(delay=round_trip / 2.0, jitter=jitter * round_trip / 2.0, loss=loss)
        self._up: DelayLine[tuple[float, FloatArray]] = DelayLine(link, True, seed)
        self._down: DelayLine[tuple[float, FloatArray]] = DelayLine(link, False, seed + 1)
        self._seen_arm = self.start
        self._newest_hand = self._newest_arm = 0.0  # [s] when sent
        self._count = 0
        self._servo = ruckig.Ruckig(robot.dof, STEP)
        self._state, self._next = ruckig.InputParameter(robot.dof), ruckig.OutputParameter(robot.dof)
        self._state.current_position = self._state.target_position = robot.home.tolist()
        for name in ("velocity", "acceleration", "jerk"):
            setattr(self._state, f"max_{name}", getattr(robot.limits, name).tolist())

    @property
    def arm(self) -> FloatArray:
        """Pose of the real tool now (7,)."""
        return pose_from_se3(self.robot.forward(np.array(self._state.current_position)))

    @property
    def seen_arm(self) -> FloatArray:
        """Pose of the real tool as last reported over the link (7,)."""
        return self._seen_arm

    def step(self, hand: FloatArray) -> None:
        """Advance by one step with the hand at `hand` (3,) [m] in the device's coordinates."""
        self.now += STEP
        self._count += 1
        self._up.push(self.now, (self.now, np.array(hand)), 100)
        for sent, pose in self._up.due(self.now):
            if sent > self._newest_hand:
                self._newest_hand = sent
                self._aim(pose)
        self._servo.update(self._state, self._next)
        self._next.pass_to_input(self._state)
        if self._count % REPORT_STEPS == 0:
            self._down.push(self.now, (self.now, self.arm), 100)
        for sent, seen in self._down.due(self.now):
            if sent > self._newest_arm:
                self._newest_arm, self._seen_arm = sent, seen

    def _aim(self, hand: FloatArray) -> None:
        """Follow the hand; where it cannot be followed the arm stays at what it could reach."""
        pose = self.start.copy()
        pose[:3] += hand
        try:
            joints = self._kinematics.follow(pose[None], np.array(self._state.target_position))[0]
        except OutOfReachError:
            return
        self._state.target_position = joints.tolist()
