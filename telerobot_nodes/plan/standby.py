"""A stand-by agent: it sees the active plan, and finds where its own simulated tool meets it [US5046022 claim 28].

What belongs here: a copy of the active plan from its updates, and the meeting. What must never enter: who may have
authority (`authority.py`), the stand-by's own path (`queue.py`).
"""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.core.window import GRIPPER_UNCHANGED
from telerobot_nodes.plan.feed import PlanUpdate, UpdateKind
from telerobot_nodes.plan.handoff import Handoff, Wish
from telerobot_nodes.plan.operations import ExecutorReport
from telerobot_nodes.plan.store import PlanStore, Stretch

FORCED = -1  # no meeting is needed: a supervisor decided
UNMEASURED = 2.0  # [s] round trip assumed where none was measured: rather too far ahead than behind the arm


class ActivePlan:
    """The plan of the agent in control, as its updates tell; bounded by forgetting what was executed."""

    def __init__(self, capacity: int) -> None:
        self.store = PlanStore(capacity)

    def follow(self, update: PlanUpdate) -> None:
        """Take one update of the active agent; its trial path is its own business."""
        if update.trial:
            return
        if update.kind is UpdateKind.RESET:
            self.store.clear()
        elif update.kind is UpdateKind.TRUNCATE:
            self.store.truncate(update.after_seq)
        points = update.points
        if points is not None:
            seq = np.arange(points.first_seq, points.last_seq + 1)
            gripper = points.gripper if points.gripper.size else np.full(len(points), GRIPPER_UNCHANGED)
            self.store.extend(Stretch(seq, points.time, points.pose, points.timing, gripper))

    def meeting(self, pose: FloatArray, distance: float, angle: float, after_time: float) -> int:
        """Number of the point nearest to `pose` (7,) within both bounds, after a plan time [s]; 0: none.

        A plan that is run out can still be met where it ends: there the arm rests.
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
    """What an agent without authority knows and waits for."""

    def __init__(self, agent: str, capacity: int, distance: float, angle: float) -> None:
        self.handoff = Handoff(agent)
        self.active = ActivePlan(capacity)
        self._distance = distance
        self._angle = angle
        self._asked = -1.0  # [s] when this agent asked; negative: answered, or not asked
        self._round_trip = -1.0

    @property
    def round_trip(self) -> float:
        """[s] from asking to the report that shows it, or what is assumed. Losses only lengthen it."""
        return self._round_trip if self._round_trip >= 0.0 else UNMEASURED

    def asked(self, now: float) -> None:
        """Note that authority is asked for now."""
        self._asked = now

    def on_report(self, now: float, report: ExecutorReport) -> None:
        """Take a report: the first one with this agent as asker ends a round trip."""
        if self._asked >= 0.0 and report.asker == self.handoff.agent:
            self._round_trip, self._asked = now - self._asked, -1.0

    @property
    def asks_nothing(self) -> bool:
        """True when no claim of this agent should stand."""
        return self.handoff.wish is Wish.NONE and not self.handoff.claimed

    def meeting(self, pose: FloatArray, after_time: float) -> int:
        """Point where control passes now: its number, FORCED, or 0 for not yet. A positive answer is given once."""
        wish = self.handoff.wish
        if wish is Wish.NOTHING:
            self.handoff.settled()
            return FORCED
        if wish is not Wish.MEETING:
            return 0
        seq = self.active.meeting(pose, self._distance, self._angle, after_time)
        if seq:
            self.handoff.settled()
        return seq
