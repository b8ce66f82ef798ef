"""Simulated arms as transforms for RViz2, where `tf2_msgs` is installed; elsewhere none."""

from __future__ import annotations

from typing import Any

from telerobot_nodes.core.robot import LinkFrames, RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.nodes.framework import GraphNode
from telerobot_nodes.nodes.messages import convert

WORLD = "world"
TOPIC = "/tf"  # global, as tf2 requires; the names of frames distinguish the arms
DEPTH = 100  # as tf2's own broadcaster
MISSING = "tf2_msgs is not installed: no transforms"


class ArmTransforms:
    """Publishes every link of an arm as `PREFIX/LINK` in `world`; does nothing without `tf2_msgs`."""

    def __init__(self, node: GraphNode, robot: RobotModel) -> None:
        self._links = LinkFrames(robot)
        self._message: Any = None
        try:
            from geometry_msgs.msg import TransformStamped
            from tf2_msgs.msg import TFMessage
        except ImportError:
            node.get_logger().info(MISSING)
            return
        self._message, self._transform = TFMessage, TransformStamped
        self._publisher = node.create_publisher(TFMessage, TOPIC, DEPTH)
        self._namespace = node.get_namespace().strip("/")

    @property
    def text(self) -> str:
        """For diagnostics: whether there are transforms."""
        return MISSING if self._message is None else f"{TOPIC}: links in {WORLD}"

    def send(self, arms: dict[str, FloatArray], stamp: Any) -> None:
        """Publish the links of each arm: joints (dof,) [rad] by prefix, as `predicted`."""
        if self._message is None:
            return
        transforms = [
            self._stamped(prefix, link, pose, stamp)
            for prefix, q in arms.items()
            for link, pose in zip(self._links.names, self._links.poses(q), strict=True)
        ]
        self._publisher.publish(self._message(transforms=transforms))

    def _stamped(self, prefix: str, link: str, pose: FloatArray, stamp: Any) -> Any:
        frame = "/".join(part for part in (self._namespace, prefix, link) if part)
        transform = self._transform(child_frame_id=frame)
        transform.header.stamp, transform.header.frame_id = stamp, WORLD
        placed = convert.pose_to_message(pose)
        for axis in "xyz":
            setattr(transform.transform.translation, axis, getattr(placed.position, axis))
        transform.transform.rotation = placed.orientation
        return transform
