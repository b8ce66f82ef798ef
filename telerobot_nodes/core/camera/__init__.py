"""Pictures of a camera, bounded in bytes, their setting, and the calibration that projects points into them."""

from __future__ import annotations

from telerobot_nodes.core.camera.calibration import Calibration, load_calibration
from telerobot_nodes.core.camera.picture import (
    LEAST_BYTES,
    MOST_BYTES,
    MOST_PIXELS,
    QUALITY_RANGE,
    Encoded,
    Pixels,
    decode,
    encode,
)
from telerobot_nodes.core.camera.setting import BUDGET_RANGE, KEEP, RATE_RANGE, REFUSED, CameraSetting

__all__ = [
    "BUDGET_RANGE",
    "KEEP",
    "LEAST_BYTES",
    "MOST_BYTES",
    "MOST_PIXELS",
    "QUALITY_RANGE",
    "RATE_RANGE",
    "REFUSED",
    "Calibration",
    "CameraSetting",
    "Encoded",
    "Pixels",
    "decode",
    "encode",
    "load_calibration",
]
