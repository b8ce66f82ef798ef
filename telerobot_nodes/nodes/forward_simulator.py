"""`forward_simulator`: the arm at the plan's head and the estimate of the robot's present [US5046022 claims 5, 9]."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import Point
from sensor_msgs.msg import JointState
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from telerobot.msg import ForwardState, PlanUpdate
from telerobot_nodes.core.options import NodeOptions
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.validation import FloatArray, finite
from telerobot_nodes.cspace.planner_copy import PlannerCopy
from telerobot_nodes.nodes import convert
from telerobot_nodes.nodes.base import GraphNode, Health
from telerobot_nodes.nodes.process import run_node
from telerobot_nodes.nodes.transforms import ArmTransforms
from telerobot_nodes.nodes.world_copy import arm_name, hear_world
from telerobot_nodes.simulation.estimate import PresentEstimator, RobotReport
from telerobot_nodes.simulation.forward import ForwardSimulator

TICK_PERIOD = 0.04  # [s]
MARKER_PERIOD = 0.5  # [s]
MARKER_POINTS = 500  # most points of the displayed line
RUNNING = (0, 1)  # ExecutorState IDLE, RUNNING: goes on when it can

_FREE = ColorRGBA(r=0.2, g=0.7, b=1.0, a=1.0)
_CONFLICT = ColorRGBA(r=1.0, g=0.2, b=0.1, a=1.0)


class ForwardSimulatorNode(GraphNode):
    """The plan as laid and the robot's reports in; simulated and estimated arm out."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        robot = load_robot(options.robot)
        self._names = list(robot.joint_names)
        self._planner = PlannerCopy({arm_name(self): load_robot(options.robot)}, margin=0.0)  # loads on a thread
        self._forward = ForwardSimulator(robot, self._planner)
        self._present = PresentEstimator()
        self._round_trip = -1.0
        self._robot_time = 0.0
        self._robot_position: FloatArray = np.empty(0)
        self._state = self.publisher("forward_simulator/state")
        self._predicted = self.publisher("forward_simulator/predicted")
        self._estimate = self.publisher("forward_simulator/estimate")
        self._trial = self.publisher("forward_simulator/trial")
        self._scrubbed = self.publisher("forward_simulator/scrubbed")
        self._transforms = ArmTransforms(self, robot)
        self._scrub_time: float | None = None  # [s] plan time asked for
        self._markers = self.publisher("forward_simulator/markers")
        self.subscribe("path_plan_queue/plan", self._on_plan)
        self.subscribe("path_plan_queue/state", self._on_queue)
        self.subscribe("plan_executor/state", self._on_report)
        hear_world(self, self._planner, self._forward.recheck)
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
        else:
            points = convert.points_from_message(message.points)
            self._forward.append(points.first_seq, points.time, points.pose, trial)
        if not trial:
            self._present.on_head(now, self._forward.head_time)

    def _reset(self, message: Any) -> None:
        joints = self._robot_position if self._robot_position.size and not message.trial else None
        if len(message.points.time):
            points = convert.points_from_message(message.points)
            self._forward.reset(points.first_seq, points.time, points.pose, joints, message.trial)
        else:
            self._forward.reset(1, np.empty(0), np.empty((0, 7)), joints, message.trial)
            if joints is not None:  # not at plan time 0: the lead is counted from where the robot is
                self._forward.start(joints, self._robot_time)

    def _on_queue(self, message: Any) -> None:
        self._round_trip = message.round_trip

    def _on_report(self, message: Any) -> None:
        report = convert.report_from_message(message)
        if len(message.joint_position) == len(self._names):
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
                running=int(report.mode) in RUNNING,
            ),
            self._round_trip,
        )

    def _on_scrub(self, request: Any, response: Any) -> None:
        asked = finite(request.value, "scrub plan time")
        self._scrub_time = asked if asked >= 0.0 else None
        shown = self._forward.state_at(asked).time if self._scrub_time is not None else -1.0
        response.success, response.value = True, float(shown)
        response.message = "off" if self._scrub_time is None else f"plan time {shown:.2f} s"

    # outputs -------------------------------------------------------------------------------------------------

    def _tick(self) -> None:
        now, stamp = self.now(), self.stamp()
        arm = self._forward.advance(now)
        self._forward.check()
        estimate = self._present.estimate(now)
        trial, conflicts = self._forward.trial_head(), self._forward.conflicts()
        present = self._forward.state_at(estimate.plan_time) if estimate else None
        message = ForwardState(
            stamp=stamp,
            head_time=arm.time,
            robot_time=float(self._robot_time),
            estimate_time=estimate.plan_time if estimate else 0.0,
            lead=self._forward.lead(self._robot_time),
            data_age=estimate.since_receipt if estimate else -1.0,
            head_position=convert.doubles(arm.joint_position),
            trial_position=convert.doubles(trial.joint_position if trial else ()),
            estimate_position=convert.doubles(present.joint_position if present else ()),
            robot_position=convert.doubles(self._robot_position),
            head_pose=convert.doubles(arm.tool_pose),
            conflicts=conflicts.count,
            conflict=conflicts.text,
            at_end=bool(self._forward.at_end),
        )
        self._state.publish(message)
        self._predicted.publish(_joint_state(self._names, message.head_position, stamp))
        if estimate:
            self._estimate.publish(_joint_state(self._names, message.estimate_position, stamp))
        if self._scrub_time is not None:
            scrubbed = self._forward.state_at(self._scrub_time)
            self._scrubbed.publish(_joint_state(self._names, convert.doubles(scrubbed.joint_position), stamp))
        arms = {"predicted": arm.joint_position}
        if present:
            arms["estimate"] = present.joint_position
        if trial:
            self._trial.publish(_joint_state(self._names, message.trial_position, stamp))
            arms["trial"] = trial.joint_position
        self._transforms.send(arms, stamp)

    def _publish_markers(self) -> None:
        times, kinds = self._forward.kinds()
        step = max(1, len(times) // MARKER_POINTS)
        line = Marker(type=Marker.LINE_STRIP, action=Marker.ADD, ns="plan")
        line.header.frame_id, line.header.stamp = "world", self.stamp()
        line.scale.x, line.pose.orientation.w = 0.004, 1.0
        for time, kind in zip(times[::step], kinds[::step], strict=True):
            x, y, z = (float(value) for value in self._forward.state_at(float(time)).tool_pose[:3])
            line.points.append(Point(x=x, y=y, z=z))
            line.colors.append(_CONFLICT if kind else _FREE)
        if len(line.points) < 2:
            line.action = Marker.DELETE
        self._markers.publish(MarkerArray(markers=[line]))

    def health(self) -> Health:
        """Lead and conflicts."""
        conflicts = self._forward.conflicts()
        return Health(
            message=conflicts.text or "ok",
            values={
                "lead": self._forward.lead(self._robot_time),
                "conflicts": conflicts.count,
                "transforms": self._transforms.text,
            },
        )


def _joint_state(names: list[str], position: Any, stamp: Any) -> Any:
    message = JointState(name=names, position=position)
    message.header.stamp = stamp
    return message


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    return run_node(ForwardSimulatorNode, options)
