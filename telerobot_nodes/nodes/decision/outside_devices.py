"""Cameras and sensors of the workcell file: topics and services of other people's nodes, named in the file.

All methods run on the executor's thread. Every primitive is answered by one report.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from telerobot.msg import Obstacle
from telerobot_nodes.core.values import pose_from_se3, se3_from_pose
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.rtc.elaboration import Request
from telerobot_nodes.rtc.skills import Camera, Primitive, Report, Sensor

if TYPE_CHECKING:
    from telerobot_nodes.nodes.framework import GraphNode

OBJECTS_FRESH = 2.0  # [s] what the camera saw earlier is not seen
MOST_SEEN = 1000  # objects of one camera
SEEN = "hardware_interface/objects"

Answer = Callable[[Report], None]


class CameraProxy:
    """A camera: it sees what its topic shows, and pans at once."""

    def __init__(self, node: GraphNode, camera: Camera, report: Answer) -> None:
        self._node, self._report = node, report
        self._seen: dict[str, tuple[float, tuple[float, ...]]] = {}
        if camera.topic:
            node.subscribe_outside(camera.topic, "telerobot/msg/Obstacles", self._on_objects)
        else:
            node.subscribe(SEEN, self._on_objects)

    def begin(self, primitive: Primitive, request: Request) -> None:
        """Answer at once."""
        if primitive.executive != "locate":
            self._report(Report(primitive.number, "reached", note="the camera has no drive"))
            return
        name = str(request.slots.get("object", ""))
        at, pose = self._seen.get(name, (-math.inf, ()))
        if self._node.now() - at > OBJECTS_FRESH:
            self._report(Report(primitive.number, "not_found", note=f"{name or 'the object'} is not in sight"))
            return
        self._report(Report(primitive.number, "found", readings={"pose": pose}))

    def _on_objects(self, message: Any) -> None:
        now = self._node.now()
        if message.replace:
            self._seen.clear()
        for entry in message.obstacles:
            self._seen.pop(entry.name, None)
            if entry.operation == Obstacle.ADD and len(self._seen) < MOST_SEEN:
                self._see(now, entry)

    def _see(self, now: float, entry: Any) -> None:
        try:
            pose = pose_from_se3(se3_from_pose(np.array(entry.pose)))
        except InvalidValueError as error:
            self._node.get_logger().warning(f"camera: {entry.name[:80]!r}: {error}", throttle_duration_sec=1.0)
        else:
            self._seen[entry.name] = (now, tuple(pose.tolist()))


class SensorProxy:
    """A sensor: the newest number of its topic, or what its service answers."""

    def __init__(self, node: GraphNode, sensor: Sensor, report: Answer) -> None:
        """Raises GraphError when the type is not installed here."""
        self._node, self._sensor, self._report = node, sensor, report
        self._latest, self._at = math.nan, -math.inf
        self._asked = 0  # number of the primitive that waits for an answer
        self._client = None
        if sensor.topic:
            node.subscribe_outside(sensor.topic, sensor.type, self._on_message)
        else:
            self._client = node.client_outside(sensor.service, sensor.type)

    def begin(self, primitive: Primitive) -> None:
        """Answer with the number, or ask for it."""
        if self._client is None:
            age = self._node.now() - self._at
            if age > self._sensor.fresh:
                note = f"{self._sensor.topic} is silent" if age == math.inf else f"the last message is {age:.1f} s old"
                self._report(Report(primitive.number, "no_reading", note=note))
            else:
                self._read(primitive.number, self._latest)
        elif not self._client.service_is_ready():
            self._report(Report(primitive.number, "no_reading", note=f"nobody serves {self._sensor.service}"))
        else:
            self._asked = primitive.number
            future = self._client.call_async(self._client.srv_type.Request())
            future.add_done_callback(lambda done: self._answered(primitive.number, done))

    def forget(self, primitive: int) -> None:
        """An answer that comes later is for nobody."""
        if self._asked == primitive:
            self._asked = 0

    def _answered(self, primitive: int, future: Any) -> None:
        if self._asked == primitive:
            self._asked = 0
            self._read(primitive, self._number(future.result()))

    def _read(self, primitive: int, value: float) -> None:
        if math.isfinite(value):
            self._report(Report(primitive, "read", readings={"value": value}))
        else:
            self._report(Report(primitive, "no_reading", note=f"no finite number in {self._sensor.field}"))

    def _on_message(self, message: Any) -> None:
        self._latest, self._at = self._number(message), self._node.now()

    def _number(self, message: Any) -> float:
        """The number of a message; not a number where the field is none."""
        for part in self._sensor.field.split("."):
            message = getattr(message, part, None)
        if isinstance(message, (bool, int, float)):
            return float(message) * self._sensor.factor
        return math.nan
