"""The planner as a node with a probe beside it: short calls, and the messages that its tests send."""

import numpy as np
from sensor_msgs.msg import JointState, PointCloud2, PointField
from visualization_msgs.msg import MarkerArray

from telerobot.msg import ArmGoal, Obstacle, Obstacles
from telerobot.srv import CheckConfiguration, CheckPath, PlanPath
from telerobot_nodes import graph
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.nodes.framework import qos_profile

ROBOT = load_robot("arm")
HOME = np.array(ROBOT.home)
TURNED = HOME + np.array([0.8, 0.0, 0.0, 0.0, 0.0, 0.0])
AWAY = HOME + np.array([-0.8, 0.0, 0.0, 0.0, 0.0, 0.0])
TOOL = ROBOT.forward(HOME).translation


class PlannerNode:
    """The node, its world as last heard, and short calls."""

    def __init__(self, ros, node):
        self.ros, self.node = ros, node
        self.worlds, self.markers = [], []
        for name, kind, kept in (
            ("cspace_planner/world", Obstacles, self.worlds),
            ("cspace_planner/markers", MarkerArray, self.markers),
        ):
            ros.probe.create_subscription(kind, name, kept.append, qos_profile(graph.topic(name).qos))
        self.obstacles = ros.probe.create_publisher(Obstacles, "obstacles", qos_profile(graph.topic("obstacles").qos))
        self.joints = ros.probe.create_publisher(
            JointState, "joint_states", qos_profile(graph.topic("joint_states").qos)
        )
        self.clouds = ros.probe.create_publisher(PointCloud2, "cloud", 1)
        every = (self.obstacles, self.joints, self.clouds)
        assert ros.until(lambda: all(publisher.get_subscription_count() for publisher in every))

    def world(self, *obstacles, replace=True):
        """Say obstacles; waits until the node has them."""
        version, refusals = self.node._version, self.node.refusals
        self.obstacles.publish(Obstacles(replace=replace, obstacles=list(obstacles)))
        assert self.ros.until(lambda: self.node._version > version or self.node.refusals > refusals)

    def cloud(self, points, q=HOME, frame="world", **fields):
        """Publish the arm's joints and a cloud of points (n, 3); waits until it is used or refused."""
        before = len(self.node._clouds._joints["arm"])
        self.joints.publish(JointState(name=list(ROBOT.joint_names), position=list(q)))
        assert self.ros.until(lambda: len(self.node._clouds._joints["arm"]) > before)
        used, refused = (self.node._clouds.values()[f"clouds_{what}"] for what in ("used", "refused"))
        self.clouds.publish(cloud_message(points, frame, self.node.stamp(), **fields))
        values = self.node._clouds.values
        assert self.ros.until(lambda: (values()["clouds_used"], values()["clouds_refused"]) != (used, refused))

    def plan(self, *goals, **fields):
        return self.ros.call(PlanPath, "cspace_planner/plan", goals=list(goals), **fields)

    def configuration(self, q):
        return self.ros.call(CheckConfiguration, "cspace_planner/check_configuration", joint_position=list(q))

    def path(self, rows, **fields):
        values = np.array(rows, dtype=np.float64)
        fields = {"margin": -1.0, "dof": values.shape[1], **fields}
        return self.ros.call(CheckPath, "cspace_planner/check_path", waypoints=values.reshape(-1).tolist(), **fields)


def box(name, x, y, z, size=(0.06, 0.06, 0.3), **fields):
    return Obstacle(name=name, kind="box", size=list(size), pose=[x, y, z, 0.0, 0.0, 0.0, 1.0], **fields)


POST = box("post", TOOL[0], TOOL[1], TOOL[2] - 0.1)


def cloud_message(points, frame, stamp, **fields):
    rows = np.ascontiguousarray(points, dtype="<f4")
    layout = [PointField(name=n, offset=4 * i, datatype=PointField.FLOAT32, count=1) for i, n in enumerate("xyz")]
    values = {"height": 1, "width": len(rows), "fields": layout, "point_step": 12, "row_step": 12 * len(rows)}
    message = PointCloud2(**{**values, "data": rows.tobytes(), **fields})
    message.header.frame_id, message.header.stamp = frame, stamp
    return message


def on_post():
    """Points on the sides of POST, a grid."""
    x, y, z = np.meshgrid(*(np.linspace(-0.5, 0.5, n) for n in (9, 9, 40)), indexing="ij")
    rows = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    rows = rows[np.abs(rows[:, :2]).max(axis=1) == 0.5]
    return rows * POST.size + np.array(POST.pose[:3])


def to(goal, start=AWAY, **fields):
    return ArmGoal(start=list(start), joint_goal=list(goal), **fields)
