"""How many pictures a camera takes, and how many bytes they may have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from telerobot_nodes.core.camera.picture import LEAST_BYTES, MOST_BYTES
from telerobot_nodes.core.values import finite, in_range
from telerobot_nodes.errors import InvalidValueError

RATE_RANGE = (0.0, 30.0)  # [Hz]; 0: no pictures
BUDGET_RANGE = (float(LEAST_BYTES), 30.0 * MOST_BYTES)  # [B/s]
MOST_NAME = 64  # characters
REFUSED = "request refused: "  # begins the problem of a state
KEEP = -1.0  # of a request: rate or budget as it is


@dataclass(frozen=True)
class CameraSetting:
    """`CameraSetting.msg`; validated when made. Raises InvalidValueError naming the field."""

    camera: str = ""
    rate: float = 4.0  # [Hz]
    budget: float = 120_000.0  # [B/s]

    def __post_init__(self) -> None:
        if not isinstance(self.camera, str) or len(self.camera) > MOST_NAME or not self.camera.isprintable():
            raise InvalidValueError("camera", self.camera, f"allowed: up to {MOST_NAME} printable characters")
        in_range(self.rate, "camera rate", *RATE_RANGE, unit="Hz")
        in_range(self.budget, "camera budget", *BUDGET_RANGE, unit="B/s")
        if self.rate * LEAST_BYTES > self.budget:
            least = f"{self.rate * LEAST_BYTES:g} or more at {self.rate:g} Hz, {LEAST_BYTES} B for each picture"
            raise InvalidValueError("camera budget", self.budget, f"allowed: {least}")

    @classmethod
    def of_message(cls, message: Any) -> CameraSetting:
        """In force, of a CameraSetting.msg. Raises InvalidValueError naming the field."""
        return cls(str(message.camera), float(message.rate), float(message.budget))

    def changed(self, message: Any) -> CameraSetting:
        """With what a CameraSetting.msg requests. Raises InvalidValueError naming the field."""
        rate, budget = finite(message.rate, "camera rate"), finite(message.budget, "camera budget")
        return CameraSetting(
            str(message.camera) or self.camera,
            self.rate if rate == KEEP else rate,
            self.budget if budget == KEEP else budget,
        )

    @property
    def most_bytes(self) -> int:
        """Largest picture [B]."""
        return int(min(MOST_BYTES, self.budget / self.rate)) if self.rate else MOST_BYTES

    def __str__(self) -> str:
        which = f"camera {self.camera}" if self.camera else "camera"
        return f"{which} {self.rate:g} Hz, {1e-3 * self.budget:g} kB/s"
