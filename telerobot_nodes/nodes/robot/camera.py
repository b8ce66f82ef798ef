"""`camera`: pictures of the arm for the operator, within a rate and a byte budget [US5231693]."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from sensor_msgs.msg import CameraInfo, CompressedImage

from telerobot.msg import CameraSetting as CameraSettingMessage
from telerobot_nodes.core.camera import BUDGET_RANGE, QUALITY_RANGE, RATE_RANGE, REFUSED, CameraSetting, Encoded, encode
from telerobot_nodes.core.config import NodeOptions, parameter
from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.core.values import one_of
from telerobot_nodes.errors import InvalidValueError, TelerobotError
from telerobot_nodes.graph import SIMULATED
from telerobot_nodes.hardware.camera import NoDisplayError
from telerobot_nodes.nodes.framework import GraphNode, Health, node_parameters, run_node
from telerobot_nodes.nodes.messages import convert
from telerobot_nodes.nodes.robot.picture_sources import (
    WORLD,
    Joints,
    OutsideCamera,
    PictureSource,
    Shot,
    SimulatedCameras,
)

TICK_PERIOD = 1.0 / 60.0  # [s] between looks whether a picture is due
STATE_PERIOD = 1.0  # [s]
NICENESS = 10  # every other node of the host comes first


@dataclass(frozen=True)
class CameraParameters:
    """Parameters of the node."""

    camera: str = parameter("", doc="camera at the start: overview, wrist; empty: the first")
    rate: float = parameter(4.0, "Hz", *RATE_RANGE, doc="pictures; an operator may request another rate")
    budget: float = parameter(120_000.0, "B/s", *BUDGET_RANGE, doc="most bytes of pictures")
    width: int = parameter(640, "px", 64, 1920, doc="of a simulated picture")
    height: int = parameter(480, "px", 48, 1080, doc="of a simulated picture")
    quality: int = parameter(80, "-", *QUALITY_RANGE, doc="of the JPEG, less where the budget asks for it")
    task_board: bool = parameter(True, doc="draw the simulated arm's task board")
    source: str = parameter("", doc="topic of a camera (sensor_msgs/CompressedImage); empty: simulated")
    calibration: str = parameter("", doc="file of that camera, as camera_calibration writes it")
    mount: str = parameter(WORLD, doc="link that carries that camera, or world")
    mount_pose: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), doc="its optical frame in the frame of `mount`: x y z qx qy qz qw"
    )


class CameraNode(GraphNode):
    """Measured joints in; pictures with pose and calibration out."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        self._parameters = node_parameters(self, CameraParameters)
        self._state = self.publisher("camera/state")
        self._info = self.publisher("camera/camera_info")
        self._pose = self.publisher("camera/pose")
        self._picture = self.publisher("camera/image/compressed")
        self._problem = ""
        self._sent = self._bytes = 0
        self._due = 0.0
        self._source = self._open()
        names = self._source.names if self._source is not None else ()
        first = self._parameters.camera or next(iter(names), "")
        if names:
            one_of(first, "camera", names)
        self._setting = CameraSetting(first, self._parameters.rate, self._parameters.budget)
        self.subscribe("camera/request", self._on_request)
        self.every(TICK_PERIOD, self._tick)
        self.every(STATE_PERIOD, self._publish_state)

    def _open(self) -> PictureSource | None:
        """The source of the pictures, connected; None, and the reason kept, where nothing draws off screen."""
        chosen, robot = self._parameters, load_robot(self.options.robot)
        joints = Joints(robot)
        self.subscribe("joint_states", joints.receive)
        if chosen.source and self.options.graph not in SIMULATED:
            if not chosen.calibration:
                raise InvalidValueError("calibration", "", "allowed: a file, with `source`")
            mount = np.array(chosen.mount_pose)
            outside = OutsideCamera(robot, joints, Path(chosen.calibration), chosen.mount, mount)
            self.subscribe_outside(chosen.source, "sensor_msgs/msg/CompressedImage", outside.receive)
            return outside
        try:
            simulated = SimulatedCameras(robot, joints, (chosen.width, chosen.height), chosen.task_board)
        except NoDisplayError as error:
            self._problem = str(error)
            self.get_logger().warning(f"no pictures: {error}")
            return None
        self.subscribe("hardware_interface/state", simulated.receive_gripper)
        self.subscribe("hardware_interface/objects", simulated.receive_objects)
        self.subscribe("hardware_interface/scene", simulated.receive_bodies)
        return simulated

    def _on_request(self, message: Any) -> None:
        try:
            asked = self._setting.changed(message)
            if self._source is not None:
                one_of(asked.camera, "camera", self._source.names)
        except InvalidValueError as error:
            self._problem = f"{REFUSED}{error}"
            raise
        else:
            self._setting, self._due = asked, 0.0
        finally:
            self._publish_state()

    def _tick(self) -> None:
        now = self.now()
        if self._source is None or self._setting.rate == 0.0 or now < self._due:
            return
        self._due = max(self._due + 1.0 / self._setting.rate, now)
        try:
            shot = self._source.take(self._setting.camera)
            if shot is not None:
                self._publish(shot, encode(shot.pixels, self._setting.most_bytes, self._parameters.quality))
                self._problem = ""
            elif not self._sent:
                self._problem = "no measured joints and no picture yet"
        except TelerobotError as error:
            self._problem = str(error)
            self.note_refusal(error)

    def _publish(self, shot: Shot, picture: Encoded) -> None:
        calibration = shot.calibration.scaled(picture.width, picture.height)
        info = CameraInfo(
            width=picture.width,
            height=picture.height,
            distortion_model=calibration.model or "plumb_bob",
            d=convert.doubles(calibration.distortion if calibration.model else np.zeros(5)),
            k=convert.doubles(calibration.matrix),
            r=convert.doubles(np.eye(3).ravel()),
            p=convert.doubles(np.column_stack((np.reshape(calibration.matrix, (3, 3)), np.zeros(3))).ravel()),
        )
        image = CompressedImage(format="jpeg", data=convert.octets(np.frombuffer(picture.data, np.uint8)))
        for message in (info, image):
            message.header.stamp, message.header.frame_id = shot.stamp, self._setting.camera
        self._info.publish(info)
        self._pose.publish(convert.pose_stamped(shot.pose, "world", shot.stamp))
        self._picture.publish(image)
        self._sent += 1
        self._bytes += len(picture.data)

    def _publish_state(self) -> None:
        setting = self._setting
        self._state.publish(
            CameraSettingMessage(
                stamp=self.stamp(),
                camera=setting.camera,
                rate=float(setting.rate),
                budget=float(setting.budget),
                cameras=list(self._source.names) if self._source is not None else [],
                problem=self._problem,
            )
        )

    def health(self) -> Health:
        """Setting, pictures and bytes sent, and why there is no picture."""
        level = DiagnosticStatus.WARN if self._problem else DiagnosticStatus.OK
        return Health(level, self._problem or str(self._setting), {"pictures": self._sent, "bytes": self._bytes})


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    os.nice(NICENESS)
    return run_node(CameraNode, options)
