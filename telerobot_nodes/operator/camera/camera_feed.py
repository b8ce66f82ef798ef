"""What comes from the camera: state, calibrations, poses, pictures, which arrive one by one and in any order.

Stamps [ns] are of the robot's clock and are compared with each other only. What must never enter: ROS, widgets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from telerobot_nodes.core.camera import Calibration, CameraSetting, decode
from telerobot_nodes.core.values import FloatArray, poses
from telerobot_nodes.errors import InvalidValueError

K = TypeVar("K")
V = TypeVar("V")
KEPT = 64  # poses that wait for their picture, and calibrations
MOST_CAMERAS = 32
MOST_TEXT = 300  # characters


@dataclass(frozen=True)
class CameraState:
    """Setting in force, the cameras there are, and why there is no picture."""

    setting: CameraSetting
    cameras: tuple[str, ...]
    problem: str = ""

    def __post_init__(self) -> None:
        if len(self.cameras) > MOST_CAMERAS:
            raise InvalidValueError("cameras (length)", len(self.cameras), f"allowed: up to {MOST_CAMERAS}")
        object.__setattr__(self, "problem", self.problem[:MOST_TEXT])


@dataclass(frozen=True)
class Picture:
    """A picture that was read without an error."""

    camera: str
    stamp: int  # [ns] of the robot's clock
    data: bytes  # JPEG or PNG
    width: int
    height: int


@dataclass
class CameraFeed:
    """The newest of everything. Methods raise InvalidValueError naming the field, and keep what was there."""

    state: CameraState | None = None
    picture: Picture | None = None
    received: float = 0.0  # [s] when the picture came
    problem: str = ""  # with the latest picture or calibration
    _calibrations: dict[str, Calibration] = field(default_factory=dict)
    _refused: dict[str, str] = field(default_factory=dict)  # camera: what is wrong with its calibration
    _poses: dict[int, FloatArray] = field(default_factory=dict)
    _clock: tuple[int, float] | None = None  # stamp of the robot [ns], when it came [s]

    def receive_state(self, state: CameraState) -> None:
        """Take the state of the camera's node."""
        self.state = state

    def receive_calibration(self, camera: str, calibration: Calibration) -> None:
        """Take the calibration of a camera."""
        _keep(self._calibrations, camera, calibration)
        self._refused.pop(camera, None)

    def refuse_calibration(self, camera: str, error: InvalidValueError) -> None:
        """Keep why a calibration cannot be used; pictures of its camera have no overlay."""
        self._calibrations.pop(camera, None)
        _keep(self._refused, camera, f"calibration refused: {error}"[:MOST_TEXT])

    def receive_pose(self, stamp: int, pose: FloatArray) -> None:
        """Take where the camera was, (7,) in WORLD, when the picture of this stamp was taken."""
        _keep(self._poses, stamp, poses(pose, "camera pose")[0])

    @property
    def latest_pose(self) -> FloatArray:
        """(7,) in WORLD, with the picture taken last of those whose pose came; empty: none."""
        return self._poses[max(self._poses)].copy() if self._poses else np.empty(0)

    def receive_picture(self, camera: str, stamp: int, data: bytes, now: float) -> None:
        """Take a picture; one that is damaged, without end or too large is refused and the last one stays."""
        try:
            pixels = decode(data)
        except InvalidValueError as error:
            self.problem = f"picture refused: {error}"[:MOST_TEXT]
            raise
        height, width = pixels.shape[:2]
        self.picture, self.received, self.problem = Picture(camera, stamp, data, width, height), now, ""

    def receive_clock(self, stamp: int, now: float) -> None:
        """Take the stamp [ns] of any message that the robot's side sends all the time."""
        self._clock = stamp, now

    def age(self, now: float, round_trip: float) -> float | None:
        """Age of the picture [s]; `round_trip` [s], negative: not known. None: there is no picture or no clock."""
        if self.picture is None or self._clock is None:
            return None
        stamp, came = self._clock
        return 1e-9 * (stamp - self.picture.stamp) + (now - came) + 0.5 * max(round_trip, 0.0)

    def lens(self) -> tuple[Calibration, FloatArray] | str:
        """Calibration and pose (7,) of the picture, or why nothing can be drawn into it."""
        picture = self.picture
        if picture is None:
            return "no picture yet"
        calibration = self._calibrations.get(picture.camera)
        if calibration is None:
            return self._refused.get(picture.camera, f"no calibration of camera {picture.camera}")
        try:
            calibration.check_size(picture.width, picture.height)
        except InvalidValueError as error:
            return f"calibration refused: {error}"
        pose = self._poses.get(picture.stamp)
        return (calibration, pose) if pose is not None else "the pose of this picture has not come"


def _keep(kept: dict[K, V], key: K, value: V) -> None:
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > KEPT:
        kept.pop(next(iter(kept)))
