"""The control loop: absolute deadlines, real-time priority when permitted; and its host on a thread of this process.

What belongs here: time, records in and out, orders. What must never enter: control, messages, logging. Host and loop
meet only in `LoopMemory` and `Orders`: `loop_host.py` runs the same loop in a process of its own.
"""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable

import numpy as np

from telerobot_nodes.core.timing import AbsoluteTimer
from telerobot_nodes.motion import control_records as records
from telerobot_nodes.motion.control_records import ControlOutput
from telerobot_nodes.motion.control_step import ControlStep
from telerobot_nodes.motion.loop_memory import LoopMemory, Scheduling
from telerobot_nodes.motion.orders import Begin, Change, ClearTimes, LocalOrders, Order, Orders, Stop, Tare
from telerobot_nodes.motion.status_records import PrimitiveState, unpack_status

PRIORITY = 80  # SCHED_FIFO, above ordinary threads and below the kernel's own
FIELD_TIMEOUT = 0.1  # [s] an older force field does not push


class LoopRunner:
    """Steps a ControlStep every period of its calling thread, between a memory, orders and `emit`.

    `emit(output)` is called every `every` steps, to send the setpoint: it must not wait, and copy what it keeps.
    """

    def __init__(
        self,
        control: ControlStep,
        memory: LoopMemory,
        orders: Orders,
        emit: Callable[[ControlOutput], None] | None = None,
        every: int = 1,
    ) -> None:
        self.control = control
        self.memory = memory
        self._orders = orders
        self._emit = emit
        self._every = every
        self._news = 0
        inbox = memory.inbox.exchanges
        self._seen = dict.fromkeys(inbox, 0)
        self._records = {name: np.zeros((), slot.dtype) for name, slot in inbox.items()}
        self._hand = np.zeros(6)  # total of the device's motion so far
        self._field_at = -np.inf

    def run(self, ends: Callable[[], bool]) -> None:
        """Step until `ends()`, then until the arm is at rest."""
        timer = AbsoluteTimer(self.control.period)
        while not ends():
            self._period(timer)
        self.control.stop("the control loop ends")
        while self._moves():
            self._period(timer)

    def _moves(self) -> bool:
        return bool(np.abs(self.control.output.qd).max() > 1e-6) or self.control.primitives.running

    def _period(self, timer: AbsoluteTimer) -> None:
        late = timer.wait()
        now = timer.deadline
        memory, control = self.memory, self.control
        memory.statistics.add(now + late, late)
        self._receive(now)
        output = control.step(now)
        output.record["missed"] = timer.missed
        memory.output.write(output.record)
        if control.primitives.news != self._news:
            self._news = control.primitives.news
            memory.status.write(control.primitives.status)
        if self._emit is not None and output.steps % self._every == 0:
            self._emit(output)
        memory.durations.add(time.monotonic() - now - late)

    def _receive(self, now: float) -> None:
        control, record = self.control, self._records
        if self._fresh("hardware"):
            face = record["hardware"]
            reason = records.text(face["reason"].item())
            control.hardware(int(face["state"]), reason, float(face["at"]), float(face["gripper"]))
        if self._fresh("measured"):
            joints = record["measured"]
            control.measure(float(joints["at"]), joints["q"], joints["qd"])
        if self._fresh("wrench"):
            control.feel(float(record["wrench"]["at"]), record["wrench"]["wrench"])
        if self._fresh("halt"):
            control.halt(now, int(record["halt"]["number"]), records.text(record["halt"]["reason"].item()))
        if self._fresh("hand"):
            control.teleoperate(record["hand"]["total"] - self._hand)
            self._hand[:] = record["hand"]["total"]
        if self._fresh("field"):
            self._field_at = float(record["field"]["at"])
        if now - self._field_at <= FIELD_TIMEOUT:
            control.push(record["field"]["twist"])
        order = self._orders.take()
        if order is not None:
            self._obey(now, order)
        if self._fresh("window"):
            control.offer(now, records.unpack_window(record["window"]))

    def _obey(self, now: float, order: Order) -> None:
        if isinstance(order, Begin):
            self.control.begin(now, order.number, order.prepared)
        elif isinstance(order, Change):
            self.control.change(now, order.number, order.prepared)
        elif isinstance(order, Stop):
            self.control.stop_primitive(order.id, order.reason)
        elif isinstance(order, Tare):
            self.control.tare()
        elif isinstance(order, ClearTimes):
            self.memory.statistics.clear()
            self.memory.durations.clear()

    def _fresh(self, name: str) -> bool:
        """True when another record of this name has come; it is then in `_records`."""
        slot = self.memory.inbox.exchanges[name]
        if slot.count == self._seen[name]:
            return False
        self._seen[name] = slot.read(self._records[name])
        return True


class HostedLoop:
    """What a host does with any loop: records in and out. Subclasses say where it runs."""

    def __init__(self, dof: int, memory: LoopMemory) -> None:
        self.memory = memory
        self.inbox = memory.inbox
        self.statistics, self.durations = memory.statistics, memory.durations
        self._status = np.zeros((), memory.status.dtype)
        self._told = 0

    @property
    def scheduling(self) -> Scheduling:
        """How the loop is scheduled."""
        return self.memory.scheduling

    @property
    def error(self) -> str:
        """What ended the loop; empty while it runs, and after an end asked for."""
        return self.memory.error

    def read_output(self, into: ControlOutput) -> bool:
        """Copy the latest output `into`; False when there is none yet."""
        return self.memory.output.read(into.record) > 0

    def read_status(self) -> PrimitiveState | None:
        """The latest status of a primitive, once; None when nothing is new. One thread."""
        if self.memory.status.count == self._told:
            return None
        self._told = self.memory.status.read(self._status)
        return unpack_status(self._status)


class ControlLoop(HostedLoop):
    """A loop on a thread of this process; `emit` is called on that thread."""

    def __init__(
        self,
        step: ControlStep,
        emit: Callable[[ControlOutput], None] | None = None,
        priority: int = PRIORITY,
        every: int = 1,
    ) -> None:
        super().__init__(step.robot.dof, LoopMemory(step.robot.dof, step.period))
        self.control = step
        self._priority = priority
        self._orders = LocalOrders()
        self._runner = LoopRunner(step, self.memory, self._orders, emit, every)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def ended(self) -> bool:
        """True once it was started and ended again: it does not start a second time."""
        return False

    @property
    def running(self) -> bool:
        """True while the loop's thread lives."""
        return self._thread is not None and self._thread.is_alive()

    def give(self, order: Order) -> None:
        """Hand an order to the loop."""
        self._orders.give(order)

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

    def _run(self) -> None:
        self.memory.tell(schedule(self._priority))
        try:
            self._runner.run(self._stop.is_set)
        except BaseException as error:  # noqa: BLE001 - the border of a thread: kept for the host to report
            self.memory.tell(error=repr(error))


def schedule(priority: int) -> Scheduling:
    """Ask for SCHED_FIFO on the calling thread; says what was granted."""
    if priority <= 0:
        return Scheduling("SCHED_OTHER", 0, "not asked for")
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except (OSError, AttributeError) as error:
        return Scheduling("SCHED_OTHER", 0, f"real-time priority refused: {error}")
    return Scheduling("SCHED_FIFO", priority, "")
