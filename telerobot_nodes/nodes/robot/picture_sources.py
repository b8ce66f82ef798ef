"""Where the node `camera` has its pictures from: the simulated scene, or a camera's own topic."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from telerobot_nodes.core.camera import Calibration, Pixels, decode, load_calibration
from telerobot_nodes.core.robot import LinkFrames, RobotModel
from telerobot_nodes.core.values import FloatArray, finite_array, pose_from_se3, se3_from_pose
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.hardware.camera import OVERVIEW, WRIST, SceneCamera, TwinScene

WORLD = "world"
OUTSIDE = "outside"  # name of a camera with a topic of its own
KEPT = 1000  # measurements, 5 s of them


@dataclass(frozen=True)
class Shot:
    """A picture, how and from where it was taken."""

    pixels: Pixels
    calibration: Calibration
    pose: FloatArray  # (7,) of the optical frame in WORLD
    stamp: Any


class Joints:
    """Measured joints of the last seconds by time. Raises InvalidValueError for what fits no arm of this robot."""

    def __init__(self, robot: RobotModel) -> None:
        self._robot = robot
        self._order: tuple[list[str], list[int]] = ([], [])
        self._kept: deque[tuple[int, FloatArray, Any]] = deque(maxlen=KEPT)

    def receive(self, message: Any) -> None:
        """Take a JointState."""
        if message.name != self._order[0]:
            missing = sorted(set(self._robot.joint_names) - set(message.name))
            if missing:
                raise InvalidValueError("joint_states.name", list(message.name), f"allowed: with {', '.join(missing)}")
            names = list(message.name)
            self._order = names, [names.index(name) for name in self._robot.joint_names]
        q = finite_array(message.position, "joint_states.position", len(message.name))[self._order[1]]
        self._kept.append((nanoseconds(message.header.stamp), q, message.header.stamp))

    def latest(self) -> tuple[FloatArray, Any] | None:
        """The newest measurement (dof,) [rad] and its stamp; None: there is none yet."""
        return self._kept[-1][1:] if self._kept else None

    def at(self, stamp: Any) -> FloatArray | None:
        """The measurement (dof,) [rad] nearest to a stamp; None: there is none yet."""
        when = nanoseconds(stamp)
        return min(self._kept, key=lambda row: abs(row[0] - when))[1] if self._kept else None


class PictureSource(Protocol):
    """Something that takes pictures."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its cameras, the first one used at the start."""

    def take(self, camera: str) -> Shot | None:
        """The picture now; None: there is no new one. Raises InvalidValueError for a picture that is damaged."""


class SimulatedCameras:
    """Cameras of the simulated scene. Raises NoDisplayError where nothing draws off screen."""

    names: tuple[str, ...] = (OVERVIEW, WRIST)

    def __init__(self, robot: RobotModel, joints: Joints, size: tuple[int, int], task_board: bool) -> None:
        self._joints, self._size = joints, size
        self.scene = TwinScene(robot, task_board)
        self._camera = SceneCamera(self.scene, *size)

    def take(self, camera: str) -> Shot | None:
        """The scene as measured last."""
        measured = self._joints.latest()
        if measured is None:
            return None
        self.scene.place(measured[0])
        view = self.scene.view(camera)
        calibration = Calibration.of_view(*self._size, view.field_of_view)
        return Shot(self._camera.draw(view), calibration, view.pose, measured[1])

    def receive_gripper(self, message: Any) -> None:
        """Take a HardwareState."""
        self.scene.open_gripper(float(finite_array([message.gripper], "gripper")[0]))

    def receive_objects(self, message: Any) -> None:
        """Take the loose objects of the scene."""
        self.scene.place_objects({row.name: finite_array(row.pose, row.name, 7) for row in message.obstacles})

    def receive_bodies(self, message: Any) -> None:
        """Take the hinges and slides of the scene."""
        self.scene.turn(message.name, finite_array(message.position, "scene.position", len(message.name)).tolist())


class OutsideCamera:
    """A camera with a topic of its own. Raises ParameterFileError or InvalidValueError naming file, key, field."""

    names: tuple[str, ...] = (OUTSIDE,)

    def __init__(self, robot: RobotModel, joints: Joints, calibration: Path, link: str, mount: FloatArray) -> None:
        self._joints = joints
        self._calibration = load_calibration(calibration)
        self._links = LinkFrames(robot)
        if link not in (WORLD, *self._links.names):
            raise InvalidValueError("mount", link, f"allowed: {WORLD}, {', '.join(self._links.names)}")
        self._link, self._T_link_camera = link, se3_from_pose(mount, "mount_pose")
        self._newest: Any = None

    def receive(self, message: Any) -> None:
        """Take a CompressedImage; only the newest counts."""
        self._newest = message

    def take(self, camera: str) -> Shot | None:
        """The newest picture, once."""
        message, self._newest = self._newest, None
        if message is None:
            return None
        pixels = decode(bytes(message.data))
        self._calibration.check_size(pixels.shape[1], pixels.shape[0])
        pose = self._pose(message.header.stamp)
        return None if pose is None else Shot(pixels, self._calibration, pose, message.header.stamp)

    def _pose(self, stamp: Any) -> FloatArray | None:
        if self._link == WORLD:
            return pose_from_se3(self._T_link_camera)
        q = self._joints.at(stamp)
        if q is None:
            return None
        T_world_link = se3_from_pose(self._links.poses(q)[self._links.names.index(self._link)], self._link)
        return np.array(pose_from_se3(T_world_link * self._T_link_camera))


def nanoseconds(stamp: Any) -> int:
    """A ROS time [ns]."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
