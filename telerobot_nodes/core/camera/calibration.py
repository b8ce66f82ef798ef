"""Calibration of a camera: from points of WORLD to pixels.

The camera frame is the optical one: z ahead, x right, y down. The middle of the first pixel is (0, 0). Fields and the
two models of distortion are those of `sensor_msgs/CameraInfo` [OpenCV, Camera Calibration and 3D Reconstruction].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from telerobot_nodes.core.config import FileMapping, read_yaml
from telerobot_nodes.core.values import FloatArray, finite_array, in_range, one_of, se3_from_pose
from telerobot_nodes.errors import InvalidValueError

MODELS = {"": (0,), "plumb_bob": (0, 4, 5), "rational_polynomial": (0, 8)}  # model: counts of coefficients
NEAR = 0.02  # [m] nearer points are not in the picture
MARGIN = 1.5  # [-] half pictures beside the picture; farther out a polynomial of the distortion may turn back
MOST_SIDE = 8192  # [px]
MOST_FOCAL = 1e5  # [px]
MOST_DISTORTION = 1e3  # [-]


@dataclass(frozen=True)
class Calibration:
    """Intrinsic parameters of one camera [px]. Raises InvalidValueError naming the field."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float
    model: str = ""  # of the distortion
    distortion: FloatArray = field(default_factory=lambda: np.empty(0))  # k1 k2 p1 p2 k3 [k4 k5 k6]

    def __post_init__(self) -> None:
        for name in ("width", "height"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise InvalidValueError(name, value, "allowed: a whole number of pixels")
            in_range(value, name, 1, MOST_SIDE, "px")
        for name in ("fx", "fy"):
            in_range(getattr(self, name), name, 1.0, MOST_FOCAL, "px")
        in_range(self.cx, "cx", -self.width, 2.0 * self.width, "px")
        in_range(self.cy, "cy", -self.height, 2.0 * self.height, "px")
        one_of(self.model, "distortion_model", tuple(MODELS))
        distortion = finite_array(self.distortion, "d").reshape(-1)
        if distortion.size not in MODELS[self.model]:
            counts = ", ".join(map(str, MODELS[self.model]))
            raise InvalidValueError("d (length)", distortion.size, f"allowed with {self.model or 'no model'}: {counts}")
        if np.abs(distortion).max(initial=0.0) > MOST_DISTORTION:
            raise InvalidValueError("d", float(np.abs(distortion).max()), f"allowed: up to {MOST_DISTORTION:g}")
        distortion.setflags(write=False)
        object.__setattr__(self, "distortion", distortion)

    @classmethod
    def of_info(cls, message: Any) -> Calibration:
        """Of a `sensor_msgs/CameraInfo`, or of what has its fields. Raises InvalidValueError naming the field."""
        k = finite_array(message.k, "k").reshape(-1)
        if k.size != 9:
            raise InvalidValueError("k (length)", k.size, "allowed: 9 values, a matrix row by row")
        for at, wanted in ((1, 0.0), (3, 0.0), (6, 0.0), (7, 0.0), (8, 1.0)):
            if k[at] != wanted:
                raise InvalidValueError(f"k[{at}]", float(k[at]), f"allowed: {wanted:g}")
        return cls(
            int(message.width),
            int(message.height),
            float(k[0]),
            float(k[4]),
            float(k[2]),
            float(k[5]),
            str(message.distortion_model),
            np.array(message.d, dtype=float),
        )

    @classmethod
    def of_view(cls, width: int, height: int, field_of_view: float) -> Calibration:
        """Of a camera without distortion; `field_of_view` [rad] from the upper to the lower edge."""
        in_range(field_of_view, "field_of_view", 0.05, 3.0, "rad")
        focal = 0.5 * height / float(np.tan(0.5 * field_of_view))
        return cls(width, height, focal, focal, 0.5 * (width - 1), 0.5 * (height - 1))

    @property
    def matrix(self) -> list[float]:
        """Row by row, (9,)."""
        return [float(v) for v in (self.fx, 0.0, self.cx, 0.0, self.fy, self.cy, 0.0, 0.0, 1.0)]

    def check_size(self, width: int, height: int) -> None:
        """Raise InvalidValueError unless a picture has the size of this calibration."""
        for name, own, of_picture in (("width", self.width, width), ("height", self.height, height)):
            if own != of_picture:
                raise InvalidValueError(name, own, f"allowed: {of_picture}, as the picture")

    def scaled(self, width: int, height: int) -> Calibration:
        """The calibration of the same picture at another size."""
        x, y = width / self.width, height / self.height
        cx, cy = (self.cx + 0.5) * x - 0.5, (self.cy + 0.5) * y - 0.5
        return Calibration(width, height, self.fx * x, self.fy * y, cx, cy, self.model, self.distortion)

    def project(self, points: FloatArray, camera: FloatArray) -> FloatArray:
        """Pixels (n, 2) of points (n, 3) [m] in WORLD; nan: behind the camera or far beside the picture.

        `camera`: its pose (7,) in WORLD.
        """
        T_world_camera = se3_from_pose(camera, "camera pose")
        seen = (np.reshape(points, (-1, 3)) - T_world_camera.translation) @ T_world_camera.rotation
        ahead = seen[:, 2] > NEAR
        depth = np.where(ahead, seen[:, 2], 1.0)
        x, y = seen[:, 0] / depth, seen[:, 1] / depth
        inside = ahead & self._near_picture(x, y)
        x, y = self._distorted(np.where(inside, x, 0.0), np.where(inside, y, 0.0))
        pixels = np.column_stack((self.fx * x + self.cx, self.fy * y + self.cy))
        pixels[~inside] = np.nan
        return pixels

    def _near_picture(self, x: FloatArray, y: FloatArray) -> FloatArray:
        beside_x, beside_y = MARGIN * self.width / self.fx, MARGIN * self.height / self.fy
        return np.asarray((np.abs(x) < beside_x) & (np.abs(y) < beside_y))

    def _distorted(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        if not self.distortion.any():
            return x, y
        k1, k2, p1, p2, k3, k4, k5, k6 = np.pad(self.distortion, (0, 8 - self.distortion.size))
        r2 = x * x + y * y
        radial = (1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))) / (1.0 + r2 * (k4 + r2 * (k5 + r2 * k6)))
        with_x = x * radial + 2.0 * p1 * x * y + p2 * (r2 + 2.0 * x * x)
        with_y = y * radial + p1 * (r2 + 2.0 * y * y) + 2.0 * p2 * x * y
        return with_x, with_y


@dataclass(frozen=True)
class _Info:
    """The fields of a `sensor_msgs/CameraInfo` that the calibration needs."""

    width: int
    height: int
    k: list[float]
    distortion_model: str
    d: list[float]


def load_calibration(path: Path) -> Calibration:
    """Of a file as `camera_calibration` writes it. Raises ParameterFileError naming file, line and key."""
    file = read_yaml(path)
    try:
        info = _Info(
            _whole(file, "image_width"),
            _whole(file, "image_height"),
            _numbers(file, "camera_matrix"),
            str(file.get("distortion_model", "")),
            _numbers(file, "distortion_coefficients") if "distortion_coefficients" in file else [],
        )
        return Calibration.of_info(info)
    except InvalidValueError as error:
        keys = {"width": "image_width", "height": "image_height", "distortion_model": "distortion_model"}
        key = keys.get(error.field, "distortion_coefficients" if error.field.startswith("d") else "camera_matrix")
        file.reject(key, f"{error.field}: {error.value!r}: {error.allowed}")


def _whole(file: FileMapping, key: str) -> int:
    value = file.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        file.reject(key, f"{value!r}: a whole number of pixels is needed")
    return value


def _numbers(file: FileMapping, key: str) -> list[float]:
    matrix = file.get(key)
    values = matrix.get("data") if isinstance(matrix, FileMapping) else None
    if not isinstance(values, list) or not all(type(value) in (int, float) for value in values):
        file.reject(key, "`data: [...]` with numbers is needed")
    return [float(value) for value in values]
