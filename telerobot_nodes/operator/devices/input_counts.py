"""Counts of device samples on their way into the plan queue.

The queue takes the stamp of a sample for the time at which the hand was there, and judges by it what is a jump of the
tracker. Without a stamp it takes the time of receipt, and allows for a jitter of 10 ms. A queue that cannot keep up
drops what is too late: the arm follows the hand of now, or it waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LATE = 0.02  # [s] from a sample's time to its receipt: twice the jitter that the filter allows for


@dataclass
class InputCounts:
    """Device samples that one queue has received, of those that one device has sent."""

    received: int = 0
    late: int = 0  # received more than LATE after they were taken
    worst: float = 0.0  # [s] largest lateness
    sent: int = 0  # by the device; 0: not known
    dropped: int = 0  # of those late: too late to be followed

    def receive(self, lateness: float, too_late: float) -> bool:
        """Count one sample, received `lateness` [s] after it was taken; False when that is more than `too_late` [s]."""
        dropped = lateness > too_late
        self.received += 1
        self.late += lateness > LATE
        self.dropped += dropped
        self.worst = max(self.worst, lateness)
        return not dropped

    def diagnostics(self) -> dict[str, object]:
        """The queue's part, for `diagnostics`."""
        return {
            "samples_received": self.received,
            "samples_late": self.late,
            "samples_dropped": self.dropped,
            "samples_worst_ms": 1e3 * self.worst,
        }

    @classmethod
    def of(cls, queue: Mapping[str, str], device: Mapping[str, str]) -> InputCounts:
        """Counts from the diagnostics of `path_plan_queue` and `operator_input`; 0 for what they do not contain."""
        received, late = int(queue.get("samples_received", 0)), int(queue.get("samples_late", 0))
        worst, sent = 1e-3 * float(queue.get("samples_worst_ms", 0.0)), int(device.get("poses_sent", 0))
        return cls(received, late, worst, sent, int(queue.get("samples_dropped", 0)))

    def __str__(self) -> str:
        received = f"{self.received} of {self.sent} samples received" if self.sent else f"{self.received} samples"
        late = f"{received}, {self.late} late" + (f" by up to {1e3 * self.worst:.0f} ms" if self.late else "")
        return late + (f", {self.dropped} too late to be followed" if self.dropped else "")
