"""`path_plan_queue`: the operator's plan queue on topics and services [US5046022]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from nav_msgs.msg import Path
from rclpy.time import Time

from telerobot.msg import ForwardState, PlanQueueState
from telerobot_nodes.core.config import NodeOptions, parameter
from telerobot_nodes.core.protocol import SCALE_RANGE, UpdateKind
from telerobot_nodes.core.robot import ArmLoad, Reach, load_robot
from telerobot_nodes.cspace.service import CartesianPathPlanner, InProcessPlanner
from telerobot_nodes.nodes.framework import GraphNode, Health, node_parameters, run_node, waiting
from telerobot_nodes.nodes.messages import convert
from telerobot_nodes.nodes.operator.planning_scene_monitor import PlanningSceneMonitor
from telerobot_nodes.nodes.operator.queue_services import QueueServices
from telerobot_nodes.nodes.planning import arm_name
from telerobot_nodes.operator.devices import LATE, InputCounts
from telerobot_nodes.plan.authority import AuthorityClient
from telerobot_nodes.plan.executor import PathLimits
from telerobot_nodes.plan.queue import CollisionCheck, PathPlanQueue, QueueConfig
from telerobot_nodes.plan.shaping import FollowerLimits, HandScale, ShaperConfig, TimeBaseConfig

POLL_PERIOD = 0.02  # [s]
STATE_PERIOD = 0.1  # [s]
WARN_PERIOD = 1.0  # [s] between reports of late samples
PATH_PERIOD = 0.5  # [s]
PATH_POSES = 200  # most poses of the displayed path


@dataclass(frozen=True)
class QueueParameters:
    """Parameters of `path_plan_queue`."""

    agent: str = parameter(
        "", doc="name of this operator, for authority; empty: the host of a hosts file, the namespace, else operator"
    )
    sample_period: float = parameter(
        0.02, unit="s", low=0.004, high=0.2, doc="time between plan points, a whole multiple of 0.004 s"
    )
    capacity: int = parameter(100_000, low=512, high=10_000_000, doc="largest number of points")
    stale_after: float = parameter(
        0.4, unit="s", low=0.05, high=60.0, doc="time without a report after which data are stale"
    )
    drop_after: float = parameter(
        1.0,
        unit="s",
        low=0.1,
        high=60.0,
        doc="age of a sample of the hand, by its stamp, from which it is too late to be followed",
    )
    tremor_cutoff: float = parameter(
        5.0, unit="Hz", low=0.5, high=20.0, doc="cutoff of the low-pass filter on the hand"
    )
    linear_scale: float = parameter(
        1.0, low=SCALE_RANGE[0], high=SCALE_RANGE[1], doc="motion of the tool per motion of the hand, at the start"
    )
    angular_scale: float = parameter(
        1.0, low=SCALE_RANGE[0], high=SCALE_RANGE[1], doc="turning of the tool per turning of the hand, at the start"
    )
    hand_speed: float = parameter(0.5, unit="m/s", low=0.01, high=2.0, doc="highest speed of the tool target")
    free_speed: float = parameter(0.2, unit="m/s", low=0.005, high=2.0, doc="tool speed of the artificial time base")
    free_acceleration: float = parameter(
        0.5, unit="m/s^2", low=0.01, high=10.0, doc="tool acceleration of the artificial time base"
    )

    stop_before_collision: bool = parameter(
        True, doc="the robot waits before points of the plan that the forward simulation predicts to collide"
    )
    pass_singularities: bool = parameter(
        False, doc="the hand's path may pass singularities, as slowly as the joints need; else it stops before them"
    )
    meeting_distance: float = parameter(
        0.05, unit="m", low=0.001, high=1.0, doc="hand-off: between the stand-by's tool and the plan in force, at most"
    )
    meeting_angle: float = parameter(0.3, unit="rad", low=0.01, high=3.0, doc="the same for their orientations")
    execution_window: float = parameter(
        0.0, unit="s", low=0.0, high=3600.0, doc="time after which points that wait at the robot expire; 0: never"
    )

    def config(self, agent: str) -> QueueConfig:
        """The core's configuration."""
        return QueueConfig(
            agent=agent,
            sample_period=self.sample_period,
            capacity=self.capacity,
            stale_after=self.stale_after,
            meeting_distance=self.meeting_distance,
            meeting_angle=self.meeting_angle,
            execution_window=self.execution_window,
            stop_before_collision=self.stop_before_collision,
            pass_singularities=self.pass_singularities,
            shaper=ShaperConfig(
                cutoff=self.tremor_cutoff,
                linear=FollowerLimits(self.hand_speed, 2.0, 60.0, 10.0),
                hand_scale=HandScale(self.linear_scale, self.angular_scale),
            ),
            time_base=TimeBaseConfig(speed=self.free_speed, acceleration=self.free_acceleration),
        )


class PathPlanQueueNode(GraphNode):
    """Commands and reports in; operations and the operator's displays out."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        parameters = node_parameters(self, QueueParameters)
        robot = load_robot(options.robot)
        self._reach = Reach(robot)
        planner = InProcessPlanner({arm_name(self): load_robot(options.robot)})  # it loads on a thread of its own
        self._way = CartesianPathPlanner(robot, planner)
        agent = parameters.agent or options.host or self.get_namespace().strip("/").replace("/", "_") or "operator"
        share = PathLimits()  # of the executor: what is inside them is executed at its own pace
        self._queue = PathPlanQueue(
            parameters.config(agent),
            self._reach,
            blocked=self._way.blocked,
            planner=self._way,
            path_load=ArmLoad(robot, self._reach, share.reserve, share.reserve * share.share),
        )
        self._samples, self._drop_after = InputCounts(), parameters.drop_after
        self._warned = -math.inf  # [s] when late samples were reported last
        self._stale_after, self._reported_at, self._silent = parameters.stale_after, -math.inf, True
        self._authority_client = AuthorityClient(agent)
        self._subscribers = 0  # of the plan
        self._was_in_force = False
        self._operations_link = convert.LinkCounter(f"operator/{options.name}")
        self._operations = self.publisher("plan_executor/operations")
        self._authority_link = convert.LinkCounter(f"operator/{agent}")
        self._authority = self.publisher("authority")
        self._in_force = self.publisher("plan_in_force")
        self._state = self.publisher("path_plan_queue/state")
        self._plan = self.publisher("path_plan_queue/plan")
        self._path = self.publisher("path_plan_queue/path")
        self._poses = self.subscribe("path_plan_queue/pose_target_cmds", self._on_pose)
        self.subscribe("path_plan_queue/delta_twist_cmds", self._on_twist)
        self.subscribe("plan_executor/state", self._on_report)
        self.subscribe("forward_simulator/state", self._on_simulation)
        self.subscribe(
            "plan_in_force", lambda message: self._queue.follow_active_plan(convert.update_from_message(message))
        )
        PlanningSceneMonitor(planner).attach(self)
        QueueServices(self, self._queue, self._authority_client, self._publish_change)
        self._polls = self.every(POLL_PERIOD, self._poll)
        self.every(STATE_PERIOD, self._publish_state)
        self.every(PATH_PERIOD, self._publish_path)

    # inputs --------------------------------------------------------------------------------------------------

    def _on_pose(self, message: Any) -> None:
        """Behind a sample that is too late more of them wait: with a turn of the executor for each, it stays so."""
        if not self._follow_pose(message):
            any(map(self._follow_pose, waiting(self._poses)))  # up to the first that is followed

    def _follow_pose(self, message: Any) -> bool:
        """Command a pose; False for a sample of the device that is too late."""
        frame, late = message.header.frame_id, 0.0
        now, stamp_now = self.both_clocks()
        if frame == "device":
            stamp = message.header.stamp  # devices are on this host: their clock is this node's
            late = 1e-9 * (stamp_now - Time.from_msg(stamp)).nanoseconds if stamp.sec else 0.0
            if not self._follows_sample(late):
                return False
        self._queue.command_pose(now, convert.pose_to_array(message.pose), frame, late)
        return True

    def _follows_sample(self, late: float) -> bool:
        follows = self._samples.receive(late, self._drop_after)
        if late > LATE and self.now() - self._warned >= WARN_PERIOD:
            self._warned = self.now()  # the logger's own throttle costs as much as the sample
            self.get_logger().warning(f"device: {self._samples}")
            if not follows:
                self._queue.on_late_sample(late)
        return follows

    def _on_twist(self, message: Any) -> None:
        self._queue.command_twist(self.now(), convert.twist_to_array(message.twist), message.header.frame_id)

    def _on_report(self, message: Any) -> None:
        report = convert.report_from_message(message)
        self._reported_at = self.now()
        if len(message.joint_position):
            self._reach.arm_at(convert.floats(message.joint_position))
            self._way.arm_at(convert.floats(message.joint_position))
        for event in self._authority_client.on_report(report):
            self._queue.on_authority(event)
        self._queue.on_report(self.now(), report, convert.floats(message.tool_pose))

    def _on_simulation(self, message: Any) -> None:
        text = message.conflict if message.conflict_kind == ForwardState.CONFLICT_COLLISION else "collision"
        found = CollisionCheck(message.collision_seq, message.free_seq, message.examined_seq, text)
        self._queue.on_collision_check(found)

    # outputs -------------------------------------------------------------------------------------------------

    def _poll(self) -> None:
        now = self.now()
        silent = now - self._reported_at > self._stale_after
        if silent is not self._silent:  # the operator is not to wait for the next state
            self._silent = silent
            self._publish_state()
        operations = self._queue.poll(now)
        if operations:
            link = self._operations_link.next(self.stamp())
            self._operations.publish(convert.operations_to_message(link, operations))
        self._publish_plan()
        request = self._authority_client.due(now, self._queue.held_epoch)
        if request is not None:
            link = self._authority_link.next(self.stamp())
            self._authority.publish(convert.authority_to_message(link, request))

    def _publish_change(self) -> None:
        """Send and publish at once what a person has pressed."""
        if self.active:
            self._poll()
            self._polls.reset()  # repeated operations keep their distance
            self._publish_state()

    def _publish_plan(self) -> None:
        in_force = self._queue.has_authority
        if in_force and not self._was_in_force:
            self._queue.republish()  # subscribers still hold the other operator's plan beyond the meeting point
        self._was_in_force = in_force
        for update in self._queue.drain():
            if update.kind is UpdateKind.RESET and update.points is None and not update.trial:
                self._reach.begin()  # a new plan begins where the arm is
            message = convert.update_to_message(update, self.stamp())
            self._plan.publish(message)
            if in_force and not update.trial and update.kind is not UpdateKind.TIP:
                self._in_force.publish(message)

    def _publish_state(self) -> None:
        subscribers = self._plan.get_subscription_count() + self._in_force.get_subscription_count()
        if subscribers > self._subscribers:
            self._queue.republish()
        self._subscribers = subscribers
        state = self._queue.state(self.now())
        values = {name: getattr(state, name) for name in state.__dataclass_fields__}
        values["device"] = int(state.device)
        values["target_pose"] = convert.doubles(state.target_pose)
        self._state.publish(PlanQueueState(stamp=self.stamp(), **values))

    def _publish_path(self) -> None:
        if not self._path.get_subscription_count():
            return  # of 200 poses, which nobody would see
        stamp = self.stamp()
        message = Path(poses=[convert.pose_stamped(row, "world", stamp) for row in self._queue.remaining(PATH_POSES)])
        message.header.stamp, message.header.frame_id = stamp, "world"
        self._path.publish(message)

    def health(self) -> Health:
        """Counts and times of the queue."""
        state = self._queue.state(self.now())
        shown = ("head_seq", "length", "lead", "unacknowledged", "jumps", "refused", "data_age", "round_trip", "stale")
        values = {name: getattr(state, name) for name in shown}
        return Health(message=state.notice or "ok", values={**values, **self._samples.diagnostics()})


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    return run_node(PathPlanQueueNode, options)
