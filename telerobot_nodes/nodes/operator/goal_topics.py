"""Goals that a person designates in RViz2: its tools *Publish Point* and *Goal Pose*."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from telerobot_nodes.errors import InvalidValueError

if TYPE_CHECKING:
    from telerobot_nodes.nodes.framework import GraphNode
    from telerobot_nodes.operator.console import Goal

WORLD = "world"  # the frame in which goals are taken
POINT, POSE = "/clicked_point", "/goal_pose"  # as RViz2 publishes them


class GoalTopics:
    """Shows each point and pose as the goal of a console; nothing moves by it."""

    def __init__(self, node: GraphNode, goal: Goal) -> None:
        self._goal = goal
        node.subscribe_outside(POINT, "geometry_msgs/msg/PointStamped", self._on_point)
        node.subscribe_outside(POSE, "geometry_msgs/msg/PoseStamped", self._on_pose)

    def _on_point(self, message: Any) -> None:
        _check_frame(POINT, message)
        self._goal.designate((message.point.x, message.point.y, message.point.z))

    def _on_pose(self, message: Any) -> None:
        _check_frame(POSE, message)
        at, turned = message.pose.position, message.pose.orientation
        self._goal.designate((at.x, at.y, at.z), (turned.x, turned.y, turned.z, turned.w))


def _check_frame(topic: str, message: Any) -> None:
    if message.header.frame_id != WORLD:
        raise InvalidValueError(f"{topic}: header.frame_id", message.header.frame_id, f"allowed: {WORLD}")
