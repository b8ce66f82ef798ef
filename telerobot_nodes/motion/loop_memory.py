"""The memory control loop and host share: every record of both directions, and the loop's times.

What belongs here: where each record lies. What must never enter: control, clocks, processes. The same layout serves
two threads and two processes; each record has one writer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from telerobot_nodes.core.timing import Histogram, PeriodStatistics
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.core.window import MotionWindow
from telerobot_nodes.motion import control_records as records
from telerobot_nodes.motion.exchange import Exchange
from telerobot_nodes.motion.status_records import status_dtype

_LINE = 64  # bytes: records begin on a cache line of their own


@dataclass(frozen=True)
class Scheduling:
    """How the loop is scheduled, as granted."""

    policy: str  # "SCHED_FIFO" or "SCHED_OTHER"
    priority: int
    reason: str  # why not as asked; else empty
    locked: bool = False  # its memory is never swapped out


def _about_dtype() -> np.dtype[Any]:
    return np.dtype(
        [("policy", "S24"), ("priority", "i8"), ("locked", "i8"), ("reason", "S240"), ("error", "S2000")], align=True
    )


def _inbox_dtypes(dof: int) -> dict[str, np.dtype[Any]]:
    return {
        "measured": records.measured_dtype(dof),
        "wrench": records.wrench_dtype(),
        "hardware": records.hardware_dtype(),
        "halt": records.halt_dtype(),
        "window": records.window_dtype(dof),
        "hand": records.hand_dtype(),
        "field": records.field_dtype(),
    }


def _outbox_dtypes(dof: int) -> dict[str, np.dtype[Any]]:
    return {"output": records.output_dtype(dof), "status": status_dtype(dof), "about": _about_dtype()}


class ControlInbox:
    """What the host writes for the loop; each method is called by one thread only, and never waits."""

    def __init__(self, exchanges: dict[str, Exchange]) -> None:
        self.exchanges = exchanges
        self._drafts = {name: np.zeros((), slot.dtype) for name, slot in exchanges.items()}

    def measured(self, at: float, q: FloatArray, qd: FloatArray) -> None:
        """Measured joints (dof,) [rad], [rad/s], received at `at` [s]."""
        self._write("measured", at=at, q=q, qd=qd)

    def wrench(self, at: float, wrench: FloatArray) -> None:
        """Measured wrench (6,) [N], [N m] in SENSOR, received at `at` [s]."""
        self._write("wrench", at=at, wrench=wrench)

    def hardware(self, at: float, state: int, reason: str = "", gripper: float = float("nan")) -> None:
        """State of the arm's face (HardwareState.msg), measured opening [m]."""
        self._write("hardware", at=at, state=state, reason=reason.encode()[: records.REASON_BYTES], gripper=gripper)

    def halt(self, number: int, reason: str) -> None:
        """Stop on the path; the same number again is the same halt."""
        self._write("halt", number=number, reason=reason.encode()[: records.REASON_BYTES])

    def hand(self, increment: FloatArray) -> None:
        """Motion of the operator's device (6,) [m], [rad] since the last call."""
        draft = self._drafts["hand"]
        draft["total"] += increment
        self.exchanges["hand"].write(draft)

    def field(self, at: float, twist: FloatArray) -> None:
        """Velocity (6,) [m/s], [rad/s] of NOM a force field asks for from `at` [s] on."""
        self._write("field", at=at, twist=twist)

    def window(self, window: MotionWindow) -> None:
        """A motion window; raises InvalidValueError when it does not fit the exchange."""
        draft = self._drafts["window"]
        records.pack_window(window, draft)
        self.exchanges["window"].write(draft)

    def _write(self, name: str, **fields: Any) -> None:
        draft = self._drafts[name]
        for field, value in fields.items():
            draft[field] = value
        self.exchanges[name].write(draft)


class LoopMemory:
    """All records of one loop, over `memory` (default: own) of `size(dof)` bytes, zero before the first use."""

    def __init__(self, dof: int, period: float, memory: memoryview | None = None) -> None:
        memory = memoryview(bytearray(self.size(dof))) if memory is None else memory
        self._at, self._memory = 0, memory
        self.inbox = ControlInbox({name: self._exchange(dtype) for name, dtype in _inbox_dtypes(dof).items()})
        out = {name: self._exchange(dtype) for name, dtype in _outbox_dtypes(dof).items()}
        self.output, self.status, self._about = out["output"], out["status"], out["about"]
        self.statistics = PeriodStatistics(period, self._take(PeriodStatistics.SIZE))
        self.durations = Histogram(self._take(Histogram.SIZE))  # [s] from wake-up to output
        self._draft = np.zeros((), _about_dtype())

    @staticmethod
    def size(dof: int) -> int:
        """Bytes needed for an arm of `dof` joints."""
        dtypes = (_inbox_dtypes(dof) | _outbox_dtypes(dof)).values()
        sizes = [*map(Exchange.size, dtypes), PeriodStatistics.SIZE, Histogram.SIZE]
        return sum(_whole_lines(size) for size in sizes)

    @property
    def scheduling(self) -> Scheduling:
        """What the loop was granted."""
        record = np.zeros((), self._about.dtype)
        if not self._about.read(record):
            return Scheduling("SCHED_OTHER", 0, "not started")
        policy, reason = records.text(record["policy"].item()), records.text(record["reason"].item())
        return Scheduling(policy, int(record["priority"]), reason, bool(record["locked"]))

    @property
    def error(self) -> str:
        """What ended the loop; "" while it runs, and after an end asked for."""
        record = np.zeros((), self._about.dtype)
        self._about.read(record)
        return records.text(record["error"].item())

    def tell(self, scheduling: Scheduling | None = None, error: str = "") -> None:
        """The loop says how it is scheduled, or what ended it."""
        draft = self._draft
        if scheduling is not None:
            draft["policy"], draft["priority"] = scheduling.policy.encode(), scheduling.priority
            draft["reason"], draft["locked"] = scheduling.reason.encode()[:240], scheduling.locked
        draft["error"] = error.encode()[-2000:]
        self._about.write(draft)

    def _take(self, size: int) -> memoryview:
        piece = self._memory[self._at : self._at + size]
        self._at += _whole_lines(size)
        return piece

    def _exchange(self, dtype: np.dtype[Any]) -> Exchange:
        return Exchange(dtype, self._take(Exchange.size(dtype)))


def _whole_lines(size: int) -> int:
    return -(-size // _LINE) * _LINE
