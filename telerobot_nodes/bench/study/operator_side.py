"""One operator's end of the link in the delay study: queue, forward simulator, requests for authority.

What belongs here: what the operator's nodes do. What must never enter: the robot, the person.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from telerobot_nodes.core.protocol import AuthorityKind, UpdateKind
from telerobot_nodes.core.robot import ArmLoad, Reach, RobotModel
from telerobot_nodes.core.values import FloatArray, pose_from_se3
from telerobot_nodes.cspace.service import CartesianPathPlanner, InProcessPlanner
from telerobot_nodes.link import DelayLine, LinkSettings
from telerobot_nodes.plan.authority import AuthorityClient, AuthorityMessage
from telerobot_nodes.plan.executor import PathLimits
from telerobot_nodes.plan.log import ExecutorReport, Operation, PlanUpdate
from telerobot_nodes.plan.queue import Join, PathPlanQueue, QueueConfig
from telerobot_nodes.simulation import ForwardSimulator

NO_TURN = np.array([0.0, 0.0, 0.0, 1.0])
EXAMINED = 100  # points in a check
OPERATION_BYTES, AUTHORITY_BYTES, REPORT_BYTES = 1000, 100, 400


class OperatorSide:
    """The parts of one agent, and the two ways of his link."""

    def __init__(
        self, robot: RobotModel, agent: str, link: LinkSettings, seed: int, planner: InProcessPlanner | None = None
    ) -> None:
        """`planner`: knows the obstacles; None: there are none."""
        reach, share = Reach(robot), PathLimits()
        load = ArmLoad(robot, reach, share.reserve, share.reserve * share.share)  # as of the node
        joins: dict[str, Any] = {}
        if planner is not None:
            way = CartesianPathPlanner(robot, planner)
            joins = {"blocked": way.blocked, "planner": way}
        self.queue = PathPlanQueue(QueueConfig(agent=agent), reach, path_load=load, **joins)
        self.trial_begun = 0  # number of the first point of the present trial path
        self.forward = ForwardSimulator(robot, planner)
        self.forward.start(robot.home)
        self.operations: DelayLine[list[Operation]] = DelayLine(link, True, seed)
        self.requests: DelayLine[AuthorityMessage] = DelayLine(link, True, seed + 2)
        self.reports: DelayLine[tuple[float, ExecutorReport, FloatArray]] = DelayLine(link, False, seed + 1)
        self.seen_arm = pose_from_se3(robot.forward(robot.home))  # (7,) pose of the real tool as last reported
        self._now = self._seen_at = 0.0
        self._authority = AuthorityClient(agent)
        self._held = False  # the plan, at the last step

    @property
    def seen_simulation(self) -> FloatArray:
        """Pose (7,) of the simulated tool: at the end of the trial path if there is one, else of the plan."""
        return (self.forward.trial_head() or self.forward.advance(self._now)).tool_pose

    def ask(self, now: float, kind: AuthorityKind) -> None:
        """Send a message about authority, as the buttons do."""
        self._authority.check(kind)
        self._authority.request(now, self.queue.authority_message(kind))

    def send(self, now: float, hand: FloatArray) -> None:
        """Follow the `hand` (3,) [m], in the device's coordinates, and send what is due."""
        self._now = now
        self.queue.command_pose(now, np.concatenate([hand, NO_TURN]), "device")
        operations = self.queue.poll(now)
        if operations:
            self.operations.push(now, operations, OPERATION_BYTES)
        message = self._authority.due(now, self.queue.held_epoch)
        if message is not None:
            self.requests.push(now, message, AUTHORITY_BYTES)

    def receive(self, now: float) -> list[PlanUpdate]:
        """Take the reports that have come; returns the changes of the plan in force if it is this agent's."""
        for sent, report, pose in self.reports.due(now):
            if sent > self._seen_at:  # not overtaken on the link
                self.seen_arm, self._seen_at = pose, sent
            self.queue.on_report(now, report, pose)
            for message in self._authority.on_report(report):
                self.queue.on_authority(message)
            self.forward.executed(report.plan_time)
        held = self.queue.has_authority
        if held and not self._held:
            self.queue.republish()
        self._held = held
        updates = self.queue.drain()
        for update in updates:
            self._show(update)
        return [update for update in updates if held and not update.trial and update.kind is not UpdateKind.TIP]

    def check(self) -> None:
        """Examine points that the forward simulator has received."""
        self.forward.check(EXAMINED)

    def _show(self, update: PlanUpdate) -> None:
        points = update.points
        if update.trial and points is not None and not self.trial_begun:
            self.trial_begun = points.first_seq
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

    def disengage(self, now: float) -> None:
        """Disengage the position clutch: further points go to a trial path."""
        self.trial_begun = 0
        self.queue.set_position_clutch(now, False)

    def connect(self, now: float) -> bool:
        """Engage it by a connecting path to the end of the trial path; False if that was rejected."""
        return self.queue.set_position_clutch(now, True, Join.CONNECT).engaged
