"""`forward_simulator`: the arm at the plan's head and the estimate of the robot's present [US5046022 claims 5, 9].

It also draws motions of primitives that are simulated or practised [US5231693].
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from telerobot.msg import ForwardState, PlanUpdate
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.core.protocol import ConflictKind, ExecutorMode
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import FloatArray, finite, finite_array
from telerobot_nodes.cspace.service import InProcessPlanner
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.framework import GraphNode, Health, run_node
from telerobot_nodes.nodes.messages import convert
from telerobot_nodes.nodes.operator.forward_display import ForwardDisplay, Shown
from telerobot_nodes.nodes.operator.planning_scene_monitor import PlanningSceneMonitor
from telerobot_nodes.nodes.planning import arm_name
from telerobot_nodes.simulation import ForwardSimulator, PresentEstimator, RobotReport, SimulatedMotion

TICK_PERIOD = 0.04  # [s]
CHECK_TIME = 0.015  # [s] of each tick for examining points, if there are many
MARKER_PERIOD = 0.5  # [s]
LINE_POINTS = 200  # most points of a displayed line
PART_POINTS = 2000  # most of one part of a motion; the plan is not simulated while they are read
MOST_REPLACED = 100  # motions that are remembered


class ForwardSimulatorNode(GraphNode):
    """The plan and the robot's reports in; simulated and estimated arm out."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        robot = load_robot(options.robot)
        self._dof, self._joint_names = robot.dof, list(robot.joint_names)
        planner = InProcessPlanner({arm_name(self): load_robot(options.robot)}, margin=0.0)  # loads on a thread
        self._forward = ForwardSimulator(robot, planner)
        self._motion = SimulatedMotion(robot, planner)
        self._motion_id = 0, 0  # stamp of its parts
        self._replaced: deque[tuple[int, int]] = deque(maxlen=MOST_REPLACED)  # stamps of earlier ones
        self._present = PresentEstimator()
        self._round_trip = -1.0
        self._robot_time = 0.0
        self._robot_position: FloatArray = np.empty(0)
        self._display = ForwardDisplay(self, robot)
        self._scrub_time: float | None = None  # [s] plan time asked for
        self._shown_conflict = ConflictKind.NONE, ""
        self.subscribe("path_plan_queue/plan", self._on_plan)
        self.subscribe("path_plan_queue/state", self._on_queue)
        self.subscribe("plan_executor/state", self._on_report)
        self.subscribe("forward_simulator/motion", self._on_motion)
        PlanningSceneMonitor(planner, self._recheck).attach(self)
        self.serve("forward_simulator/scrub", self._on_scrub)
        self.every(TICK_PERIOD, self._tick)
        self.every(MARKER_PERIOD, self._publish_markers)

    # inputs --------------------------------------------------------------------------------------------------

    def _on_plan(self, message: Any) -> None:
        now, trial = self.now(), message.trial
        if message.kind == PlanUpdate.TRUNCATE:
            self._forward.truncate(message.after_seq, trial)
        elif message.kind == PlanUpdate.RESET:
            self._reset(message)
        elif message.kind == PlanUpdate.TIP:
            self._forward.show_tip(convert.update_from_message(message).tip, trial)
            self._publish_state(now)
            return
        else:
            points = convert.points_from_message(message.points)
            self._forward.append(points.first_seq, points.time, points.pose, trial, points.posture)
        if not trial:
            self._present.on_head(now, self._forward.head_time)

    def _reset(self, message: Any) -> None:
        joints = self._robot_position if self._robot_position.size and not message.trial else None
        if len(message.points.time):
            points = convert.points_from_message(message.points)
            self._forward.reset(points.first_seq, points.time, points.pose, joints, message.trial, points.posture)
        else:
            self._forward.reset(1, np.empty(0), np.empty((0, 7)), joints, message.trial)
            if joints is not None:  # not at plan time 0: the lead is counted from where the robot is
                self._forward.start(joints, self._robot_time)

    def _on_queue(self, message: Any) -> None:
        self._round_trip = message.round_trip

    def _on_report(self, message: Any) -> None:
        report = convert.report_from_message(message)
        if len(message.joint_position) == self._dof:
            self._robot_position = np.array(message.joint_position)
            self._forward.start(self._robot_position, report.plan_time)
        self._robot_time = report.plan_time
        self._forward.executed(report.plan_time)
        self._present.on_report(
            self.now(),
            RobotReport(
                plan_time=report.plan_time,
                rate=report.rate,
                rate_goal=report.rate_goal,
                committed_time=report.committed_time,
                tail_time=report.tail_time,
                running=report.mode in (ExecutorMode.IDLE, ExecutorMode.RUNNING),
            ),
            self._round_trip,
        )

    def _on_motion(self, message: Any) -> None:
        """A part of a motion, the next one of it, or the first of another, which replaces it.

        A motion that was replaced does not come back: its sender does not know, and goes on.
        """
        stamp = message.header.stamp.sec, message.header.stamp.nanosec
        if stamp in self._replaced:
            return
        if len(message.points) > PART_POINTS:
            raise InvalidValueError("motion.points (length)", len(message.points), f"allowed: up to {PART_POINTS}")
        if message.points and list(message.joint_names) != self._joint_names:
            allowed = f"allowed: {', '.join(self._joint_names)}"
            raise InvalidValueError("motion.joint_names", ", ".join(message.joint_names), allowed)
        times = np.array([point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec for point in message.points])
        joints = [finite_array(point.positions, "motion.points.positions", self._dof) for point in message.points]
        new = stamp != self._motion_id or not message.points
        self._motion.extend(times, np.array(joints).reshape(-1, self._dof), self.now(), new)
        if new:
            self._replaced.append(self._motion_id)
            self._motion_id = stamp

    def _recheck(self) -> None:
        self._forward.recheck()
        self._motion.recheck()

    def _on_scrub(self, request: Any, response: Any) -> None:
        asked = finite(request.value, "scrub plan time")
        self._scrub_time = asked if asked >= 0.0 else None
        shown = self._forward.state_at(asked).time if self._scrub_time is not None else -1.0
        response.success, response.value = True, float(shown)
        response.message = "off" if self._scrub_time is None else f"plan time {shown:.2f} s"

    def _tick(self) -> None:
        now = self.now()
        self._forward.check_while(lambda: self.now() < now + CHECK_TIME)
        if self.now() < now + CHECK_TIME:
            self._motion.check()
        self._publish_state(now)

    def _publish_state(self, now: float) -> None:
        arm = self._forward.advance(now)
        estimate = self._present.estimate(now)
        shown = Shown(
            arm=arm,
            trial=self._forward.trial_head(),
            present=self._forward.state_at(estimate.plan_time) if estimate else None,
            scrubbed=self._forward.state_at(self._scrub_time) if self._scrub_time is not None else None,
            simulated=self._motion.at(now),
        )
        conflicts = self._forward.conflicts()
        message = ForwardState(
            head_time=arm.time,
            robot_time=float(self._robot_time),
            estimate_time=estimate.plan_time if estimate else 0.0,
            lead=self._forward.lead(self._robot_time),
            data_age=estimate.since_receipt if estimate else -1.0,
            robot_position=convert.doubles(self._robot_position),
            head_pose=convert.doubles(arm.tool_pose),
            conflicts=conflicts.count,
            conflict_kind=int(conflicts.kind),
            conflict_subject=conflicts.subject,
            conflict=conflicts.text,
            collision_seq=conflicts.collision_seq,
            free_seq=conflicts.free_seq,
            examined_seq=conflicts.examined_seq,
            at_end=bool(self._forward.at_end),
        )
        self._display.publish(message, shown)
        if (conflicts.kind, conflicts.subject) != self._shown_conflict:  # not half a second later
            self._shown_conflict = conflicts.kind, conflicts.subject
            self._publish_markers()

    def _publish_markers(self) -> None:
        plan, trial = self._forward.line(LINE_POINTS), self._forward.line(LINE_POINTS, trial=True)
        self._display.publish_lines(plan, trial, self._motion.line(LINE_POINTS))

    def health(self) -> Health:
        """Lead and conflicts."""
        conflicts = self._forward.conflicts()
        return Health(
            message=conflicts.text or "ok",
            values={
                "lead": self._forward.lead(self._robot_time),
                "conflicts": conflicts.count,
                "simulated motion": self._motion.conflicts().text or f"{len(self._motion)} points",
                "transforms": self._display.transforms,
            },
        )


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    return run_node(ForwardSimulatorNode, options)
