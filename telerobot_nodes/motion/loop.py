"""The control loop's host: a thread of its own, absolute deadlines, real-time priority when permitted.

What belongs here: time, the thread, records in and out. What must never enter: control, messages, logging. Node
and loop meet only in `ControlInbox` and `outbox`, so that they can be moved into two processes.
"""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from telerobot_nodes.core.timing import AbsoluteTimer, Histogram, PeriodStatistics
from telerobot_nodes.core.validation import FloatArray
from telerobot_nodes.core.window import MotionWindow
from telerobot_nodes.motion import control_records as records
from telerobot_nodes.motion.control_records import ControlOutput
from telerobot_nodes.motion.control_step import ControlStep
from telerobot_nodes.motion.exchange import Exchange

PRIORITY = 80  # SCHED_FIFO, above ordinary threads and below the kernel's own


@dataclass(frozen=True)
class Scheduling:
    """How the loop's thread is scheduled, as granted."""

    policy: str  # "SCHED_FIFO" or "SCHED_OTHER"
    priority: int
    reason: str  # why not as asked; else empty


class ControlInbox:
    """What the host writes for the loop; each method is called by one thread only, and never waits."""

    def __init__(self, dof: int) -> None:
        self._dof = dof
        dtypes = {
            "measured": records.measured_dtype(dof),
            "wrench": records.wrench_dtype(),
            "hardware": records.hardware_dtype(),
            "halt": records.halt_dtype(),
            "window": records.window_dtype(dof),
        }
        self.exchanges = {name: Exchange(dtype) for name, dtype in dtypes.items()}
        self._drafts = {name: np.zeros((), dtype) for name, dtype in dtypes.items()}

    def measured(self, at: float, q: FloatArray, qd: FloatArray) -> None:
        """Measured joints (dof,) [rad], [rad/s], received at `at` [s]."""
        self._write("measured", at=at, q=q, qd=qd)

    def wrench(self, at: float, wrench: FloatArray) -> None:
        """Measured wrench (6,) [N], [N m] in SENSOR, received at `at` [s]."""
        self._write("wrench", at=at, wrench=wrench)

    def hardware(self, at: float, state: int, reason: str = "") -> None:
        """State of the arm's face (HardwareState.msg)."""
        self._write("hardware", at=at, state=state, reason=reason.encode()[: records.REASON_BYTES])

    def halt(self, number: int, reason: str) -> None:
        """Stop on the path; the same number again is the same halt."""
        self._write("halt", number=number, reason=reason.encode()[: records.REASON_BYTES])

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


class ControlLoop:
    """Runs a ControlStep every period on its own thread.

    `emit(output)` is called on that thread after every step, to send the setpoint: it must not wait, and must copy
    what it keeps. `outbox` holds the latest output for anybody else (`read_output`).
    """

    def __init__(
        self,
        step: ControlStep,
        emit: Callable[[ControlOutput], None] | None = None,
        priority: int = PRIORITY,
    ) -> None:
        self.control = step
        self.inbox = ControlInbox(step.robot.dof)
        self.outbox = Exchange(step.output.record.dtype)
        self.statistics = PeriodStatistics(step.period)
        self.durations = Histogram()  # [s] from wake-up to output
        self.scheduling = Scheduling("SCHED_OTHER", 0, "not started")
        self.error: BaseException | None = None  # what ended the loop
        self._emit = emit
        self._priority = priority
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._seen = dict.fromkeys(self.inbox.exchanges, 0)
        self._records = {name: np.zeros((), slot.dtype) for name, slot in self.inbox.exchanges.items()}

    @property
    def running(self) -> bool:
        """True while the loop's thread lives."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Start the thread; freezes what the garbage collector knows, so that a collection is short."""
        gc.collect()
        gc.freeze()
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="control_loop", daemon=True)
        self._thread.start()

    def stop(self, timeout: float = 2.0) -> None:
        """Ramp down on the path, then end the thread; within `timeout` [s] all told."""
        if self._thread is None:
            return
        self._stop.set()
        self._thread.join(timeout)

    def read_output(self, into: ControlOutput) -> bool:
        """Copy the latest output `into`; False when there is none yet."""
        return self.outbox.read(into.record) > 0

    # on the loop's thread ---------------------------------------------------------------------------------------

    def _run(self) -> None:
        self.scheduling = _schedule(self._priority)
        timer = AbsoluteTimer(self.control.period)
        try:
            while not self._stop.is_set():
                self._period(timer)
            self.control.stop("the control loop ends")
            while self._moves():
                self._period(timer)
        except BaseException as error:  # noqa: BLE001 - the border of a thread: kept for the host to report
            self.error = error

    def _moves(self) -> bool:
        return bool(np.abs(self.control.output.qd).max() > 1e-6)

    def _period(self, timer: AbsoluteTimer) -> None:
        late = timer.wait()
        now = timer.deadline
        self.statistics.add(now + late, late)
        self._receive(now)
        output = self.control.step(now)
        output.record["missed"] = timer.missed
        if self._emit is not None:
            self._emit(output)
        self.outbox.write(output.record)
        self.durations.add(time.monotonic() - now - late)

    def _receive(self, now: float) -> None:
        control = self.control
        if self._fresh("hardware"):
            record = self._records["hardware"]
            control.hardware(int(record["state"]), records.text(record["reason"].item()))
        if self._fresh("measured"):
            record = self._records["measured"]
            control.measure(float(record["at"]), record["q"], record["qd"])
        if self._fresh("halt"):
            record = self._records["halt"]
            control.halt(now, int(record["number"]), records.text(record["reason"].item()))
        if self._fresh("window"):
            control.offer(now, records.unpack_window(self._records["window"]))

    def _fresh(self, name: str) -> bool:
        """True when another record of this name has come; it is then in `_records`."""
        slot = self.inbox.exchanges[name]
        if slot.count == self._seen[name]:
            return False
        self._seen[name] = slot.read(self._records[name])
        return True


def _schedule(priority: int) -> Scheduling:
    """Ask for SCHED_FIFO on the calling thread; says what was granted."""
    if priority <= 0:
        return Scheduling("SCHED_OTHER", 0, "not asked for")
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except (OSError, AttributeError) as error:
        return Scheduling("SCHED_OTHER", 0, f"real-time priority refused: {error}")
    return Scheduling("SCHED_FIFO", priority, "")
