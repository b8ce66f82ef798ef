"""From the topics of the camera to the operator's feed."""

from __future__ import annotations

from typing import Any

from telerobot_nodes.core.camera import Calibration, CameraSetting
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.framework import GraphNode
from telerobot_nodes.nodes.messages import pose_to_array
from telerobot_nodes.operator.camera import CameraFeed, CameraState


class CameraTopics:
    """Fills `feed` from the topics of a node."""

    def __init__(self, node: GraphNode, feed: CameraFeed) -> None:
        self._node, self._feed = node, feed
        node.subscribe("camera/state", self._on_state)
        node.subscribe("camera/camera_info", self._on_info)
        node.subscribe("camera/pose", self._on_pose)
        node.subscribe("camera/image/compressed", self._on_picture)

    def _on_state(self, message: Any) -> None:
        state = CameraState(CameraSetting.of_message(message), tuple(message.cameras), message.problem)
        self._feed.receive_state(state)
        self._feed.receive_clock(nanoseconds(message.stamp), self._node.now())

    def _on_info(self, message: Any) -> None:
        camera = message.header.frame_id
        try:
            self._feed.receive_calibration(camera, Calibration.of_info(message))
        except InvalidValueError as error:
            self._feed.refuse_calibration(camera, error)
            raise

    def _on_pose(self, message: Any) -> None:
        self._feed.receive_pose(nanoseconds(message.header.stamp), pose_to_array(message.pose))

    def _on_picture(self, message: Any) -> None:
        stamp = nanoseconds(message.header.stamp)
        self._feed.receive_picture(message.header.frame_id, stamp, bytes(message.data), self._node.now())


def nanoseconds(stamp: Any) -> int:
    """A ROS time [ns]."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
