"""The path-plan queue: the operator's side of the plan, one object without clocks or ROS [US5046022].

What belongs here: the operator's controls, and how laying, store, log and displays work together. What must never
enter: filters (`shaper.py`), plan time (`laying.py`, `time_base.py`), the log (`uplink.py`).

Use: give it commands and reports as they come, each with `now`; call `poll(now)` every 10 to 40 ms and send what it
returns; publish `state(now)` and `drain()`. Nothing is planned before the robot said where it is and that this
agent holds authority.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from telerobot_nodes.core.validation import FloatArray, in_range, poses
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.plan.feed import PlanFeed, PlanUpdate
from telerobot_nodes.plan.follower import ZERO
from telerobot_nodes.plan.laying import Laid, Layer, Reach
from telerobot_nodes.plan.operations import RATE_RANGE, ExecutorReport, Operation, OperationKind
from telerobot_nodes.plan.points import Timing
from telerobot_nodes.plan.sender import SenderConfig
from telerobot_nodes.plan.shaper import ShapedPose, Shaper, ShaperConfig
from telerobot_nodes.plan.store import NOTHING, PlanStore
from telerobot_nodes.plan.time_base import SegmentTime, TimeBaseConfig
from telerobot_nodes.plan.uplink import Event, Phase, Uplink

GRIPPER_RANGE = (0.0, 0.2)  # [m] opening
JOIN_TIME = 0.5  # [s] plan time from an earlier plan's end to the first point of a new one


class DeviceState(IntEnum):
    """Values equal the constants of `PlanQueueState.msg`."""

    IDLE = 0
    TRACKING = 1
    HELD = 2


@dataclass(frozen=True)
class QueueConfig:
    """Everything that may be set; validated when made."""

    agent: str = "operator"
    sample_period: float = 0.02  # [s]
    send_period: float = 0.04  # [s] least time between operations that append
    capacity: int = 100_000  # points
    reserve: int = 256  # points kept free so that the hand comes to rest inside the capacity
    stale_after: float = 0.5  # [s] without a report
    hurry_lead: float = 1.0  # [s] of plan left at the robot, on top of the round trip, below which nothing waits
    ratio_low: float = 0.1  # [-] least time ratio
    ratio_high: float = 10.0  # [-] greatest time ratio
    shaper: ShaperConfig = field(default_factory=ShaperConfig)
    time_base: TimeBaseConfig = field(default_factory=TimeBaseConfig)
    sender: SenderConfig = field(default_factory=SenderConfig)

    def __post_init__(self) -> None:
        if not self.agent:
            raise InvalidValueError("queue.agent", self.agent, "allowed: a name")
        in_range(self.sample_period, "queue.sample_period", 0.004, 0.2, "s")
        in_range(self.send_period, "queue.send_period", 0.0, 1.0, "s")
        in_range(self.reserve, "queue.reserve", 16, 100_000, "points")
        in_range(self.capacity, "queue.capacity", 2 * self.reserve, 10_000_000, "points")
        in_range(self.stale_after, "queue.stale_after", 0.05, 60.0, "s")
        in_range(self.hurry_lead, "queue.hurry_lead", 0.0, 60.0, "s")
        in_range(self.ratio_low, "queue.ratio_low", RATE_RANGE[0], 1.0)
        in_range(self.ratio_high, "queue.ratio_high", 1.0, RATE_RANGE[1])


@dataclass(frozen=True)
class PlanQueueState:
    """What the operator must be shown (`PlanQueueState.msg`)."""

    time_clutch: bool
    position_clutch: bool
    time_ratio: float  # [-]
    brake_rate: float  # [plan s/s]
    device: DeviceState
    notice: str
    jumps: int
    refused: int
    head_seq: int
    head_time: float  # [s]
    length: int
    capacity: int
    trial_length: int
    lead: float  # [s]
    unacknowledged: int
    epoch: int
    agent: str
    has_authority: bool
    data_age: float  # [s] negative: none yet
    round_trip: float  # [s] negative: none yet
    stale: bool
    target_pose: FloatArray  # (7,)


class PathPlanQueue:
    """First-in first-out queue of plan points with the operator's controls on it."""

    def __init__(
        self,
        config: QueueConfig,
        reach: Reach,
        start_pose: FloatArray | None = None,
        segment_time: SegmentTime | None = None,
    ) -> None:
        self.config = config
        self._reach = reach
        self._segment_time = segment_time
        self._store = PlanStore(config.capacity + config.reserve)
        self._uplink = Uplink(config.agent, self._store, config.sender)
        self._feed = PlanFeed(config.agent)
        self._layer: Layer | None = None
        self._idle_shaper = Shaper(config.shaper, ShapedPose(ZERO, (0.0, 0.0, 0.0, 1.0)), 0.0)  # checks, goes nowhere
        self._pose = None if start_pose is None else poses(start_pose, "start_pose")[0]
        self._time_clutch = True
        self._ratio = 1.0
        self._gripper = NOTHING
        self._next_seq = 1
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
        try:
            jump = self._shaper.command_pose(now, pose, frame)
        except TelerobotError as error:
            raise self._refuse(error) from None
        if jump is not None:
            self._jumps += 1
            self._notice = f"device jumped {jump}: absorbed"

    def command_twist(self, now: float, twist: object, frame: str) -> None:
        """Tool velocity asked for [m/s, rad/s], in `world` or `tool` axes; raises like `command_pose`."""
        self._advance(now)
        try:
            self._shaper.command_twist(now, twist, frame)
        except TelerobotError as error:
            raise self._refuse(error) from None

    def set_gripper(self, opening: float) -> None:
        """Opening of the gripper [m] for the points laid from now on."""
        self._gripper = in_range(opening, "gripper", *GRIPPER_RANGE, "m")

    def set_time_clutch(self, now: float, engaged: bool) -> None:
        """Engage or disengage time synchrony; the lead gained is kept [US5046022 claims 1, 4]."""
        self._advance(now)
        self._time_clutch = engaged
        if self._layer is not None:
            self._append(self._layer.set_time_clutch(engaged))

    def set_time_ratio(self, now: float, ratio: float) -> float:
        """Plan time per acquisition time from now on [-]; returns it. Raises InvalidValueError [claims 21, 23]."""
        try:
            in_range(ratio, "time_ratio", self.config.ratio_low, self.config.ratio_high)
        except InvalidValueError as error:
            raise self._refuse(error) from None
        self._advance(now)
        self._ratio = float(ratio)
        if self._layer is not None:
            self._layer.ratio = self._ratio
        return self._ratio

    def clear(self, now: float) -> int:
        """Delete every point not executed, at once [claim 16]; returns how many were deleted here.

        The hand is held until the robot has confirmed what it was committed to; then the plan goes on from there.
        Raises TransitionError without authority.
        """
        self._advance(now)
        deleted = self._uplink.clear()
        self._feed.truncate(self._store.last_seq)
        if self._layer is not None and len(self._store):
            self._layer.restart(self._store.last_pose())
        self._notice = f"{deleted} points deleted; waiting for the robot's confirmation"
        return deleted

    def pause(self, now: float) -> None:
        """Let the arm come to rest on its path; the plan is kept. Raises TransitionError without authority."""
        self._advance(now)
        self._uplink.sender.submit(OperationKind.PAUSE, urgent=True)

    def resume(self, now: float) -> None:
        """Go on after a pause or a halt. Raises TransitionError without authority."""
        self._advance(now)
        self._uplink.sender.submit(OperationKind.RESUME, urgent=True)

    def set_rate(self, now: float, rate: float) -> None:
        """Execute at `rate` times plan time. Raises InvalidValueError, TransitionError without authority."""
        self._advance(now)
        self._uplink.sender.submit(OperationKind.RATE, rate=rate, urgent=True)

    # --- time and the link ---

    def poll(self, now: float) -> list[Operation]:
        """Lay what is due; returns operations to send in one message (empty: send nothing)."""
        self._advance(now)
        self._store.forget(min(self._uplink.executed_seq, self._store.last_seq, self._feed.shown_seq))
        if now >= self._next_cut:
            self._next_cut = now + self.config.send_period
            self._uplink.hand_over()
        return self._uplink.sender.poll(now) if self._uplink.phase not in (Phase.WAITING, Phase.OBSERVING) else []

    def on_report(self, now: float, report: ExecutorReport, tool_pose: FloatArray | None = None) -> None:
        """Take what the robot says of itself; `tool_pose` is the measured tool in WORLD (7,)."""
        if tool_pose is not None and len(tool_pose):
            tool_pose = poses(tool_pose, "tool_pose")[0]
        self._uplink.on_report(now, report)
        if self._uplink.event is Event.AT_REST:
            self._start(now, tool_pose)
        elif self._uplink.event is Event.AGREED:
            self._rejoin()
        elif self._uplink.phase in (Phase.CLAIMING, Phase.OBSERVING, Phase.SETTLING) and len(self._store):
            self._abandon()
        if self._uplink.notices:
            self._notice = "; ".join(self._uplink.notices)
            self._uplink.notices.clear()

    def drain(self) -> list[PlanUpdate]:
        """Changes of the plan since the call before, for displays and simulators."""
        return self._feed.drain(self._store)

    def remaining(self, most: int) -> FloatArray:
        """Poses (n, 7) of the points not executed, evenly thinned to `most` or fewer, the last one kept."""
        pose = self._store.after(self._uplink.executed_seq).pose
        step = max(1, -(-len(pose) // most))
        return pose[::-1][::step][::-1]

    def state(self, now: float) -> PlanQueueState:
        """What the operator must be shown."""
        uplink, store, report = self._uplink, self._store, self._uplink.report
        age = now - uplink.report_time if report else -1.0
        fresh = self._shaper.fresh(now)
        held = bool(self._held()) or bool(self._layer and self._layer.blocked)
        device = DeviceState.IDLE if not fresh else DeviceState.HELD if held else DeviceState.TRACKING
        return PlanQueueState(
            time_clutch=self._time_clutch,
            position_clutch=True,
            time_ratio=self._ratio,
            brake_rate=0.0,
            device=device,
            notice=self._notice_now(),
            jumps=self._jumps,
            refused=self._refused,
            head_seq=store.last_seq,
            head_time=store.last_time,
            length=self._length(),
            capacity=self._capacity(),
            trial_length=0,
            lead=max(store.last_time - report.plan_time, 0.0) if report and len(store) else 0.0,
            unacknowledged=uplink.unacknowledged,
            epoch=report.epoch if report else 0,
            agent=self.config.agent,
            has_authority=uplink.open,
            data_age=age,
            round_trip=uplink.round_trip,
            stale=report is None or age > self.config.stale_after,
            target_pose=self._target(),
        )

    # --- inside ---

    @property
    def _shaper(self) -> Shaper:
        return self._layer.shaper if self._layer is not None else self._idle_shaper

    def _refuse(self, error: TelerobotError) -> TelerobotError:
        self._refused += 1
        self._notice = str(error)
        return error

    def _advance(self, now: float) -> None:
        if self._layer is None:
            return
        stalls = self._layer.stalls
        self._append(self._layer.advance(now, bool(self._held()), self._hurry()))
        if self._layer.stalls > stalls:
            self._notice = "this side stood still for a while: the hand re-indexes"

    def _append(self, laid: list[Laid]) -> None:
        for piece in laid:
            n = len(piece.timed)
            seq = np.arange(self._next_seq, self._next_seq + n)
            time = self._store.last_time + np.cumsum(piece.timed.step)
            self._store.append(seq, time, piece.timed.pose, piece.timing, self._gripper)
            self._next_seq += n

    def _held(self) -> str:
        """Why the hand must wait; empty: it need not."""
        if self._uplink.phase is not Phase.READY:
            return str(self._uplink.phase.value)
        room = self._capacity() - self._length()
        self._full = room < self.config.reserve or (self._full and room < 2 * self.config.reserve)
        return f"plan is full: {self._length()} of {self._capacity()} points" if self._full else ""

    def _hurry(self) -> bool:
        """True when the robot would run out of plan before later geometry came."""
        report = self._uplink.report
        if report is None:
            return False
        left = self._store.last_time - report.plan_time
        return left < self.config.hurry_lead + max(self._uplink.round_trip, 0.0)

    def _length(self) -> int:
        return self._store.count_after(self._uplink.executed_seq)

    def _capacity(self) -> int:
        report = self._uplink.report
        return min(self.config.capacity, report.capacity) if report and report.capacity else self.config.capacity

    def _target(self) -> FloatArray:
        if self._layer is not None:
            return self._layer.shaper.target
        return self._pose if self._pose is not None else np.empty(0)

    def _notice_now(self) -> str:
        held = self._held()
        blocked = self._layer.blocked if self._layer else ""
        parts: tuple[str, ...] = (held, blocked, self._notice)
        return "; ".join(part for part in parts if part)

    def _start(self, now: float, tool_pose: FloatArray | None) -> None:
        """The plan begins where the arm is at rest: one point there, then the hand."""
        report = self._uplink.report
        pose = self._pose if tool_pose is None else tool_pose
        if report is None or pose is None:
            raise InvalidValueError("tool_pose", tool_pose, "allowed: the measured tool pose, 7 values")
        self._pose = pose
        self._next_seq = max(self._next_seq, report.tail_seq + 1)
        time = report.tail_time + JOIN_TIME if report.tail_seq else 0.0
        self._store.clear()
        self._store.append(
            np.array([self._next_seq]), np.array([time]), pose.reshape(1, 7), int(Timing.SYNCED), self._gripper
        )
        self._next_seq += 1
        self._uplink.start(report.tail_seq)
        self._feed.reset()
        self._place_hand(now, pose)
        self._notice = "ready"

    def _rejoin(self) -> None:
        """Both tails are the same point again: displays and hand go on from it."""
        self._feed.truncate(self._uplink.cut_seq)
        if self._layer is not None:
            self._layer.restart(self._store.last_pose())
        self._notice = "robot has confirmed; the hand goes on from the plan's head"

    def _abandon(self) -> None:
        """The points here are not the robot's plan any more."""
        self._notice = f"{self._length()} points dropped"
        self._store.clear()
        self._feed.reset()

    def _place_hand(self, now: float, pose: FloatArray) -> None:
        if self._layer is None:
            c = self.config
            self._layer = Layer(c.shaper, c.time_base, c.sample_period, self._reach, pose, now, self._segment_time)
            self._layer.ratio = self._ratio
            self._layer.set_time_clutch(self._time_clutch)
        else:
            self._layer.restart(pose)
