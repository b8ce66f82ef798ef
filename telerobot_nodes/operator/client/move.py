"""A motion of the tool along a straight line over the plan: pose targets out, until the arm has executed them.

The targets go where those of a device go: through clutches, shaping, plan and link. With the time clutch disengaged
the plan keeps their order only, and the robot moves at its own free speed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import pinocchio as pin

from telerobot_nodes.core.protocol import DeviceState
from telerobot_nodes.core.values import (
    FloatArray,
    finite_array,
    in_range,
    pose_distance,
    pose_from_se3,
    poses,
    se3_from_pose,
)
from telerobot_nodes.operator.client.client import OperatorClient
from telerobot_nodes.operator.client.commands import PoseTarget
from telerobot_nodes.operator.client.requests import STOPPED

SPEED_RANGE = (0.001, 0.5)  # [m/s]
TURN_SPEED = 0.5  # [rad/s]
FOLLOWED = 1.0  # [s] for which the goal is sent after the line: shaping follows the target late
SETTLED = 0.6  # [s] without a new point after the last target: the plan holds the whole motion
NEAR, NEAR_ANGLE = 0.005, 0.03  # [m], [rad] from the goal to the tool at the end
SILENT = 3.0  # [s] without the state of queue or robot


class MoveEnd(Enum):
    """How a motion ended."""

    SUCCEEDED = "succeeded"  # the measured tool is at the goal
    TRIAL = "laid as a trial path"  # the position clutch is disengaged
    REFUSED = "refused"  # no target was sent
    BLOCKED = "blocked"  # the plan ends before the goal, out of reach for example
    STOPPED = "stopped"  # by a halt, pause, e-stop, fault or loss of authority; the points sent stay in the plan
    LATE = "late"  # not executed within the limit; the points sent stay in the plan
    SILENT = "silent"  # no state of the queue or the robot; what the arm does is not known


@dataclass(frozen=True)
class MoveResult:
    """End of a motion. `tool_pose` (7,) x y z [m], qx qy qz qw in WORLD as last measured; empty: not known."""

    end: MoveEnd
    reason: str = ""
    tool_pose: FloatArray = field(default_factory=lambda: np.empty(0), compare=False)

    @property
    def ok(self) -> bool:
        """True when the arm is where it was sent."""
        return self.end is MoveEnd.SUCCEEDED


@dataclass(frozen=True)
class MoveGoal:
    """Where to: position (3,) [m] and orientation qx qy qz qw in WORLD, None: as it is. Raises InvalidValueError."""

    position: object = None
    orientation: object = None
    speed: float = 0.1  # [m/s] of the tool, in plan time
    limit: float = 120.0  # [s] until the arm must be there

    def __post_init__(self) -> None:
        in_range(self.speed, "speed", *SPEED_RANGE, unit="m/s")
        in_range(self.limit, "limit", 0.0, 86400.0, unit="s")
        if self.position is not None:
            finite_array(self.position, "position", 3)
        if self.orientation is not None:
            poses(np.concatenate((np.zeros(3), finite_array(self.orientation, "orientation", 4))), "orientation")

    def pose_from(self, start: FloatArray) -> FloatArray:
        """The goal as a pose (7,), the rest taken from `start`."""
        position = start[:3] if self.position is None else finite_array(self.position, "position", 3)
        turned = start[3:] if self.orientation is None else finite_array(self.orientation, "orientation", 4)
        return np.concatenate((position, turned / np.linalg.norm(turned)))


class Move:
    """One motion. `step` at 25 Hz; time is an argument [s]. `result` is None until the end."""

    def __init__(self, goal: MoveGoal) -> None:
        self._goal = goal
        self.result: MoveResult | None = None
        self._begun = self._last_grown = 0.0  # [s]
        self._start = self._end = np.empty(0)
        self._duration = 0.0  # [s]
        self._ended = False  # the last target is sent
        self._head = -1  # point at the plan's end

    def begin(self, client: OperatorClient, now: float) -> None:
        """Take the start from the plan's end, or refuse."""
        queue = client.queue
        trouble = self._trouble(client, now)
        if trouble is not None or not queue.target_pose.size:
            self._finish(client, MoveEnd.REFUSED, trouble[1] if trouble else "the plan has no beginning yet")
            return
        self._start, self._end = queue.target_pose, self._goal.pose_from(queue.target_pose)
        far, angle = pose_distance(self._start, self._end)
        self._duration = max(far / self._goal.speed, angle / TURN_SPEED)
        self._begun = self._last_grown = now
        self._head = queue.head_seq

    def step(self, client: OperatorClient, now: float) -> PoseTarget | None:
        """The target to send now; None: none."""
        if self.result is not None:
            return None
        trouble = self._trouble(client, now)
        if trouble is not None:
            self._finish(client, *trouble)
            return None
        if client.queue.head_seq != self._head:
            self._head, self._last_grown = client.queue.head_seq, now
        elapsed = now - self._begun
        if elapsed > self._goal.limit:
            self._finish(client, MoveEnd.LATE, f"not executed in {self._goal.limit:g} s")
        elif elapsed <= self._duration + FOLLOWED:
            return PoseTarget(self._at(elapsed))
        elif not self._ended:
            self._ended = True  # with the time clutch engaged the plan grows as long as targets come
            if client.queue.device is DeviceState.HELD:
                self._finish(client, MoveEnd.BLOCKED, client.queue.notice)
        elif now - max(self._begun + self._duration + FOLLOWED, self._last_grown) > SETTLED:
            self._laid(client)
        return None

    def stop(self, client: OperatorClient) -> None:
        """Send no more targets; the points sent stay in the plan."""
        self._finish(client, MoveEnd.STOPPED, "stopped here")

    def _at(self, elapsed: float) -> FloatArray:
        share = 1.0 if elapsed >= self._duration else elapsed / self._duration
        T_a, T_b = se3_from_pose(self._start), se3_from_pose(self._end)
        turned = T_a.rotation @ pin.exp3(share * pin.log3(T_a.rotation.T @ T_b.rotation))
        return pose_from_se3(pin.SE3(turned, T_a.translation + share * (T_b.translation - T_a.translation)))

    def _laid(self, client: OperatorClient) -> None:
        """The plan holds the motion: wait until the arm has executed it."""
        if not client.queue.position_clutch:
            self._finish(client, MoveEnd.TRIAL, "the position clutch is disengaged")
        elif client.robot.executed_seq >= self._head and not client.robot.moving:
            far, angle = pose_distance(client.robot.tool_pose, self._end)
            there = far <= NEAR and angle <= NEAR_ANGLE
            why = "" if there else f"{1e3 * far:.0f} mm and {angle:.2f} rad from the goal; {client.queue.notice}"
            self._finish(client, MoveEnd.SUCCEEDED if there else MoveEnd.BLOCKED, why.rstrip("; "))

    def _trouble(self, client: OperatorClient, now: float) -> tuple[MoveEnd, str] | None:
        """What keeps the arm from following the plan."""
        robot, queue = client.robot, client.queue
        for name, received in (("plan queue", client.received.queue), ("robot", client.received.robot)):
            if received is None or now - received > SILENT:
                return MoveEnd.SILENT, f"no state of the {name}"
        if robot.estop:
            return MoveEnd.STOPPED, "the e-stop is latched"
        if robot.mode in STOPPED:
            return MoveEnd.STOPPED, f"robot {robot.mode.name.lower()}: {robot.reason}"
        if not queue.has_authority and queue.position_clutch:
            return MoveEnd.STOPPED, f"authority is with {robot.authority or 'nobody'}"
        return None

    def _finish(self, client: OperatorClient, end: MoveEnd, reason: str) -> None:
        if self.result is None:
            self.result = MoveResult(end, reason, client.robot.tool_pose)
