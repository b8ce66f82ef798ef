"""Point clouds: the points of a sensor_msgs/PointCloud2 message, in any layout of its fields.

Reads the fields of the message without importing it. Nothing is copied before the points that are not numbers are gone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.errors import InvalidValueError

FLOAT32, FLOAT64 = 7, 8  # sensor_msgs/PointField
KINDS = {FLOAT32: "f4", FLOAT64: "f8"}
MOST_POINTS = 2_000_000


def points_of(message: Any) -> FloatArray:
    """The points (n, 3) [m] of a PointCloud2 message in its own frame, without those that are not finite.

    x, y and z may be float32 or float64 at any place of a point, in either byte order; the cloud may have rows, with
    bytes between them. Raises InvalidValueError on missing fields, sizes that contradict each other, more than
    MOST_POINTS points, and a cloud without a finite point.
    """
    width, height = int(message.width), int(message.height)
    if not width * height:
        raise InvalidValueError("cloud: width, height", (width, height), "allowed: 1 or more points")
    if width * height > MOST_POINTS:
        raise InvalidValueError("cloud: width, height", (width, height), f"allowed: up to {MOST_POINTS:,} points")
    step, row = int(message.point_step), int(message.row_step)
    layout = _layout(message, step)
    data = np.frombuffer(message.data, dtype=np.uint8)
    if row < width * step:
        raise InvalidValueError("cloud: row_step", row, f"allowed: {width * step} or more, width x point_step")
    least, most = row * (height - 1) + width * step, row * height
    if not least <= data.size <= most:
        allowed = f"{least}" if least == most else f"{least} .. {most}"
        raise InvalidValueError("cloud: data (length)", data.size, f"allowed: {allowed}, height x row_step")
    cells: npt.NDArray[np.void] = np.ndarray((height, width), layout, data.data, 0, (row, step))
    columns = [cells[name].reshape(-1).astype(np.float64) for name in "xyz"]
    points = np.stack(columns, axis=1)
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        raise InvalidValueError("cloud: points", "none is finite", "allowed: 1 or more finite points")
    return points


def _layout(message: Any, step: int) -> np.dtype[np.void]:
    """Where x, y and z are in a point of `step` bytes, and how they are written."""
    fields = {entry.name: entry for entry in message.fields}
    order = ">" if message.is_bigendian else "<"
    formats, offsets = [], []
    for name in "xyz":
        if name not in fields:
            raise InvalidValueError("cloud: fields", ", ".join(fields) or "none", "allowed: x, y, z among them")
        kind, offset = int(fields[name].datatype), int(fields[name].offset)
        if kind not in KINDS:
            raise InvalidValueError(f"cloud: field {name}: datatype", kind, "allowed: 7 FLOAT32, 8 FLOAT64")
        if int(fields[name].count) not in (0, 1):
            raise InvalidValueError(f"cloud: field {name}: count", int(fields[name].count), "allowed: 1")
        size = np.dtype(KINDS[kind]).itemsize
        if offset + size > step:
            raise InvalidValueError(
                f"cloud: field {name}: offset", offset, f"allowed: up to {step - size}, as point_step is {step}"
            )
        formats.append(order + KINDS[kind])
        offsets.append(offset)
    return np.dtype({"names": list("xyz"), "formats": formats, "offsets": offsets, "itemsize": step})
