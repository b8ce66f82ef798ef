"""Records the operator's input on the plan, or on the trial path while the position clutch is disengaged [US5046022].

What belongs here: which path is recorded, its gripper, brake and joins. What must never enter: the robot's reports,
the link, authority.
"""

from __future__ import annotations

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.plan.queue.brake import TimeBrake
from telerobot_nodes.plan.queue.joins import JoinOutcome, join
from telerobot_nodes.plan.queue.notices import Notices
from telerobot_nodes.plan.queue.path_connector import PathConnector
from telerobot_nodes.plan.queue.queue_values import JOINED, Join, QueueConfig
from telerobot_nodes.plan.queue.recorded_path import RecordedPath
from telerobot_nodes.plan.shaping import PathLoad, PointSampler, Reach


class Recorder:
    """Plan, trial path, and the sampler that appends to one of them."""

    def __init__(
        self,
        config: QueueConfig,
        reach: Reach,
        path_load: PathLoad | None,
        connector: PathConnector,
        notices: Notices,
    ) -> None:
        self.plan = RecordedPath(config.capacity + config.reserve, config.agent)
        self.trial = RecordedPath(config.capacity + config.reserve, config.agent, trial=True)
        self.sampler = PointSampler(config.shaper, config.time_base, config.sample_period, reach, path_load)
        self.brake = TimeBrake(config.brake_low, config.brake_high)
        self.position_clutch = True
        self._connector = connector
        self._notices = notices
        self._reserve = config.reserve
        self._full = False

    @property
    def path(self) -> RecordedPath:
        """The path being recorded."""
        return self.plan if self.position_clutch else self.trial

    def is_full(self, free: int) -> bool:
        """True when fewer than `reserve` points are free, and then until twice as many are."""
        return free < (2 * self._reserve if self._full else self._reserve)

    def record(self, now: float, free: int, held: bool, underrun_imminent: bool) -> None:
        """Append the points up to `now`; `free`: points that may still be added; `held`: come to rest and wait."""
        if not self.sampler.placed:
            return
        self._full = self.is_full(free)
        stalls = self.sampler.stalls
        self.path.append(self.sampler.advance(now, held or self._full, underrun_imminent))
        if self.sampler.stalls > stalls:
            self._notices.latest = "this side stood still for a while: the device re-indexes"

    def restart_sampler(self) -> None:
        """Continue from the head of the path, at rest."""
        if len(self.path):
            self.sampler.restart(self.path.head_pose)

    def undo(self) -> int:
        """Release the brake and append again what was deleted after the head; returns how many points.

        Raises InvalidValueError when nothing was deleted since the last point.
        """
        restored = self.path.restore()
        if not restored:
            what = "allowed: after the time brake or delete-all, before the next point"
            raise InvalidValueError("undo", "no deleted points", what)
        self.brake.release()
        self.restart_sampler()
        self._notices.latest = f"{restored} points are back"
        return restored

    def set_gripper(self, opening: float) -> None:
        """Set the opening [m] from where the tool is shown on; the points up to there keep theirs."""
        self.path.append(self.sampler.complete())
        self.path.set_gripper(opening)

    def append_gripper(self) -> None:
        """Append a point for an opening that waits for one, if the tool rests."""
        if self.path.gripper_pending:
            self.path.append(self.sampler.dwell())

    def begin_plan(self, now: float, time: float, pose: FloatArray) -> None:
        """Start the plan with one point; a trial path of a stand-by is kept, to be joined or discarded."""
        self.plan.begin(time, pose)
        if len(self.trial) < 2:
            self.trial.clear()
            self.position_clutch = True
            self.sampler.place(now, pose)

    def stand_by(self, now: float, tool_pose: FloatArray) -> None:
        """Move a simulated tool only, from where the arm or the operator's tool is."""
        if not self.sampler.placed:
            self.sampler.place(now, tool_pose)
        if self.position_clutch:
            self.position_clutch = False
            self.trial.begin(0.0, self.sampler.pose)

    def engage(self, kind: Join) -> JoinOutcome:
        """Join the trial path, up to where the tool is shown; when refused, the plan and the clutch stay.

        The gripper may need `append_gripper`.
        """
        if kind is not Join.DISCARD:
            self.trial.append(self.sampler.complete())
        empty = len(self.trial) < 2
        try:
            appended = join(self.plan, self.trial, kind, self._connector)
        except TelerobotError as error:
            return JoinOutcome(False, 0, str(self._notices.refuse(error)))
        count = len(self.trial) - 1 if kind is Join.DISCARD else appended
        self.trial.clear()
        self._turn_clutch(True)
        done = "trial path was empty: nothing joined" if empty else f"trial path {JOINED[kind]}: {count} points"
        self._notices.latest = done
        return JoinOutcome(True, appended, done)

    def disengage(self) -> JoinOutcome:
        """Start a trial path at the plan's head, which is where the tool is shown."""
        self.plan.append(self.sampler.complete())
        self.trial.begin(self.plan.store.last_time, self.sampler.pose, self.plan.gripper)
        self._turn_clutch(False)
        self._notices.latest = "position clutch disengaged: trial path"
        return JoinOutcome(False, 0, self._notices.latest)

    def _turn_clutch(self, engaged: bool) -> None:
        self.position_clutch = engaged
        self.brake.release()
        self.restart_sampler()

    def brake_target(self, now: float, floor: float) -> int | None:
        """Number of the last point that the brake leaves by now, None if it deletes nothing; `floor`: plan time [s]."""
        store, cutoff = self.path.store, self.brake.cutoff(now)
        if cutoff <= floor:
            self._notices.latest = "at committed stretch" if self.position_clutch else "at the trial path's start"
        seq = max(store.before_time(max(cutoff, floor)), store.first_seq)
        return seq if seq < store.last_seq else None
