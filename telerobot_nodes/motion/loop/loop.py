"""The control loop: absolute deadlines, real-time priority when permitted; and its host on a thread of this process.

What belongs here: time, records in and out, orders. What must never enter: control, messages, logging. Host and loop
share only `LoopMemory` and orders, so `loop_host.py` can run the same loop in a process of its own.
"""

from __future__ import annotations

import gc
import mmap
import os
import threading
import time
import weakref
from collections.abc import Callable

import numpy as np

from telerobot_nodes.core.protocol import ControlState
from telerobot_nodes.core.timing import AbsoluteTimer
from telerobot_nodes.motion.loop import control_records as records
from telerobot_nodes.motion.loop.control_records import ControlOutput
from telerobot_nodes.motion.loop.control_step import ControlStep
from telerobot_nodes.motion.loop.loop_memory import LoopMemory, Scheduling
from telerobot_nodes.motion.loop.orders import Begin, Change, ClearTimes, LocalOrders, Order, OrderSource, Stop, Tare
from telerobot_nodes.motion.loop.status_records import PrimitiveState, unpack_status

PRIORITY = 80  # SCHED_FIFO, above ordinary threads and below the kernel's own
_BRAKES = (ControlState.STOPPING, ControlState.FAULT)
FIELD_TIMEOUT = 0.1  # [s] an older force field is ignored
MADE_UP_IN = 3  # periods of computing for missed ones; a machine too slow for the loop must not fall behind further


class LoopRunner:
    """Steps a ControlStep every period on the calling thread, from and to a LoopMemory.

    `emit(output)` is called every `every` steps, and after each step that brakes, to send the setpoint; it must not
    wait and must copy what it keeps.
    """

    def __init__(
        self,
        control: ControlStep,
        memory: LoopMemory,
        orders: OrderSource,
        emit: Callable[[ControlOutput], None] | None = None,
        every: int = 1,
    ) -> None:
        self.control = control
        self.memory = memory
        self._orders = orders
        self._emit = emit
        self._every = every
        self._emitted = 0  # steps at the latest setpoint
        self._received = 0  # halts
        self._braked = False  # in the step before: the first setpoint at rest leaves at once
        self._status_count = 0
        inbox = memory.inbox.mailboxes
        self._seen = dict.fromkeys(inbox, 0)
        self._records = {name: np.zeros((), mailbox.dtype) for name, mailbox in inbox.items()}
        self._device_total = np.zeros(6)  # the device's motion so far
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
        missed = timer.missed
        late = timer.wait()
        now = timer.deadline
        memory, control = self.memory, self.control
        memory.statistics.add(now + late, late)
        self._sense()
        if timer.missed > missed and self._moves():
            self._make_up(now, timer.missed - missed)
        self._receive(now)
        output = control.step(now)
        output.record["missed"] = timer.missed
        memory.output.write(output.record)
        if control.primitives.status_count != self._status_count:
            self._status_count = control.primitives.status_count
            memory.status.write(control.primitives.status)
        braking = control.state in _BRAKES and bool(output.qd.any())
        due = braking or self._braked or output.steps // self._every > self._emitted // self._every
        if self._emit is not None and due:
            self._emitted = output.steps
            self._emit(output)
        self._braked = braking
        memory.durations.add(time.monotonic() - now - late)

    def _make_up(self, now: float, missed: int) -> None:
        """Step the periods missed before `now` [s].

        The hardware has continued the motion meanwhile; a setpoint that had not would pull the arm back.
        """
        period = self.control.period
        if (missed + 1) * period > self.control.config.stale_time:
            return  # the hardware's watchdog holds the arm
        enough = time.monotonic() + MADE_UP_IN * period
        for k in range(missed, 0, -1):
            self.control.step(now - k * period)
            if time.monotonic() > enough:
                return

    def _sense(self) -> None:
        """Receive what the hardware measured."""
        control, record = self.control, self._records
        if self._fresh("hardware"):
            hardware = record["hardware"]
            reason = records.text(hardware["reason"].item())
            at, opening = float(hardware["at"]), float(hardware["gripper"])
            control.set_hardware(int(hardware["state"]), reason, at, opening)
            control.arrival.hardware(at, int(hardware["setpoint"]), opening, float(hardware["gripper_reference"]))
        if self._fresh("measured"):
            joints = record["measured"]
            control.measure(float(joints["at"]), joints["q"], joints["qd"])
        if self._fresh("wrench"):
            control.set_wrench(float(record["wrench"]["at"]), record["wrench"]["wrench"])

    def _receive(self, now: float) -> None:
        """Receive what others ask for."""
        control, record = self.control, self._records
        received = self.memory.received
        if received.count != self._received:
            self._received = received.count
            control.halt(*received.latest())
        if self._fresh("resume"):
            control.resume(int(record["resume"]["count"]))
        if self._fresh("device"):
            control.teleoperate(record["device"]["total"] - self._device_total)
            self._device_total[:] = record["device"]["total"]
        if self._fresh("field"):
            self._field_at = float(record["field"]["at"])
        if now - self._field_at <= FIELD_TIMEOUT:
            control.add_field_twist(record["field"]["twist"])
        order = self._orders.receive()
        if order is not None:
            self._execute(now, order)
        if self._fresh("window"):
            control.offer(now, records.unpack_window(record["window"]))

    def _execute(self, now: float, order: Order) -> None:
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
        """True when a new record of this name has arrived; it is then in `_records`."""
        mailbox = self.memory.inbox.mailboxes[name]
        if mailbox.count == self._seen[name]:
            return False
        self._seen[name] = mailbox.read(self._records[name])
        return True


class HostedLoop:
    """The host's side of a loop: records in and out. Subclasses decide where the loop runs.

    `descriptor`: the file of the memory, for the processes that share it.
    """

    def __init__(self, dof: int, period: float) -> None:
        size = LoopMemory.size(dof)
        self.descriptor = os.memfd_create("telerobot_loop")
        weakref.finalize(self, os.close, self.descriptor)
        os.ftruncate(self.descriptor, size)
        self.memory = memory = LoopMemory(dof, period, memoryview(mmap.mmap(self.descriptor, size)))
        self.inbox = memory.inbox
        self.statistics, self.durations = memory.statistics, memory.durations
        self._status = np.zeros((), memory.status.dtype)
        self._status_count = 0

    @property
    def scheduling(self) -> Scheduling:
        """How the loop is scheduled."""
        return self.memory.scheduling

    @property
    def error(self) -> str:
        """What ended the loop; "" while it runs and after a requested end."""
        return self.memory.error

    def read_output(self, into: ControlOutput) -> bool:
        """Copy the latest output `into`; False if there is none yet."""
        return self.memory.output.read(into.record) > 0

    def read_status(self) -> PrimitiveState | None:
        """The latest status of a primitive; None if it was read before. One thread."""
        if self.memory.status.count == self._status_count:
            return None
        self._status_count = self.memory.status.read(self._status)
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
        super().__init__(step.robot.dof, step.period)
        self.control = step
        self._priority = priority
        self._orders = LocalOrders()
        self._runner = LoopRunner(step, self.memory, self._orders, emit, every)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def ended(self) -> bool:
        """True when it cannot start any more; a thread can always start again."""
        return False

    @property
    def running(self) -> bool:
        """True while the loop's thread lives."""
        return self._thread is not None and self._thread.is_alive()

    def send_order(self, order: Order) -> None:
        """Send an order to the loop."""
        self._orders.send(order)

    def start(self) -> None:
        """Start the thread; freezes the objects made so far, so that a garbage collection is short."""
        gc.collect()
        gc.freeze()
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="control_loop", daemon=True)
        self._thread.start()

    def stop(self, timeout: float = 2.0) -> None:
        """Come to rest on the path, then end the thread; wait up to `timeout` [s]."""
        if self._thread is None:
            return
        self._stop.set()
        self._thread.join(timeout)

    def _run(self) -> None:
        self.memory.report(schedule(self._priority))
        try:
            self._runner.run(self._stop.is_set)
        except BaseException as error:  # noqa: BLE001 - boundary of a thread: the host reports it
            self.memory.report(error=repr(error))


def schedule(priority: int) -> Scheduling:
    """Request SCHED_FIFO for the calling thread; returns what was granted."""
    if priority <= 0:
        return Scheduling("SCHED_OTHER", 0, "not requested")
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except (OSError, AttributeError) as error:
        return Scheduling("SCHED_OTHER", 0, f"real-time priority refused: {error}")
    return Scheduling("SCHED_FIFO", priority, "")
