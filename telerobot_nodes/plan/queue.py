"""The path-plan queue: the operator's side of the plan, one object without clocks or ROS [US5046022].

What belongs here: the operator's controls, and how laying, store, log and displays work together. What must never
enter: the device and plan time (`hand.py`), the log (`uplink.py`).

Use: give it commands and reports as they come, each with `now`; call `poll(now)` every 10 to 40 ms and send what it
returns; publish `state(now)` and `drain()`. Nothing is planned before the robot said where it is and that this
agent holds authority.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from telerobot_nodes.core.validation import FloatArray, in_range, poses
from telerobot_nodes.core.window import GRIPPER_RANGE
from telerobot_nodes.errors import InvalidValueError, TelerobotError, TransitionError
from telerobot_nodes.plan.authority import AuthorityKind, AuthorityMessage
from telerobot_nodes.plan.brake import TimeBrake, committed_on_arrival
from telerobot_nodes.plan.feed import PlanUpdate
from telerobot_nodes.plan.hand import Hand
from telerobot_nodes.plan.joins import JoinOutcome, join
from telerobot_nodes.plan.laying import Reach
from telerobot_nodes.plan.links import Blocked, Linker, LinkPlanner, no_obstacles
from telerobot_nodes.plan.operations import ExecutorReport, Operation, OperationKind
from telerobot_nodes.plan.queue_values import JOINED, DeviceState, Join, PlanQueueState, QueueConfig
from telerobot_nodes.plan.rest_watch import RestWatch
from telerobot_nodes.plan.standby import FORCED, StandBy
from telerobot_nodes.plan.time_base import SegmentTime
from telerobot_nodes.plan.track import Track
from telerobot_nodes.plan.uplink import Event, Phase, Uplink

__all__ = ["DeviceState", "Join", "PathPlanQueue", "PlanQueueState", "QueueConfig"]

JOIN_TIME = 0.5  # [s] plan time from an earlier plan's end to the first point of a new one


class PathPlanQueue:
    """First-in first-out queue of plan points with the operator's controls on it."""

    def __init__(
        self,
        config: QueueConfig,
        reach: Reach,
        start_pose: FloatArray | None = None,
        segment_time: SegmentTime | None = None,
        blocked: Blocked = no_obstacles,
        planner: LinkPlanner | None = None,
    ) -> None:
        self.config = config
        self._linker = Linker(config.time_base, config.sample_period, reach, blocked, planner, segment_time)
        self._plan = Track(config.capacity + config.reserve, config.agent)
        self._trial = Track(config.capacity + config.reserve, config.agent, trial=True)
        self._uplink = Uplink(config.agent, self._plan.store, config.sender, config.execution_window)
        self._brake = TimeBrake(config.brake_low, config.brake_high)
        self._position_clutch = True
        self._standby = StandBy(config.agent, config.capacity, config.meeting_distance, config.meeting_angle)
        self._join_when_ready = False
        self._hand = Hand(config, reach, segment_time)
        self._pose = None if start_pose is None else poses(start_pose, "start_pose")[0]
        self._rest_watch = RestWatch()
        self._now = 0.0  # [s] latest time given
        self._next_cut = 0.0
        self._full = False
        self._refused = 0
        self._jumps = 0
        self._notice = ""

    # --- the operator's commands; a refused command raises and changes nothing but `refused` and `notice` ---

    def command_pose(self, now: float, pose: object, frame: str) -> None:
        """Tool pose asked for: absolute (`world`) or a device whose motion counts (`device`).

        Before the plan has a start the command has no effect (device: held). Raises InvalidValueError naming the field.
        """
        self._advance(now)
        with self._noting_refusals():
            jump = self._hand.command_pose(now, pose, frame)
        if jump is not None:
            self._jumps += 1
            self._notice = f"device jumped {jump}: absorbed"

    def command_twist(self, now: float, twist: object, frame: str) -> None:
        """Tool velocity asked for [m/s, rad/s], in `world` or `tool` axes; raises like `command_pose`."""
        self._advance(now)
        with self._noting_refusals():
            self._hand.command_twist(now, twist, frame)

    def set_gripper(self, now: float, opening: float) -> float:
        """Opening of the gripper [m] from the head of the path on, also while the hand rests; returns it.

        It is part of the points: brake, delete-all and a discarded trial take it back. While the hand is held it
        waits for the next point. Raises InvalidValueError, TransitionError before the path has a start.
        """
        asked = in_range(opening, "gripper", *GRIPPER_RANGE, "m")
        self._advance(now)
        if not len(self._track) or (self._position_clutch and not self._uplink.open):
            raise TransitionError("gripper", self._uplink.phase.value, "opening")
        self._track.lay(self._hand.flush())  # what was drawn before keeps the opening it was drawn with
        self._track.ask_gripper(asked)
        self._lay_gripper()
        return asked

    def _lay_gripper(self) -> None:
        if self._track.asks_gripper and not self._held():
            self._track.lay(self._hand.dwell())

    def set_time_clutch(self, now: float, engaged: bool) -> None:
        """Engage or disengage time synchrony; the lead gained is kept [US5046022 claims 1, 4]."""
        self._advance(now)
        self._track.lay(self._hand.set_time_clutch(engaged))

    def set_time_ratio(self, now: float, ratio: float) -> float:
        """Plan time per acquisition time from now on [-]; returns it. Raises InvalidValueError [claims 21, 23]."""
        with self._noting_refusals():
            in_range(ratio, "time_ratio", self.config.ratio_low, self.config.ratio_high)
        self._advance(now)
        self._hand.ratio = float(ratio)
        return self._hand.ratio

    def set_position_clutch(self, now: float, engaged: bool, kind: Join = Join.LINK) -> JoinOutcome:
        """Engage or disengage position synchrony [claims 8, 11].

        Disengaged, points go to the trial path, which begins at the plan's head; the plan receives nothing. Engaging
        joins the two as `kind` says; a join that is refused leaves the clutch disengaged and loses nothing.
        Raises TransitionError before the plan has a start.
        """
        self._advance(now)
        if not self._hand.placed:
            raise self._refuse(TransitionError("queue", self._uplink.phase.value, "position clutch"))
        if engaged == self._position_clutch:
            return JoinOutcome(engaged, 0, "as it was")
        return self._engage(kind) if engaged else self._disengage()

    def set_brake(self, now: float, rate: float) -> float:
        """Delete from the tail at `rate` [plan s/s], last in first out; 0 releases [claims 14, 15]; returns it.

        Acts on the path being laid: the plan, or the trial path while the position clutch is disengaged. Raises
        InvalidValueError, or TransitionError without authority over the plan.
        """
        self._advance(now)
        if self._position_clutch and rate != 0.0 and not self._uplink.open:
            raise self._refuse(TransitionError("queue", self._uplink.phase.value, "brake"))
        with self._noting_refusals():
            self._brake.set(now, rate, self._track.store.last_time)
        self._restart_hand()
        return self._brake.rate

    def clear(self, now: float) -> int:
        """Delete every point not executed, at once [claim 16]; returns how many were deleted here.

        The hand is held until the robot has confirmed what it was committed to; then the plan goes on from there.
        Raises TransitionError without authority.
        """
        self._advance(now)
        deleted = self._uplink.clear()
        self._plan.feed.truncate(self._plan.store.last_seq)
        if self._position_clutch:
            self._restart_hand()
        self._notice = f"{deleted} points deleted; waiting for the robot's confirmation"
        return deleted

    def pause(self, now: float) -> None:
        """Let the arm come to rest on its path; the plan is kept. Raises TransitionError without authority."""
        self._advance(now)
        self._uplink.sender.submit(OperationKind.PAUSE, urgent=True)

    def resume(self, now: float) -> None:
        """Go on after a pause or a halt. Raises TransitionError without authority."""
        self._advance(now)
        self._uplink.sender.submit(OperationKind.RESUME, window=self.config.execution_window, urgent=True)

    def set_rate(self, now: float, rate: float) -> None:
        """Execute at `rate` times plan time. Raises InvalidValueError, TransitionError without authority."""
        self._advance(now)
        self._uplink.sender.submit(OperationKind.RATE, rate=rate, urgent=True)

    # --- authority ---

    def say(self, kind: AuthorityKind, peer: str = "") -> AuthorityMessage:
        """The message about authority to send: ask, consent, refuse, take, release, heartbeat [claim 28]."""
        if kind in (AuthorityKind.REQUEST, AuthorityKind.RELEASE):
            self._uplink.wanted = kind is AuthorityKind.REQUEST
        if kind is AuthorityKind.REQUEST:
            self._standby.asked(self._now)
        return self._standby.handoff.say(kind, peer, self._uplink.report.epoch if self._uplink.report else 0)

    def on_authority(self, message: AuthorityMessage) -> None:
        """Take what another agent, or the robot's desk, says about authority."""
        self._notice = self._standby.handoff.hear(message) or self._notice
        if self._standby.asks_nothing:
            self._uplink.give_up()

    def watch(self, update: PlanUpdate) -> None:
        """Take one update of the plan of the agent in control, to meet it as a stand-by."""
        if not self._uplink.open:
            self._standby.active.follow(update)

    # --- time and the link ---

    def poll(self, now: float) -> list[Operation]:
        """Lay what is due; returns operations to send in one message (empty: send nothing)."""
        self._advance(now)
        plan = self._plan
        plan.store.forget(min(self._uplink.executed_seq, plan.store.last_seq, plan.feed.shown_seq))
        if now >= self._next_cut:
            self._next_cut = now + self.config.send_period
            self._delete_by_brake(now)
            self._take_over(now)
            self._uplink.hand_over()
        return self._uplink.sender.poll(now) if self._uplink.phase not in (Phase.WAITING, Phase.OBSERVING) else []

    def on_report(self, now: float, report: ExecutorReport, tool_pose: FloatArray | None = None) -> None:
        """Take what the robot says of itself; `tool_pose` is the measured tool in WORLD (7,)."""
        tool_pose = poses(tool_pose, "tool_pose")[0] if tool_pose is not None and len(tool_pose) else None
        self._uplink.on_report(now, report)
        self._standby.on_report(now, report)
        if self._uplink.event is Event.AT_REST:
            self._start(now, tool_pose)
        elif self._uplink.event is Event.AGREED:
            self._rejoin()
        elif len(self._plan) and self._is_void():
            self._abandon()
        if self._uplink.phase is Phase.OBSERVING and tool_pose is not None:
            self._stand_by(now, tool_pose)
        rests = bool(len(self._plan)) and self._uplink.rests
        if self._rest_watch.elsewhere(self._plan.head_pose if rests else None, tool_pose):
            self._uplink.fire(Event.MOVED)  # a primitive moved it: the plan goes on from there
        if self._uplink.notices:
            self._notice = "; ".join(self._uplink.notices)
            self._uplink.notices.clear()

    @property
    def has_authority(self) -> bool:
        """True when this agent may plan."""
        return self._uplink.open

    def drain(self) -> list[PlanUpdate]:
        """Changes of the plan since the call before, for displays and simulators."""
        return self._plan.drain() + self._trial.drain()

    def retell(self) -> None:
        """Tell the whole plan again at the next drain: a display or simulator has come late."""
        self._plan.feed.retell()
        self._trial.feed.retell()

    def remaining(self, most: int) -> FloatArray:
        """Poses (n, 7) of the points not executed, evenly thinned to `most` or fewer, the last one kept."""
        return self._plan.thinned(self._uplink.executed_seq, most)

    def state(self, now: float) -> PlanQueueState:
        """What the operator must be shown."""
        uplink, store, report = self._uplink, self._plan.store, self._uplink.report
        age = now - uplink.report_time if report else -1.0
        fresh = self._hand.fresh(now)
        held = bool(self._held() or self._hand.blocked)
        device = DeviceState.IDLE if not fresh else DeviceState.HELD if held else DeviceState.TRACKING
        return PlanQueueState(
            time_clutch=self._hand.time_clutch,
            position_clutch=self._position_clutch,
            time_ratio=self._hand.ratio,
            brake_rate=self._brake.rate,
            device=device,
            notice=self._notice_now(),
            jumps=self._jumps,
            refused=self._refused,
            head_seq=store.last_seq,
            head_time=store.last_time,
            length=self._length(),
            capacity=self._capacity(),
            trial_length=max(len(self._trial) - 1, 0),
            lead=max(store.last_time - report.plan_time, 0.0) if report and len(store) else 0.0,
            unacknowledged=uplink.unacknowledged,
            epoch=report.epoch if report else 0,
            agent=self.config.agent,
            has_authority=uplink.open,
            data_age=age,
            round_trip=uplink.round_trip,
            stale=report is None or age > self.config.stale_after,
            execution_window=self.config.execution_window,
            gripper=self._track.gripper,
            target_pose=self._hand.target,
        )

    # --- inside ---

    @contextmanager
    def _noting_refusals(self) -> Iterator[None]:
        try:
            yield
        except TelerobotError as error:
            raise self._refuse(error) from None

    def _refuse(self, error: TelerobotError) -> TelerobotError:
        self._refused += 1
        self._notice = str(error)
        return error

    def _advance(self, now: float) -> None:
        self._now = now
        if not self._hand.placed:
            return
        stalls = self._hand.stalls
        self._track.lay(self._hand.advance(now, bool(self._held()), self._hurry()))
        if self._hand.stalls > stalls:
            self._notice = "this side stood still for a while: the hand re-indexes"

    @property
    def _track(self) -> Track:
        """The path being laid."""
        return self._plan if self._position_clutch else self._trial

    def _held(self) -> str:
        """Why the hand must wait; empty: it need not."""
        if self._brake.engaged:
            return "time brake"
        if self._position_clutch and self._uplink.phase is not Phase.READY:
            return str(self._uplink.phase.value)
        held, most = (
            (self._length(), self._capacity()) if self._position_clutch else (len(self._trial), self.config.capacity)
        )
        reserve = self.config.reserve
        self._full = most - held < reserve or (self._full and most - held < 2 * reserve)
        name = "plan" if self._position_clutch else "trial path"
        return f"{name} is full: {held} of {most} points" if self._full else ""

    def _hurry(self) -> bool:
        """True when the robot would run out of plan before later geometry came."""
        report = self._uplink.report
        if report is None:
            return False
        left = self._plan.store.last_time - report.plan_time
        return left < self.config.hurry_lead + max(self._uplink.round_trip, 0.0)

    def _length(self) -> int:
        return self._plan.store.count_after(self._uplink.executed_seq)

    def _capacity(self) -> int:
        report = self._uplink.report
        return min(self.config.capacity, report.capacity) if report and report.capacity else self.config.capacity

    def _notice_now(self) -> str:
        return "; ".join(filter(None, (self._held(), self._hand.blocked, self._notice)))

    def _start(self, now: float, tool_pose: FloatArray | None) -> None:
        """The plan begins where the arm is at rest: one point there, then the hand."""
        report = self._uplink.report
        pose = self._pose if tool_pose is None else tool_pose
        if report is None or pose is None:
            raise InvalidValueError("tool_pose", tool_pose, "allowed: the measured tool pose, 7 values")
        self._pose = pose
        self._plan.skip_numbers(report.tail_seq)
        self._plan.begin(report.tail_time + JOIN_TIME if report.tail_seq else 0.0, pose)
        self._uplink.start(report.tail_seq)
        if len(self._trial) < 2:  # a stand-by's simulated path is kept, to be joined or discarded
            self._trial.clear()
            self._position_clutch = True
            self._hand.place(now, pose)
        self._notice = "ready"

    def _rejoin(self) -> None:
        """Both tails are the same point again: displays and hand go on from it."""
        self._plan.feed.truncate(self._uplink.cut_seq)
        if self._uplink.lost is not None:
            self._plan.lay_again(self._uplink.lost)
        if self._position_clutch:
            self._restart_hand()
        self._notice = "robot has confirmed; the plan goes on from its head"
        if self._join_when_ready:
            self._join_when_ready = False
            self._engage(Join.LINK)

    def _stand_by(self, now: float, tool_pose: FloatArray) -> None:
        """Another agent is in control: the hand moves a simulated tool, from where the arm or the hand is."""
        if not self._hand.placed:
            self._hand.place(now, tool_pose)
        if self._position_clutch:
            self._position_clutch = False
            self._trial.begin(0.0, self._hand.pose)

    def _take_over(self, now: float) -> None:
        """Claim authority that was consented to: at the meeting of tool and plan, or at once when forced."""
        if self._uplink.phase is not Phase.OBSERVING or not len(self._trial):
            return
        meeting = self._standby.meeting(self._trial.head_pose, self._committed(now))
        if meeting == FORCED:
            self._uplink.insist()
        elif meeting:
            self._plan.clear()
            self._plan.store.extend(self._standby.active.store.after(0))
            self._plan.skip_numbers(self._plan.store.last_seq)
            self._uplink.take_over(meeting)
            self._join_when_ready = True

    def _is_void(self) -> bool:
        """True when the points here are not the robot's plan any more (a plan taken over is, once granted)."""
        if self._uplink.phase is Phase.CLAIMING:
            return not self._join_when_ready
        return self._uplink.phase in (Phase.OBSERVING, Phase.SETTLING)

    def _abandon(self) -> None:
        self._join_when_ready = False
        self._notice = f"{self._length()} points dropped"
        self._plan.clear()

    def _engage(self, kind: Join) -> JoinOutcome:
        if kind is not Join.DISCARD and self._uplink.phase is not Phase.READY:
            return JoinOutcome(False, 0, self._uplink.phase.value)
        empty = len(self._trial) < 2
        try:
            appended = join(self._plan, self._trial, kind, self._linker)
        except TelerobotError as error:
            self._refuse(error)
            return JoinOutcome(False, 0, str(error))
        self._trial.clear()
        self._position_clutch = True
        self._brake.set(0.0, 0.0, 0.0)
        self._restart_hand()
        self._lay_gripper()
        self._notice = (
            "trial path was empty: nothing joined" if empty else f"trial path {JOINED[kind]}: {appended} points"
        )
        return JoinOutcome(True, appended, self._notice)

    def _disengage(self) -> JoinOutcome:
        self._plan.lay(self._hand.flush())
        self._trial.begin(self._plan.store.last_time, self._hand.pose, self._plan.gripper)
        self._position_clutch = False
        self._brake.set(0.0, 0.0, 0.0)
        self._restart_hand()
        self._notice = "position clutch disengaged: trial path"
        return JoinOutcome(False, 0, self._notice)

    def _restart_hand(self) -> None:
        if len(self._track):
            self._hand.restart(self._track.head_pose)

    def _delete_by_brake(self, now: float) -> None:
        if not self._brake.engaged or (self._position_clutch and self._uplink.phase is not Phase.READY):
            return
        track, cutoff = self._track, self._brake.cutoff(now)
        floor = self._committed(now) if self._position_clutch else track.store.first_time
        seq = max(track.store.before_time(max(cutoff, floor)), track.store.first_seq)
        if seq < track.store.last_seq:
            if self._position_clutch:
                self._uplink.truncate(seq)
            else:
                track.store.truncate(seq)
            track.feed.truncate(seq)
            self._restart_hand()
        if cutoff <= floor:
            self._notice = "at committed stretch" if self._position_clutch else "at the trial path's start"

    def _committed(self, now: float) -> float:
        """Plan time [s] the brake cannot go below."""
        report = self._uplink.report
        if report is None:
            return 0.0
        age = now - self._uplink.report_time
        round_trip = self._uplink.round_trip if self._uplink.round_trip >= 0.0 else self._standby.round_trip
        return committed_on_arrival(report, age, round_trip, self.config.brake_margin)
