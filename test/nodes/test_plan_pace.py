"""The queue's node lays a plan that the arm can execute at the plan's own pace: the limits of its joints are in it."""

import numpy as np
import pytest

pytest.importorskip("rclpy")

from geometry_msgs.msg import PoseStamped
from std_srvs.srv import SetBool

from telerobot.msg import ControlState, PlanQueueState, PlanUpdate
from telerobot_nodes import graph
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.core.robot import Kinematics, load_robot
from telerobot_nodes.nodes.framework import qos_profile
from telerobot_nodes.nodes.operator.path_plan_queue import PathPlanQueueNode
from telerobot_nodes.nodes.robot.plan_executor import PlanExecutorNode

FAST = "path_plan_queue:\n  ros__parameters:\n    free_speed: 2.0\n    free_acceleration: 10.0\n"
SAMPLES = 150
SHARE = 0.95  # [-] of the velocity limits that the executor uses


def qos(name):
    return qos_profile(graph.topic(name).qos)


class Desk:
    """Queue and executor, an arm at rest at home, and a hand."""

    def __init__(self, ros, params):
        self.ros, self.robot = ros, load_robot("arm")
        ros.add(PlanExecutorNode(NodeOptions("plan_executor", graph="demo")))
        ros.add(PathPlanQueueNode(NodeOptions("path_plan_queue", graph="demo", params=params)))
        self.points, self.state, self.sent = {}, PlanQueueState(), 0
        ros.probe.create_subscription(PlanUpdate, "path_plan_queue/plan", self._on_plan, qos("path_plan_queue/plan"))
        state = "path_plan_queue/state"
        ros.probe.create_subscription(PlanQueueState, state, lambda m: setattr(self, "state", m), qos(state))
        self._hand = self._publisher(PoseStamped, "path_plan_queue/pose_target_cmds")
        self._arm = self._publisher(ControlState, "gcmsf_control/state")
        ros.probe.create_timer(0.01, self._rest)
        ros.probe.create_timer(0.01, self._draw)
        self.drawing = False

    def _publisher(self, kind, name):
        publisher = self.ros.probe.create_publisher(kind, name, qos(name))
        assert self.ros.until(publisher.get_subscription_count), name
        return publisher

    def _rest(self):
        home, still = list(self.robot.home), [0.0] * self.robot.dof
        self._arm.publish(
            ControlState(
                measured_position=home, measured_velocity=still, path_position=home, path_velocity=still,
                joint_position=home, joint_velocity=still,
            )
        )  # fmt: skip

    def _draw(self):
        """A sample of the hand: half a circle of 0.2 m across, once; then it rests."""
        if self.drawing:
            angle = np.pi * min(self.sent / SAMPLES, 1.0)
            message = PoseStamped()
            message.header.frame_id, message.pose.orientation.w = "device", 1.0
            message.pose.position.x, message.pose.position.y = 0.1 * (np.cos(angle) - 1.0), 0.1 * np.sin(angle)
            self._hand.publish(message)
            self.sent += 1

    def _on_plan(self, message):
        points = message.points
        for k, time in enumerate(points.time):
            self.points[points.first_seq + k] = (time, points.pose[7 * k : 7 * k + 7])


def test_the_plan_of_the_node_is_inside_the_velocity_limits_of_the_joints(ros, tmp_path):
    """The hand asks for 2 m/s with 10 m/s^2 along its path; the joints cannot do that."""
    params = tmp_path / "fast.yaml"
    params.write_text(FAST)
    desk = Desk(ros, params)
    assert ros.until(lambda: desk.state.has_authority and not desk.state.stale)
    assert ros.call(SetBool, "path_plan_queue/time_clutch", data=False).success
    desk.drawing = True
    assert ros.until(lambda: desk.sent > SAMPLES + 100 and len(desk.points) > 20), desk.state
    laid = [desk.points[seq] for seq in sorted(desk.points)]
    time, poses = np.array([at for at, _ in laid]), np.array([pose for _, pose in laid])
    assert np.linalg.norm(np.ptp(poses[:, :3], axis=0)) > 0.15
    q = Kinematics(desk.robot).solve_path(poses, desk.robot.home)
    used = np.abs(np.diff(q, axis=0) / np.diff(time)[:, None] / desk.robot.limits.velocity)
    assert used.max() <= SHARE + 0.01
    assert used.max() > 0.5 * SHARE, "the path is to ask for more than the joints can do"
