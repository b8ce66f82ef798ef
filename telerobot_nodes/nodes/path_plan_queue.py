"""`path_plan_queue`: the operator's plan queue on topics and services [US5046022]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nav_msgs.msg import Path

from telerobot.msg import Halt, PlanQueueState
from telerobot_nodes.core.options import NodeOptions
from telerobot_nodes.core.parameters import parameter
from telerobot_nodes.core.reach import Reach
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.cspace.planner_copy import PlannerCopy
from telerobot_nodes.cspace.ways import WayPlanner
from telerobot_nodes.nodes import convert
from telerobot_nodes.nodes.base import GraphNode, Health
from telerobot_nodes.nodes.parameters import node_parameters
from telerobot_nodes.nodes.process import run_node
from telerobot_nodes.nodes.queue_services import QueueServices
from telerobot_nodes.nodes.world_copy import arm_name, hear_world
from telerobot_nodes.plan.authority_talk import AuthorityTalk
from telerobot_nodes.plan.follower import FollowerLimits
from telerobot_nodes.plan.halting import HaltSender
from telerobot_nodes.plan.queue import PathPlanQueue, QueueConfig
from telerobot_nodes.plan.shaper import ShaperConfig
from telerobot_nodes.plan.time_base import TimeBaseConfig

POLL_PERIOD = 0.02  # [s]
STATE_PERIOD = 0.1  # [s]
PATH_PERIOD = 0.5  # [s]
PATH_POSES = 200  # most poses of the displayed path


@dataclass(frozen=True)
class QueueParameters:
    """Parameters of `path_plan_queue`."""

    agent: str = parameter("", doc="name of this operator, for authority; empty: the namespace, else operator")
    sample_period: float = parameter(0.02, unit="s", low=0.004, high=0.2, doc="between plan points")
    capacity: int = parameter(100_000, low=512, high=10_000_000, doc="most points held")
    stale_after: float = parameter(0.5, unit="s", low=0.05, high=60.0, doc="without a report before data are stale")
    tremor_cutoff: float = parameter(5.0, unit="Hz", low=0.5, high=20.0, doc="low-pass on the hand")
    hand_speed: float = parameter(0.5, unit="m/s", low=0.01, high=2.0, doc="fastest the tool target moves")
    free_speed: float = parameter(0.2, unit="m/s", low=0.005, high=2.0, doc="tool speed of the artificial time base")
    free_acceleration: float = parameter(
        0.5, unit="m/s^2", low=0.01, high=10.0, doc="tool acceleration of the artificial time base"
    )

    execution_window: float = parameter(
        0.0, unit="s", low=0.0, high=3600.0, doc="points that wait longer at the robot expire; 0: never"
    )

    def config(self, agent: str) -> QueueConfig:
        """The core's configuration."""
        return QueueConfig(
            agent=agent,
            sample_period=self.sample_period,
            capacity=self.capacity,
            stale_after=self.stale_after,
            execution_window=self.execution_window,
            shaper=ShaperConfig(cutoff=self.tremor_cutoff, linear=FollowerLimits(self.hand_speed, 2.0, 60.0, 10.0)),
            time_base=TimeBaseConfig(speed=self.free_speed, acceleration=self.free_acceleration),
        )


class PathPlanQueueNode(GraphNode):
    """Commands and reports in; operations, halts, and what the operator must see out."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        parameters = node_parameters(self, QueueParameters)
        robot = load_robot(options.robot)
        self._reach = Reach(robot)
        planner = PlannerCopy({arm_name(self): load_robot(options.robot)})  # it loads on a thread of its own
        self._way = WayPlanner(robot, planner)
        agent = parameters.agent or self.get_namespace().strip("/").replace("/", "_") or "operator"
        self._queue = PathPlanQueue(parameters.config(agent), self._reach, blocked=self._way.blocked, planner=self._way)
        self._halt = HaltSender()
        self._agent = agent
        self._talk = AuthorityTalk(agent)
        self._listeners = 0  # of the plan as it is laid
        self._was_in_force = False
        self._operations_link = convert.LinkCounter(f"operator/{options.name}")
        self._halt_link = convert.LinkCounter(f"operator/{options.name}")
        self._operations = self.publisher("plan_executor/operations")
        self._authority_link = convert.LinkCounter(f"operator/{agent}")
        self._authority = self.publisher("authority")
        self._in_force = self.publisher("plan_in_force")
        self._halts = self.publisher("halt")
        self._state = self.publisher("path_plan_queue/state")
        self._plan = self.publisher("path_plan_queue/plan")
        self._path = self.publisher("path_plan_queue/path")
        self.subscribe("path_plan_queue/pose_target_cmds", self._on_pose)
        self.subscribe("path_plan_queue/delta_twist_cmds", self._on_twist)
        self.subscribe("plan_executor/state", self._on_report)
        self.subscribe("plan_in_force", lambda message: self._queue.watch(convert.update_from_message(message)))
        hear_world(self, planner)
        QueueServices(self, self._queue, self._talk, self._halt, self._send_halt)
        self.every(POLL_PERIOD, self._poll)
        self.every(STATE_PERIOD, self._publish_state)
        self.every(PATH_PERIOD, self._publish_path)

    # inputs --------------------------------------------------------------------------------------------------

    def _on_pose(self, message: Any) -> None:
        self._queue.command_pose(self.now(), convert.pose_to_array(message.pose), message.header.frame_id)

    def _on_twist(self, message: Any) -> None:
        self._queue.command_twist(self.now(), convert.twist_to_array(message.twist), message.header.frame_id)

    def _on_report(self, message: Any) -> None:
        report = convert.report_from_message(message)
        if len(message.joint_position):
            self._reach.arm_at(convert.floats(message.joint_position))
            self._way.arm_at(convert.floats(message.joint_position))
        self._halt.on_report(report)
        for said in self._talk.on_report(report):
            self._queue.on_authority(said)
        self._queue.on_report(self.now(), report, convert.floats(message.tool_pose))

    # outputs -------------------------------------------------------------------------------------------------

    def _poll(self) -> None:
        now = self.now()
        operations = self._queue.poll(now)
        if operations:
            link = self._operations_link.next(self.stamp())
            self._operations.publish(convert.operations_to_message(link, operations))
        self._publish_plan()
        said = self._talk.due(now)
        if said is not None:
            link = self._authority_link.next(self.stamp())
            self._authority.publish(convert.authority_to_message(link, said))
        if self._halt.due(now):
            self._send_halt()

    def _publish_plan(self) -> None:
        in_force = self._queue.has_authority
        if in_force and not self._was_in_force:
            self._queue.retell()  # who follows the plan in force still has the other's, beyond the meeting point
        self._was_in_force = in_force
        for update in self._queue.drain():
            message = convert.update_to_message(update, self.stamp())
            self._plan.publish(message)
            if in_force and not update.trial:
                self._in_force.publish(message)

    def _send_halt(self) -> None:
        link = self._halt_link.next(self.stamp())
        self._halts.publish(Halt(link=link, number=self._halt.number, agent=self._agent, reason=self._halt.reason))

    def _publish_state(self) -> None:
        listeners = self._plan.get_subscription_count() + self._in_force.get_subscription_count()
        if listeners > self._listeners:
            self._queue.retell()
        self._listeners = listeners
        state = self._queue.state(self.now())
        values = {name: getattr(state, name) for name in state.__dataclass_fields__}
        values["device"] = int(state.device)
        values["target_pose"] = convert.doubles(state.target_pose)
        self._state.publish(PlanQueueState(stamp=self.stamp(), **values))

    def _publish_path(self) -> None:
        stamp = self.stamp()
        message = Path(poses=[convert.pose_stamped(row, "world", stamp) for row in self._queue.remaining(PATH_POSES)])
        message.header.stamp, message.header.frame_id = stamp, "world"
        self._path.publish(message)

    def health(self) -> Health:
        """Counts the operator's engineer wants."""
        state = self._queue.state(self.now())
        shown = ("head_seq", "length", "lead", "unacknowledged", "jumps", "refused", "data_age", "round_trip", "stale")
        return Health(message=state.notice or "ok", values={name: getattr(state, name) for name in shown})


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    return run_node(PathPlanQueueNode, options)
