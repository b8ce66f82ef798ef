"""Queue, link, executor, window follower and forward simulation in one process, faster than real time.

What belongs here: the composition that the delay study uses. The parts are those of the nodes; the servo and the
arm's dynamics are left out (the arm is at its setpoint).
"""

from __future__ import annotations

import numpy as np

from telerobot_nodes.core.protocol import ControlState, UpdateKind
from telerobot_nodes.core.robot import ArmLoad, Reach, RobotModel, load_robot
from telerobot_nodes.core.values import FloatArray, pose_from_se3
from telerobot_nodes.link import DelayLine, LinkSettings
from telerobot_nodes.motion.tracking import WindowFollower
from telerobot_nodes.plan.executor import PathLimits, PlanExecutor
from telerobot_nodes.plan.log import ControlReport, ExecutorReport, Operation, PlanUpdate
from telerobot_nodes.plan.queue import Join, PathPlanQueue, QueueConfig
from telerobot_nodes.simulation import ForwardSimulator

STEP = 0.02  # [s] of everything
REPORT_STEPS = 2  # executor reports and windows every 40 ms


class DelayRig:
    """One operator's side and one robot, connected by a link."""

    def __init__(
        self, round_trip: float, seed: int, robot: RobotModel | None = None, jitter: float = 0.0, loss: float = 0.0
    ) -> None:
        """`round_trip` [s]; `jitter` [-]: standard deviation of the delay, of the delay; `loss` [-] each way."""
        self.robot = robot or load_robot("arm")
        self.round_trip = round_trip
        self.now = 0.0
        self.start = pose_from_se3(self.robot.forward(self.robot.home))
        reach, share = Reach(self.robot), PathLimits()
        load = ArmLoad(self.robot, reach, share.reserve, share.reserve * share.share)  # as of the node
        self.queue = PathPlanQueue(QueueConfig(), reach, path_load=load)
        self.forward = ForwardSimulator(self.robot)
        self.forward.start(self.robot.home)
        self.executor: PlanExecutor | None = PlanExecutor(self.robot)  # None: dead
        self._follower = self._made_loop(self.robot.home)
        link = LinkSettings(delay=round_trip / 2.0, jitter=jitter * round_trip / 2.0, loss=loss)
        self._up: DelayLine[list[Operation]] = DelayLine(link, True, seed)
        self._down: DelayLine[tuple[float, ExecutorReport, FloatArray]] = DelayLine(link, False, seed + 1)
        self._seen_arm, self._seen_at = self.start, 0.0
        self._count = 0
        self._trial = False
        self.executed: list[int] = []  # numbers of points, as reported

    def _made_loop(self, q: FloatArray) -> WindowFollower:
        follower = WindowFollower(self.robot.dof, self.robot.limits)
        follower.hold(q, 0.0)
        return follower

    def restart_loop(self) -> None:
        """End the control loop, where the arm is, and start another."""
        self._follower = self._made_loop(self._follower.q.copy())

    @property
    def ready(self) -> bool:
        """True when the operator holds the plan."""
        return self.queue.state(self.now).has_authority

    @property
    def joints(self) -> FloatArray:
        """Joints of the real arm now (dof,) [rad]."""
        return self._follower.q

    @property
    def arm(self) -> FloatArray:
        """Pose of the real tool now (7,)."""
        return pose_from_se3(self.robot.forward(self._follower.q))

    @property
    def seen_arm(self) -> FloatArray:
        """Pose of the real tool as last reported over the link (7,)."""
        return self._seen_arm

    @property
    def seen_simulation(self) -> FloatArray:
        """(7,) pose of the simulated tool: at the end of the trial path if there is one, else of the plan."""
        trial = self.forward.trial_head() if self._trial else None
        return (trial or self.forward.advance(self.now)).tool_pose

    def disengage(self) -> None:
        """Disengage the position clutch: further points go to a trial path."""
        self.queue.set_position_clutch(self.now, False)
        self._trial = True

    def connect(self) -> bool:
        """Engage it by a connecting path to the end of the trial path; False if that was rejected."""
        self._trial = not self.queue.set_position_clutch(self.now, True, Join.CONNECT).engaged
        return not self._trial

    def step(self, hand: FloatArray) -> None:
        """Advance by one step with the hand at `hand` (3,) [m] in the device's coordinates."""
        self.now += STEP
        self._count += 1
        if self.queue.state(self.now).has_authority:
            self.queue.command_pose(self.now, np.concatenate([hand, [0.0, 0.0, 0.0, 1.0]]), "device")
        operations = self.queue.poll(self.now)
        if operations:
            self._up.push(self.now, operations, 1000)
        self._robot_side()
        for sent, report, pose in self._down.due(self.now):
            if sent > self._seen_at:  # not overtaken on the link
                self._seen_arm, self._seen_at = pose, sent
            self.queue.on_report(self.now, report, pose)
            self.forward.executed(report.plan_time)
        for update in self.queue.drain():
            self._follow(update)

    def _robot_side(self) -> None:
        at_rest = self._follower.sample(self.now)
        f = self._follower
        state = ControlState.HOLDING if at_rest else ControlState.TRACKING
        arrived, executor = self._up.due(self.now), self.executor
        if executor is None:
            return
        executor.on_control(
            self.now, ControlReport(state, f.number, f.refused, f.plan_time, f.q, f.v, f.number, f.plan_time)
        )
        for operations in arrived:
            executor.receive(self.now, operations)
        if self._count % REPORT_STEPS == 0:
            window = executor.tick(self.now)
            if window is not None:
                self._follower.offer(self.now, window)
            self._down.push(self.now, (self.now, executor.report(self.now), self.arm), 400)
        for done in executor.drain_executed():
            self.executed.extend(range(done.first_seq, done.last_seq + 1))

    def _follow(self, update: PlanUpdate) -> None:
        points = update.points
        if update.kind is UpdateKind.TRUNCATE:
            self.forward.truncate(update.after_seq, update.trial)
        elif update.kind is UpdateKind.RESET:
            empty = (1, np.empty(0), np.empty((0, 7)))
            values = (points.first_seq, points.time, points.pose) if points is not None else empty
            self.forward.reset(*values, trial=update.trial)
        elif update.kind is UpdateKind.TIP:
            self.forward.show_tip(update.tip, update.trial)
        elif points is not None:
            self.forward.append(points.first_seq, points.time, points.pose, update.trial)
