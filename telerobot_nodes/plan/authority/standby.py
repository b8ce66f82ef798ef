"""A stand-by agent: follows the active plan and finds where its simulated tool meets it [US5046022 claim 28].

What belongs here: a copy of the active plan from its updates, and the meeting. What must never enter: decisions about
authority (`arbiter.py`), the stand-by's own path (`plan.queue`).
"""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.protocol import GRIPPER_UNCHANGED, UpdateKind
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.plan.authority.handoff import ClaimStage, Handoff
from telerobot_nodes.plan.log import MIN_STEP, ExecutorReport, PlanPoints, PlanStore, PlanUpdate, PointBlock

FORCED = -1  # no meeting is needed: a supervisor decided
UNMEASURED = 2.0  # [s] round trip assumed if none is measured: better too far ahead of the arm than behind it


class ActivePlan:
    """Copy of the plan of the agent in control, from its updates."""

    def __init__(self, capacity: int) -> None:
        self.store = PlanStore(capacity)

    def follow(self, update: PlanUpdate) -> None:
        """Take one update of the active agent; its trial path is ignored, and where its tool is ahead of the points.

        Points replace those of the same number or later: of an agent whose points never reached the robot, and which
        was restarted.
        """
        if update.trial:
            return
        if update.kind is UpdateKind.RESET:
            self.store.clear()
        elif update.kind is UpdateKind.TRUNCATE:
            self.store.truncate(update.after_seq)
        points = update.points
        if points is not None:
            self._make_way(points)
            seq = np.arange(points.first_seq, points.last_seq + 1)
            gripper = points.gripper if points.gripper.size else np.full(len(points), GRIPPER_UNCHANGED)
            self.store.extend(PointBlock(seq, points.time, points.pose, points.timing, gripper))

    def forget(self, executed_seq: int) -> None:
        """Drop the points before the one of this number, which the arm has reached; the last one stays."""
        self.store.forget(min(executed_seq, self.store.last_seq))

    def _make_way(self, points: PlanPoints) -> None:
        self.store.truncate(points.first_seq - 1)
        if len(points) and points.time[0] < self.store.last_time + MIN_STEP:
            self.store.clear()  # they were of another plan

    def meeting(self, pose: FloatArray, distance: float, angle: float, after_time: float) -> int:
        """Number of the point nearest to `pose` (7,), within `distance` [m] and `angle` [rad]; 0 if none.

        Only points after plan time `after_time` [s] count, and always the last one: there the arm comes to rest.
        """
        if not len(self.store):
            return 0
        after = min(self.store.before_time(after_time), self.store.previous(self.store.last_seq))
        later = self.store.after(after)
        apart = np.linalg.norm(later.pose[:, :3] - pose[:3], axis=1)
        turned = 2.0 * np.arccos(np.minimum(np.abs(later.pose[:, 3:] @ pose[3:]), 1.0))
        score = np.maximum(apart / distance, turned / angle)
        nearest = int(np.argmin(score))
        return int(later.seq[nearest]) if score[nearest] <= 1.0 else 0


class StandBy:
    """State of an agent without authority."""

    def __init__(self, agent: str, capacity: int, distance: float, angle: float) -> None:
        self.handoff = Handoff(agent)
        self.active = ActivePlan(capacity)
        self._distance = distance
        self._angle = angle
        self._asked = -1.0  # [s] time of an open request; negative if none
        self._round_trip = -1.0

    @property
    def round_trip(self) -> float:
        """Time from a request to the report that shows it [s], UNMEASURED if none. Losses only lengthen it."""
        return self._round_trip if self._round_trip >= 0.0 else UNMEASURED

    def asked(self, now: float) -> None:
        """Note that authority is requested now."""
        self._asked = now

    def on_report(self, now: float, report: ExecutorReport) -> None:
        """Take a report: the first one that shows the request ends the round trip. What was executed is forgotten."""
        self.active.forget(report.executed_seq)
        if self._asked >= 0.0 and self.handoff.agent in report.requests:
            self._round_trip, self._asked = now - self._asked, -1.0

    @property
    def claims_nothing(self) -> bool:
        """True when no claim of this agent should stand."""
        return not self.handoff.claimed

    def meeting(self, pose: FloatArray, after_time: float) -> int:
        """Number of the point where control passes now, FORCED, or 0 for not yet. Returned once if not 0."""
        stage = self.handoff.stage
        if stage is ClaimStage.ALLOWED:
            self.handoff.settled()
            return FORCED
        if stage is not ClaimStage.MEETING:
            return 0
        seq = self.active.meeting(pose, self._distance, self._angle, after_time)
        if seq:
            self.handoff.settled()
        return seq
