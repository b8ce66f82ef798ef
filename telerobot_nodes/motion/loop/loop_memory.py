"""The memory that the control loop and its host share: the records of both directions, and the loop's timing.

What belongs here: the place of each record. What must never enter: control, clocks, processes. The same layout serves
two threads and two processes; each record has one writer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from telerobot_nodes.core.memory import HaltSlot, Mailbox
from telerobot_nodes.core.protocol import MotionWindow
from telerobot_nodes.core.timing import Histogram, PeriodStatistics
from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.motion.loop import control_records as records
from telerobot_nodes.motion.loop.status_records import status_dtype

MOST = np.iinfo(np.int64).max
_LINE = 64  # bytes of a cache line; each record begins on one


@dataclass(frozen=True)
class Scheduling:
    """How the loop is scheduled."""

    policy: str  # "SCHED_FIFO" or "SCHED_OTHER"
    priority: int
    reason: str  # why not as requested; else empty
    locked: bool = False  # its memory is not swapped out


def _about_dtype() -> np.dtype[Any]:
    return np.dtype(
        [("policy", "S24"), ("priority", "i8"), ("locked", "i8"), ("reason", "S240"), ("error", "S2000")], align=True
    )


def _inbox_dtypes(dof: int) -> dict[str, np.dtype[Any]]:
    return {
        "measured": records.measured_dtype(dof),
        "wrench": records.wrench_dtype(),
        "hardware": records.hardware_dtype(),
        "resume": records.resume_dtype(),
        "window": records.window_dtype(dof),
        "device": records.device_dtype(),
        "field": records.field_dtype(),
    }


def _outbox_dtypes(dof: int) -> dict[str, np.dtype[Any]]:
    return {"output": records.output_dtype(dof), "status": status_dtype(dof), "about": _about_dtype()}


class ControlInbox:
    """The host's inputs to the loop. Only one thread may call each method; none waits."""

    def __init__(self, mailboxes: dict[str, Mailbox]) -> None:
        self.mailboxes = mailboxes
        self._drafts = {name: np.zeros((), mailbox.dtype) for name, mailbox in mailboxes.items()}

    def measured(self, at: float, q: FloatArray, qd: FloatArray) -> None:
        """Write measured joints (dof,) [rad], [rad/s], received at `at` [s]."""
        self._write("measured", at=at, q=q, qd=qd)

    def wrench(self, at: float, wrench: FloatArray) -> None:
        """Write the measured wrench (6,) [N], [N m] in SENSOR, received at `at` [s]."""
        self._write("wrench", at=at, wrench=wrench)

    def hardware(
        self,
        at: float,
        state: int,
        reason: str = "",
        gripper: float = math.nan,
        gripper_reference: float = math.nan,
        setpoint: int = 0,
    ) -> None:
        """Write the hardware's state, measured and commanded opening [m], and the number of the setpoint followed last.

        Values of HardwareState.msg.
        """
        fingers = {"gripper": gripper, "gripper_reference": gripper_reference}
        number = min(setpoint, MOST)  # a message has room for more; this loop never sent such a one
        self._write("hardware", at=at, state=state, reason=records.encoded(reason), setpoint=number, **fingers)

    def resume(self, count: int) -> None:
        """Write the end of the halt of this count (0 .. 2^64 - 1)."""
        self._write("resume", count=count)

    def device(self, increment: FloatArray) -> None:
        """Add the motion of the operator's device (6,) [m], [rad] since the last call."""
        draft = self._drafts["device"]
        draft["total"] += increment
        self.mailboxes["device"].write(draft)

    def field(self, at: float, twist: FloatArray) -> None:
        """Write the velocity (6,) [m/s], [rad/s] of NOM from a force field, computed at `at` [s]."""
        self._write("field", at=at, twist=twist)

    def window(self, window: MotionWindow) -> None:
        """Write a motion window. Raises InvalidValueError if it does not fit the record."""
        draft = self._drafts["window"]
        records.pack_window(window, draft)
        self.mailboxes["window"].write(draft)

    def _write(self, name: str, **fields: Any) -> None:
        draft = self._drafts[name]
        for field, value in fields.items():
            draft[field] = value
        self.mailboxes[name].write(draft)


class LoopMemory:
    """All records of one loop in `memory` (default: own) of `size(dof)` bytes, zero before the first use.

    `received` lies at its beginning: the process that writes it knows nothing of the rest.
    """

    def __init__(self, dof: int, period: float, memory: memoryview | None = None) -> None:
        memory = memoryview(bytearray(self.size(dof))) if memory is None else memory
        self._at, self._memory = 0, memory
        self.received = HaltSlot(self._take(HaltSlot.SIZE))
        self.inbox = ControlInbox({name: self._mailbox(dtype) for name, dtype in _inbox_dtypes(dof).items()})
        out = {name: self._mailbox(dtype) for name, dtype in _outbox_dtypes(dof).items()}
        self.output, self.status, self._about = out["output"], out["status"], out["about"]
        self.statistics = PeriodStatistics(period, self._take(PeriodStatistics.SIZE))
        self.durations = Histogram(self._take(Histogram.SIZE))  # [s] from wake-up to output
        self._draft = np.zeros((), _about_dtype())

    @staticmethod
    def size(dof: int) -> int:
        """Bytes needed for an arm of `dof` joints."""
        dtypes = (_inbox_dtypes(dof) | _outbox_dtypes(dof)).values()
        sizes = [HaltSlot.SIZE, *map(Mailbox.size, dtypes), PeriodStatistics.SIZE, Histogram.SIZE]
        return sum(_whole_lines(size) for size in sizes)

    @property
    def scheduling(self) -> Scheduling:
        """How the loop is scheduled."""
        record = np.zeros((), self._about.dtype)
        if not self._about.read(record):
            return Scheduling("SCHED_OTHER", 0, "not started")
        policy, reason = records.text(record["policy"].item()), records.text(record["reason"].item())
        return Scheduling(policy, int(record["priority"]), reason, bool(record["locked"]))

    @property
    def error(self) -> str:
        """What ended the loop; "" while it runs and after a requested end."""
        record = np.zeros((), self._about.dtype)
        self._about.read(record)
        return records.text(record["error"].item())

    def report(self, scheduling: Scheduling | None = None, error: str = "") -> None:
        """Write, from the loop, its scheduling or what ended it."""
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

    def _mailbox(self, dtype: np.dtype[Any]) -> Mailbox:
        return Mailbox(dtype, self._take(Mailbox.size(dtype)))


def _whole_lines(size: int) -> int:
    return -(-size // _LINE) * _LINE
