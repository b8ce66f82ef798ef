"""The path-plan queue: the operator's side of the plan, one object without clocks or ROS [US5046022].

What belongs here: the operator's commands and the order in which recorder, replication and stand-by work. What must
never enter: sampling and plan time (`plan.shaping`), the operation log (`plan.log`).

Use: pass commands and reports as they arrive, each with `now`; call `poll(now)` every 10 to 40 ms and send what it
returns; publish `state(now)` and `drain()`. No point is planned before the robot has reported its pose and this
agent holds authority.
"""

from __future__ import annotations

from telerobot_nodes.core.protocol import GRIPPER_RANGE, AuthorityKind, OperationKind
from telerobot_nodes.core.values import FloatArray, in_range, poses
from telerobot_nodes.errors import NotNowError
from telerobot_nodes.plan.authority import AuthorityMessage
from telerobot_nodes.plan.log import ExecutorReport, Operation, Phase, PlanUpdate
from telerobot_nodes.plan.queue.collision_stop import CollisionCheck
from telerobot_nodes.plan.queue.hand_tip import HandTip
from telerobot_nodes.plan.queue.joins import JoinOutcome
from telerobot_nodes.plan.queue.notices import Notices
from telerobot_nodes.plan.queue.path_connector import Blocked, ConnectionPlanner, PathConnector, no_obstacles
from telerobot_nodes.plan.queue.plan_sync import PlanSync
from telerobot_nodes.plan.queue.queue_state import queue_state
from telerobot_nodes.plan.queue.queue_values import Join, PlanQueueState, QueueConfig
from telerobot_nodes.plan.queue.recorder import Recorder
from telerobot_nodes.plan.shaping import HandScale, PathLoad, Reach


class PathPlanQueue:
    """First-in first-out queue of plan points with the operator's controls.

    A refused command raises; nothing changes except the count of refusals and the notice.
    """

    def __init__(
        self,
        config: QueueConfig,
        reach: Reach,
        start_pose: FloatArray | None = None,
        path_load: PathLoad | None = None,
        blocked: Blocked = no_obstacles,
        planner: ConnectionPlanner | None = None,
    ) -> None:
        """`start_pose` (7,) in WORLD is used until the robot reports its tool pose."""
        self.config = config
        self._notices = Notices()
        reach.pass_singularities = config.pass_singularities
        connector = PathConnector(config.time_base, config.sample_period, reach, blocked, planner, path_load)
        self._recorder = Recorder(config, reach, path_load, connector, self._notices)
        pose = None if start_pose is None else poses(start_pose, "start_pose")[0]
        self._sync = PlanSync(config, self._recorder, self._notices, pose)
        self._tip = HandTip()
        self._now = 0.0  # [s] latest time given

    # --- input and controls --------------------------------------------------------------------------------------

    def command_pose(self, now: float, pose: object, frame: str, late: float = 0.0) -> None:
        """Command a tool pose: absolute (`world`), or of a device whose motion counts (`device`), `late` [s] ago.

        No effect before the plan has a start. Raises InvalidValueError naming the field.
        """
        self._advance(now)
        with self._notices.counting_refusals():
            jump = self._recorder.sampler.shaper.command_pose(now, pose, frame, late)
        if jump is not None:
            self._notices.add_jump(jump)

    def on_late_sample(self, late: float) -> None:
        """Notice of samples of the device that are `late` [s] and therefore not followed."""
        self._notices.latest = f"device: samples come {late:.1f} s late by their stamp: not followed"

    def command_twist(self, now: float, twist: object, frame: str) -> None:
        """Command a tool velocity (6,) [m/s, rad/s], in `world` or `tool` axes; raises like `command_pose`."""
        self._advance(now)
        with self._notices.counting_refusals():
            self._recorder.sampler.shaper.command_twist(now, twist, frame)

    def set_gripper(self, now: float, opening: float) -> float:
        """Set the gripper's opening [m] from the head of the path on, also while the tool rests; returns it.

        The opening is part of the points: brake, delete-all and a discarded trial path take it back. While the input
        is held it waits for the next point. Raises InvalidValueError, or TransitionError before the path has a start.
        """
        opening = in_range(opening, "gripper", *GRIPPER_RANGE, "m")
        self._advance(now)
        if not len(self._recorder.path) or (self._recorder.position_clutch and not self._sync.replication.open):
            raise NotNowError("gripper", self._sync.phase.value)
        self._recorder.set_gripper(opening)
        self._sync.append_gripper()
        return opening

    def set_time_clutch(self, now: float, engaged: bool) -> None:
        """Engage or disengage time synchrony; the lead gained is kept [US5046022 claims 1, 4]."""
        self._advance(now)
        self._recorder.path.append(self._recorder.sampler.set_time_clutch(engaged))

    def set_time_ratio(self, now: float, ratio: float) -> float:
        """Set plan time per acquisition time [-] from now on; returns it. Raises InvalidValueError [claims 21, 23]."""
        with self._notices.counting_refusals():
            in_range(ratio, "time_ratio", self.config.ratio_low, self.config.ratio_high)
        self._advance(now)
        self._recorder.sampler.ratio = float(ratio)
        return float(ratio)

    def set_hand_scale(
        self, now: float, linear: float | None = None, angular: float | None = None, turns: bool | None = None
    ) -> HandScale:
        """Change what is given of the hand's scale from now on, as in `HandScale`; returns it.

        The tool does not jump: it makes another share of the motion that follows. Raises InvalidValueError.
        """
        self._advance(now)
        shaper = self._recorder.sampler.shaper
        with self._notices.counting_refusals():
            shaper.hand_scale = shaper.hand_scale.changed(linear, angular, turns)
        return shaper.hand_scale

    def set_position_clutch(self, now: float, engaged: bool, kind: Join = Join.CONNECT) -> JoinOutcome:
        """Engage or disengage position synchrony [claims 8, 11].

        Disengaged, points go to the trial path, which begins at the plan's head. Engaging joins the two as `kind`
        selects; a refused join leaves the clutch disengaged. Raises TransitionError before the plan has a start.
        """
        self._advance(now)
        if not self._recorder.sampler.placed:
            raise self._notices.refuse(NotNowError("position clutch", self._sync.phase.value))
        if engaged == self._recorder.position_clutch:
            return JoinOutcome(engaged, 0, "unchanged")
        return self._sync.engage(kind) if engaged else self._recorder.disengage()

    def set_brake(self, now: float, rate: float) -> float:
        """Delete from the tail at `rate` [plan s/s], last in first out; 0 releases [claims 14, 15]; returns it.

        Acts on the path being recorded: the plan, or the trial path while the position clutch is disengaged. Raises
        InvalidValueError, or TransitionError without authority over the plan.
        """
        self._advance(now)
        if self._recorder.position_clutch and rate != 0.0 and not self._sync.replication.open:
            raise self._notices.refuse(NotNowError("brake", self._sync.phase.value))
        with self._notices.counting_refusals():
            self._recorder.brake.check(rate)
        if not self._recorder.brake.engaged:
            if rate == 0.0:
                return 0.0
            self._sync.flush()
        self._recorder.brake.set(now, rate, self._recorder.path.store.last_time)
        self._recorder.restart_sampler()
        return self._recorder.brake.rate

    def clear(self, now: float) -> int:
        """Delete every point not executed, at once [claim 16]; returns how many were deleted here.

        The input is held until the robot has confirmed its committed stretch; then the plan continues at its end.
        Raises TransitionError without authority.
        """
        self._advance(now)
        deleted = self._sync.clear()
        self._notices.latest = f"{deleted} points deleted; waiting for the robot's confirmation"
        return deleted

    def undo(self, now: float) -> int:
        """Append again what brake or delete-all have deleted since the last point; returns how many points.

        Releases the brake. Raises InvalidValueError when there is nothing, TransitionError while the plan waits for the
        robot's confirmation, or without authority.
        """
        self._advance(now)
        if self._recorder.position_clutch and self._sync.phase is not Phase.READY:
            raise self._notices.refuse(NotNowError("undo", self._sync.phase.value))
        with self._notices.counting_refusals():
            return self._recorder.undo()

    def pause(self, now: float) -> None:
        """Stop the arm on its path; the plan is kept. Raises TransitionError without authority."""
        self._advance(now)
        self._sync.submit(OperationKind.PAUSE)

    def resume(self, now: float) -> None:
        """Continue after a pause or the halt that the latest report shows. Raises TransitionError without authority."""
        self._advance(now)
        report = self._sync.replication.report
        count = report.halt_count if report else 0
        self._sync.submit(OperationKind.RESUME, window=self.config.execution_window, halt_count=count)

    def reset(self, now: float) -> None:
        """Release the e-stop or fault of the hardware; the arm holds. Raises TransitionError without authority."""
        self._advance(now)
        self._sync.submit(OperationKind.RESET, window=self.config.execution_window)

    def tare(self, now: float) -> None:
        """Take the present wrench as zero, with the arm at rest. Raises TransitionError without authority."""
        self._advance(now)
        self._sync.submit(OperationKind.TARE, window=self.config.execution_window)

    def set_rate(self, now: float, rate: float) -> None:
        """Execute at `rate` times plan time. Raises InvalidValueError, or TransitionError without authority."""
        self._advance(now)
        self._sync.submit(OperationKind.RATE, rate=rate)

    def set_stop_before_collision(self, enabled: bool) -> None:
        """Let the robot wait before points that are predicted to collide, or let it execute them."""
        self._sync.collision_stop.enabled = enabled

    def set_pass_singularities(self, enabled: bool) -> None:
        """Let the hand's path pass singularities, as slowly as the joints need, or stop it before them."""
        self._recorder.sampler.reach.pass_singularities = enabled

    def on_collision_check(self, check: CollisionCheck) -> None:
        """Take what the forward simulation has found on the plan."""
        self._sync.collision_stop.on_check(check)

    # --- authority -----------------------------------------------------------------------------------------------

    def authority_message(self, kind: AuthorityKind, peer: str = "") -> AuthorityMessage:
        """Message to send: request, consent, refusal, take, release or heartbeat [claim 28]."""
        return self._sync.authority_message(self._now, kind, peer)

    def on_authority(self, message: AuthorityMessage) -> None:
        """Take a message about authority from another agent or from the robot."""
        self._sync.on_authority(message)

    def follow_active_plan(self, update: PlanUpdate) -> None:
        """Take one update of the plan of the agent in control, to meet it as a stand-by."""
        if not self._sync.replication.open:
            self._sync.standby.active.follow(update)

    @property
    def has_authority(self) -> bool:
        """True when this agent may plan."""
        return self._sync.replication.open

    @property
    def held_epoch(self) -> int:
        """Epoch in which this agent may plan, 0 if it may not; its heartbeats name it."""
        return self._sync.replication.sender.epoch if self._sync.replication.open else 0

    # --- time, the link and displays -----------------------------------------------------------------------------

    def poll(self, now: float) -> list[Operation]:
        """Record up to `now`; returns the operations to send in one message, none if empty."""
        self._advance(now)
        return self._sync.poll(now)

    def on_report(self, now: float, report: ExecutorReport, tool_pose: FloatArray | None = None) -> None:
        """Take the robot's report; `tool_pose` (7,) is the measured tool in WORLD."""
        tool_pose = poses(tool_pose, "tool_pose")[0] if tool_pose is not None and len(tool_pose) else None
        self._sync.on_report(now, report, tool_pose)

    def drain(self) -> list[PlanUpdate]:
        """Changes of plan and trial path since the last call, for displays and simulators."""
        recorder = self._recorder
        path, sampler = recorder.path, recorder.sampler
        head = path.head_pose if len(path) else None
        tip = self._tip.updates(sampler.goal, head, not recorder.position_clutch, sampler.time_clutch)
        return recorder.plan.drain() + recorder.trial.drain() + tip

    def republish(self) -> None:
        """Return both paths whole at the next `drain`, for a new subscriber."""
        self._recorder.plan.feed.republish()
        self._recorder.trial.feed.republish()

    def remaining(self, most: int) -> FloatArray:
        """Poses (n, 7) of the points not executed, evenly thinned to `most` or fewer, with the last one."""
        return self._recorder.plan.thinned(self._sync.replication.executed_seq, most)

    def state(self, now: float) -> PlanQueueState:
        """State for the operator's display."""
        return queue_state(self.config, self._recorder, self._sync, self._notices, now)

    def _advance(self, now: float) -> None:
        self._now = now
        self._sync.record(now)
