"""An arm as it was last measured: joints, wrench, opening of the gripper; whether it still reports, what slips."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from telerobot_nodes.core.protocol import ControlState
from telerobot_nodes.core.robot import SIGMA_SAFE, RobotModel
from telerobot_nodes.core.values import FloatArray, pose_distance, pose_from_se3
from telerobot_nodes.rtc.decision import Measured
from telerobot_nodes.rtc.skills import Primitive

FRESH = 0.5  # [s] an older state is not used
LOST = 2.0  # [s] without a state of an arm that moves: its link is lost
SLIP = 0.005  # [m] the fingers move although something is held
TRACK_PIECE = (0.005, 0.05)  # [m], [rad] between poses that are kept
NEAR_LIMIT = 0.05  # [rad] from a position limit
MAX_TRACK = 4000  # poses; beyond it every other one is dropped
HALTED_STATES = (ControlState.STOPPING, ControlState.STOPPED)


class ArmState:
    """The last measurements of one arm. Times [s] are arguments. `T_world_base`: base of the arm's graph in WORLD."""

    def __init__(self, robot: RobotModel, T_world_base: Any) -> None:
        self.robot, self._T_world_base = robot, T_world_base
        self.latest = Measured()
        self.wrench: tuple[float, ...] = ()  # (6,) [N], [N m] SENSE
        self.opening = math.inf  # [m] of the gripper
        self.estop = False
        self.primitive: Primitive | None = None  # that runs
        self._wrench_at = -math.inf  # [s]
        self._at = -math.inf  # [s]
        self._last_position: tuple[float, FloatArray] | None = None
        self._track: list[FloatArray] = []

    def update(self, now: float, state: int, joints: FloatArray, estop: bool) -> bool:
        """Take a state of the control loop with measured joints (dof,) [rad]; False when there are none in it."""
        self.estop = estop
        if state == ControlState.FAULT and not joints.any():  # the loop has not received joints yet
            return False
        if len(joints) != self.robot.dof or not np.isfinite(joints).all():
            return False
        self._at = now
        pose = pose_from_se3(self._T_world_base * self.robot.forward(joints))
        speed = None
        if self._last_position is not None and now > self._last_position[0]:
            before, position = self._last_position
            speed = float(np.linalg.norm(pose[:3] - position)) / (now - before)
        self._last_position = (now, pose[:3])
        self._trace(pose)
        width = self.opening if math.isfinite(self.opening) else None
        wrench = self.wrench if now - self._wrench_at <= FRESH else ()  # a sensor that fell silent measures nothing
        latest = Measured(tuple(joints.tolist()), tuple(pose.tolist()), wrench, width=width, speed=speed)
        self.latest = replace(latest, events=self._events(now, joints))
        return True

    def _events(self, now: float, joints: FloatArray) -> dict[str, bool]:
        """Events that are measured now."""
        limits = self.robot.limits
        near = np.minimum(joints - limits.lower, limits.upper - joints).min() < NEAR_LIMIT
        smallest = np.linalg.svd(self.robot.jacobian(joints), compute_uv=False)[-1]
        events = {
            "joint-limit": bool(near),
            "singularity": bool(smallest < SIGMA_SAFE),
            "sensor-loss": now - self._wrench_at > FRESH,
            "link-loss": False,
        }
        if self.primitive is not None:
            events["slip"] = self.slips(self.primitive)
        return events

    def take_wrench(self, now: float, wrench: tuple[float, ...]) -> None:
        """Take a wrench (6,) [N], [N m]."""
        self.wrench, self._wrench_at = wrench, now

    def lost(self) -> Measured:
        """What is known of an arm that does not report."""
        return Measured(events={"link-loss": True})

    def begin_track(self) -> None:
        """Begin to keep the poses that the tool passes, from where it is."""
        self._track = [np.array(self.latest.pose)] if self.latest.pose else []

    @property
    def track(self) -> tuple[tuple[float, ...], ...]:
        """Poses (7,) the tool has passed since `begin_track`, the present one last."""
        return tuple(tuple(pose.tolist()) for pose in (*self._track, np.array(self.latest.pose)) if len(pose))

    def _trace(self, pose: FloatArray) -> None:
        if not self._track or any(np.greater(pose_distance(self._track[-1], pose), TRACK_PIECE)):
            self._track.append(pose)
        if len(self._track) > MAX_TRACK:
            del self._track[1::2]

    def is_fresh(self, now: float) -> bool:
        """Whether the arm has reported a moment ago."""
        return now - self._at < FRESH

    def is_lost(self, now: float) -> bool:
        """Whether the arm has not reported for so long that its link counts as lost."""
        return now - self._at > LOST

    def slips(self, primitive: Primitive) -> bool:
        """Whether the fingers are not where they were around what the arm holds: closer, or open."""
        held = primitive.grip > 0.0 and math.isfinite(self.opening)
        return held and abs(self.opening - primitive.grip) > SLIP
