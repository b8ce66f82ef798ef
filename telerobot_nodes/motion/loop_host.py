"""Host of a control loop in a process of its own: shared memory, a stream of orders, a pipe that wakes.

The host relays: it hears of every setpoint on a thread of its own and hands it on. When the loop's process ends
unasked, `error` tells why, and `on_end` is called once.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import pickle
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable

from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.motion.control_records import ControlOutput
from telerobot_nodes.motion.loop import HostedLoop
from telerobot_nodes.motion.loop_memory import LoopMemory
from telerobot_nodes.motion.loop_process import GO, READY, SIZE, LoopSetting
from telerobot_nodes.motion.orders import Order, OrderSender

START_LIMIT = 180.0  # [s] until it is ready, when everything must be compiled first


class LoopProcessError(TelerobotError):
    """The loop's process did not start."""


class ProcessLoop(HostedLoop):
    """A loop in a process of its own; `emit` is called on a thread of this process."""

    def __init__(
        self,
        setting: LoopSetting,
        dof: int,
        emit: Callable[[ControlOutput], None] | None = None,
        on_end: Callable[[str], None] = lambda reason: None,
    ) -> None:
        self._setting = setting
        self._fd = os.memfd_create("telerobot_loop")
        os.ftruncate(self._fd, LoopMemory.size(dof))
        super().__init__(dof, LoopMemory(dof, setting.period, memoryview(mmap.mmap(self._fd, LoopMemory.size(dof)))))
        self._output = ControlOutput(dof)
        self._emit = emit
        self._on_end = on_end
        self._stopping = False
        self._failure = ""
        self._sender, self._process, self._wake = self._launch()
        self._thread: threading.Thread | None = None

    def _launch(self) -> tuple[socket.socket, subprocess.Popen[bytes], int]:
        ours, theirs = socket.socketpair()
        wake, told = os.pipe()
        descriptors = (self._fd, theirs.fileno(), told)
        command = [sys.executable, "-m", "telerobot_nodes.motion.loop_process", *map(str, descriptors)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=descriptors)
        theirs.close()
        os.close(told)
        setting = pickle.dumps(self._setting)
        ours.sendall(len(setting).to_bytes(SIZE, "little") + setting)
        self._orders = OrderSender(ours)
        return ours, process, wake

    @property
    def pid(self) -> int:
        """Of the loop's process."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """True once it was started and ended again: it does not start a second time."""
        return not self.running

    @property
    def running(self) -> bool:
        """True while the loop's process lives."""
        return self._process.poll() is None

    @property
    def error(self) -> str:
        """What ended the loop; empty while it runs, and after an end asked for."""
        return self._failure or self.memory.error

    def give(self, order: Order) -> None:
        """Hand an order to the loop; lost when its process has ended, which is told otherwise."""
        with contextlib.suppress(OSError):
            self._orders.give(order)

    def start(self) -> None:
        """Wait until it is ready, and let it go. Raises LoopProcessError."""
        ready, _, _ = select.select([self._wake], [], [], START_LIMIT)
        if not ready or os.read(self._wake, 1) != READY:
            self._process.kill()
            raise LoopProcessError(f"the loop's process did not start: {self.error or 'see its output'}")
        self._sender.sendall(GO)
        self._thread = threading.Thread(target=self._relay, name="loop_relay", daemon=True)
        self._thread.start()

    def stop(self, timeout: float = 2.0) -> None:
        """Ramp down on the path, then end the process; within `timeout` [s] all told."""
        self._stopping = True
        with contextlib.suppress(OSError):
            self._sender.shutdown(socket.SHUT_WR)
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._thread is not None:
            self._thread.join(timeout)

    def _relay(self) -> None:
        told = 0  # one wake may find the output of the next: that is told once
        while os.read(self._wake, 4096):
            if self._emit is not None and self.read_output(self._output) and self._output.steps > told:
                told = self._output.steps
                self._emit(self._output)
        code = self._process.wait()
        if not self._stopping:
            self._failure = self.memory.error or f"the loop's process ended with code {code}"
            self._on_end(self._failure)
