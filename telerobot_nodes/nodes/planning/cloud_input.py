"""Point clouds into the planner's scene: the newest one at a limited rate, converted on a thread of its own.

A cloud is kept as bytes until it is its turn; one that comes meanwhile replaces it. A cloud that cannot be used is
refused by name, and the voxels before stay. Voxels older than `cloud_stale` stay too, and are reported.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from rclpy.serialization import deserialize_message
from rclpy.time import Time
from sensor_msgs.msg import JointState, PointCloud2

from telerobot_nodes.core.robot import RobotModel
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.cspace.geometry import Attachment, Scene
from telerobot_nodes.cspace.scenes import (
    CloudSettings,
    CloudVoxels,
    Frames,
    RobotPoints,
    add_frames,
    cloud_voxels,
    frame_rows,
    points_of,
)
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.framework import GraphNode
from telerobot_nodes.nodes.planning.convert_planning import joints_from_message

KEPT = 400  # joint states of each arm, 2 s of them
LOOK = 0.02  # [s] between looks at the thread's result
AHEAD = 0.1  # [s] that a stamp may be in the future
APART = 0.2  # [s] between a cloud and the joints that tell where the arm was


@dataclass(frozen=True)
class CloudOptions:
    """What the parameters say about clouds."""

    settings: CloudSettings
    frames: str = ""  # rows of `frame_rows`, separated by ;
    rate: float = 5.0  # [Hz]
    stale: float = 2.0  # [s]


class CloudInput:
    """Receives clouds for `node` and gives their voxels to `use`, on the node's thread."""

    def __init__(
        self,
        robots: Mapping[str, RobotModel],
        options: CloudOptions,
        scene: Callable[[], Scene],
        use: Callable[[CloudVoxels], None],
    ) -> None:
        """`robots`: each at its place. Raises InvalidValueError naming the parameter."""
        self._robots, self._options, self._scene, self._use = dict(robots), options, scene, use
        self._rows = frame_rows([row for row in options.frames.split(";") if row.strip()])
        self._joints = {name: deque[tuple[int, bytes]](maxlen=KEPT) for name in robots}
        self._shapes: dict[str, tuple[tuple[Attachment, ...], RobotPoints]] = {}
        self._newest: bytes | None = None
        self._begun, self._received, self._used, self._refused = -np.inf, 0, 0, 0
        self._stamp = 0  # [ns] of the cloud in force, 0: none
        self._found: CloudVoxels | None = None
        self._trouble = ""
        self._work = ThreadPoolExecutor(1, "cloud")
        self._running: Future[tuple[int, CloudVoxels]] | None = None
        self._ready = self._work.submit(self._load)  # so that the first cloud does not wait for the robot's shapes

    def attach(self, node: GraphNode, topic: str) -> None:
        """Receive clouds on `topic`, with any QoS of the publisher."""
        self._node = node
        node.subscribe_outside(topic, "sensor_msgs/msg/PointCloud2", self.receive, raw=True)
        node.every(LOOK, self.tick)

    def receive(self, data: bytes) -> None:
        """Take a cloud as bytes."""
        self._newest, self._received = data, self._received + 1

    def receive_joints(self, arm: str, data: bytes) -> None:
        """Take a JointState of an arm as bytes."""
        self._joints[arm].append((self._now(), data))

    def tick(self) -> None:
        """Use what the thread has made, and give it the next cloud when it is time. Raises InvalidValueError."""
        now = self._node.now()
        if not self._ready.done():
            return
        if self._newest is not None and self._running is None and now - self._begun >= 1.0 / self._options.rate:
            data, self._newest, self._begun = self._newest, None, now
            self._running = self._work.submit(self._convert, data, self._scene())
        elif self._running is not None and self._running.done():
            done, self._running = self._running, None
            self._take(done)

    def _take(self, done: Future[tuple[int, CloudVoxels]]) -> None:
        try:
            stamp, found = done.result()
            self._use(found)
        except Exception as error:
            self._trouble, self._refused = str(error), self._refused + 1
            raise
        self._stamp, self._found, self._trouble, self._used = stamp, found, "", self._used + 1

    def stop(self) -> None:
        """End the thread."""
        self._work.shutdown(wait=True, cancel_futures=True)

    @property
    def age(self) -> float:
        """[s] of the cloud in force; infinity: there is none yet."""
        return 1e-9 * (self._now() - self._stamp) if self._stamp else np.inf

    def trouble(self) -> str:
        """What a person should know: the last cloud was refused, or that in force is old; empty: nothing."""
        if self._trouble:
            return f"cloud refused, the voxels before stay: {self._trouble}"
        if not self._received:
            return "no cloud received yet"
        if self.age > self._options.stale:
            return f"the cloud is {self.age:.1f} s old; its voxels stay"
        return ""

    def values(self) -> dict[str, object]:
        """Figures for `diagnostics`."""
        found = self._found
        values: dict[str, object] = {"clouds": self._received, "clouds_used": self._used}
        values |= {"clouds_refused": self._refused, "cloud_age_s": self.age}
        if found is not None:
            edge = found.voxels.size[0] if found.voxels is not None else self._options.settings.voxel
            values |= {"cloud_voxels": len(found.voxels or ()), "cloud_voxel_m": edge, "cloud_points": found.points}
            values |= {"cloud_points_outside": found.outside, "cloud_points_own": found.own}
        return values

    def _now(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)

    # on the thread -------------------------------------------------------------------------------------------

    def _load(self) -> None:
        for name in self._robots:
            self._shape(name, Scene())

    def _convert(self, data: bytes, scene: Scene) -> tuple[int, CloudVoxels]:
        message = deserialize_message(data, PointCloud2)
        stamp = self._checked_stamp(Time.from_msg(message.header.stamp).nanoseconds)
        points = points_of(message)
        joints = {name: self._joints_at(name, stamp) for name in self._robots}
        first = next(iter(self._robots))
        frames = Frames(self._robots[first], joints[first])
        add_frames(self._rows, frames)
        T = frames.pose(message.header.frame_id, "cloud: header.frame_id")
        points = points @ T.rotation.T + T.translation
        arms = [(self._shape(name, scene), q) for name, q in joints.items()]

        def near(centers: FloatArray, within: float) -> Any:
            return np.any([shape.near(centers, q, within) for shape, q in arms], axis=0)

        def own(rows: FloatArray, padding: float) -> Any:
            return np.any([shape.own(rows, q, padding) for shape, q in arms], axis=0)

        return stamp, cloud_voxels(points, self._options.settings, near, own)

    def _checked_stamp(self, stamp: int) -> int:
        now = self._now()
        late = 1e-9 * (now - stamp)
        if late < -AHEAD:
            raise InvalidValueError(
                "cloud: header.stamp", f"{-late:.1f} s in the future", "allowed: the clock of this host"
            )
        if late > self._options.stale:
            allowed = f"allowed: up to cloud_stale, {self._options.stale:g} s"
            raise InvalidValueError("cloud: header.stamp", f"{late:.1f} s old", allowed)
        return stamp

    def _joints_at(self, arm: str, stamp: int) -> FloatArray:
        """Joints (dof,) [rad] of an arm when the cloud was made; raises InvalidValueError where they are not known."""
        kept = list(self._joints[arm])
        if not kept:
            raise InvalidValueError(
                f"joints of {arm}", "none received", "allowed: joint_states, to know its own points"
            )
        at, data = min(kept, key=lambda row: abs(row[0] - stamp))
        if abs(at - stamp) > 1e9 * APART:
            apart = f"{1e-9 * abs(at - stamp):.2f} s from the cloud"
            raise InvalidValueError(f"joints of {arm}", apart, f"allowed: up to {APART:g} s, to know its own points")
        return joints_from_message(deserialize_message(data, JointState), self._robots[arm])

    def _shape(self, arm: str, scene: Scene) -> RobotPoints:
        held = tuple(scene.attachments(arm))
        if arm not in self._shapes or self._shapes[arm][0] != held:
            self._shapes[arm] = held, RobotPoints(self._robots[arm], held)
        return self._shapes[arm][1]
