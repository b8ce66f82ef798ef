"""Operators' sides, link, executor and window follower in one process, faster than real time.

What belongs here: the composition that the delay study uses. The parts are those of the nodes; the servo and the
arm's dynamics are left out (the arm is at its setpoint).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from telerobot_nodes.bench.study.operator_side import REPORT_BYTES, OperatorSide
from telerobot_nodes.core.protocol import ControlState
from telerobot_nodes.core.robot import RobotModel, load_robot
from telerobot_nodes.core.values import FloatArray, pose_from_se3
from telerobot_nodes.cspace.service import InProcessPlanner
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.link import LinkSettings
from telerobot_nodes.motion.tracking import WindowFollower
from telerobot_nodes.plan.executor import PlanExecutor
from telerobot_nodes.plan.log import ControlReport
from telerobot_nodes.plan.queue import PathPlanQueue

STEP = 0.02  # [s] of everything
REPORT_STEPS = 2  # executor reports and windows every 40 ms
SEEDS_PER_SIDE = 100  # apart: each way of each link has random numbers of its own


class DelayRig:
    """Operators and one robot, connected by links of one kind. The first operator has control at the start."""

    def __init__(
        self,
        round_trip: float,
        seed: int,
        robot: RobotModel | None = None,
        jitter: float = 0.0,
        loss: float = 0.0,
        agents: Sequence[str] = ("operator",),
        planner: InProcessPlanner | None = None,
    ) -> None:
        """`round_trip` [s]; `jitter` [-]: standard deviation of the delay, of the delay; `loss` [-] each way.

        `planner`: knows the obstacles; None: there are none.
        """
        self.robot = robot or load_robot("arm")
        self.round_trip = round_trip
        self.now = 0.0
        self.start = pose_from_se3(self.robot.forward(self.robot.home))
        link = LinkSettings(delay=round_trip / 2.0, jitter=jitter * round_trip / 2.0, loss=loss)
        self.sides = [
            OperatorSide(self.robot, a, link, seed + SEEDS_PER_SIDE * i, planner) for i, a in enumerate(agents)
        ]
        self.executor: PlanExecutor | None = PlanExecutor(self.robot)  # None: dead
        self._follower = self._made_loop(self.robot.home)
        self._count = 0
        self._examines = planner is not None
        self._begun = False  # the first operator has taken the plan; the others come then
        self.executed: list[int] = []  # numbers of points, as reported

    def _made_loop(self, q: FloatArray) -> WindowFollower:
        follower = WindowFollower(self.robot.dof, self.robot.limits)
        follower.hold(q, 0.0)
        return follower

    def restart_loop(self) -> None:
        """End the control loop, where the arm is, and start another."""
        self._follower = self._made_loop(self._follower.q.copy())

    @property
    def queue(self) -> PathPlanQueue:
        """The first operator's queue."""
        return self.sides[0].queue

    @property
    def ready(self) -> bool:
        """True when the first operator holds the plan."""
        return self.queue.has_authority

    @property
    def joints(self) -> FloatArray:
        """Joints of the real arm now (dof,) [rad]."""
        return self._follower.q

    @property
    def arm(self) -> FloatArray:
        """Pose of the real tool now (7,)."""
        return pose_from_se3(self.robot.forward(self._follower.q))

    def step(self, *hands: FloatArray) -> None:
        """Advance by one step with each operator's hand at (3,) [m] in his device's coordinates."""
        self.now += STEP
        self._count += 1
        self._begun = self._begun or self.ready
        sides = self.sides if self._begun else self.sides[:1]
        for side, hand in zip(sides, hands, strict=False):
            side.send(self.now, hand)
        self._robot_side()
        for side in sides:
            in_force = side.receive(self.now)
            for other in self.sides:
                for update in in_force if other is not side else ():
                    other.queue.follow_active_plan(update)
            if self._examines and self._count % REPORT_STEPS == 0:
                side.check()

    def _robot_side(self) -> None:
        at_rest = self._follower.sample(self.now)
        f = self._follower
        state = ControlState.HOLDING if at_rest else ControlState.TRACKING
        operations = [batch for side in self.sides for batch in side.operations.due(self.now)]
        requests = [message for side in self.sides for message in side.requests.due(self.now)]
        executor = self.executor
        if executor is None:
            return
        executor.on_control(
            self.now, ControlReport(state, f.number, f.refused, f.plan_time, f.q, f.v, f.number, f.plan_time)
        )
        for message in requests:
            with suppress(TelerobotError):  # the report tells
                executor.on_authority(self.now, message)
        for batch in operations:
            executor.receive(self.now, batch)
        if self._count % REPORT_STEPS == 0:
            window = executor.tick(self.now)
            if window is not None:
                self._follower.offer(self.now, window)
            report = (self.now, executor.report(self.now), self.arm)
            for side in self.sides:
                side.reports.push(self.now, report, REPORT_BYTES)
        for done in executor.drain_executed():
            self.executed.extend(range(done.first_seq, done.last_seq + 1))
