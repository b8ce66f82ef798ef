"""Host of a control loop in a process of its own: shared memory, a stream of orders, a pipe that wakes the host.

A thread of the host forwards every setpoint to `emit`. When the loop's process ends without request, `error` has the
reason and `on_end` is called once.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable

from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.motion.loop.control_records import ControlOutput
from telerobot_nodes.motion.loop.forked_loop import ForkedLoop
from telerobot_nodes.motion.loop.loop import HostedLoop, schedule
from telerobot_nodes.motion.loop.loop_process import GO, READY, SIZE, LoopSetting
from telerobot_nodes.motion.loop.orders import Order, OrderSender

RELAY_PRIORITY = 60  # SCHED_FIFO of the thread that passes setpoints on, below the loop and above the node
# Not `-m`: the package imports this module, which Python would then load twice, with a warning.
START = "import sys; from telerobot_nodes.motion.loop.loop_process import main; sys.exit(main())"
START_LIMIT = 180.0  # [s] until the process is ready, including compilation


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
        forked: ForkedLoop | None = None,
    ) -> None:
        """`forked`: the process to use, in place of one that has to load everything."""
        self._setting = setting
        super().__init__(dof, setting.period)
        self._output = ControlOutput(dof)
        self._emit = emit
        self._on_end = on_end
        self._stopping = False
        self._failure = ""
        self._wake, signal_end = os.pipe()
        self._process: subprocess.Popen[bytes] | ForkedLoop
        if forked is None:
            self._process, self._sender = self._launch(signal_end)
        else:
            self._process, self._sender = forked, forked.stream
            forked.send_descriptors(self.descriptor, signal_end)
        os.close(signal_end)
        words = pickle.dumps(setting)
        self._sender.sendall(len(words).to_bytes(SIZE, "little") + words)
        self._orders = OrderSender(self._sender)
        self._thread: threading.Thread | None = None

    def _launch(self, signal_end: int) -> tuple[subprocess.Popen[bytes], socket.socket]:
        ours, theirs = socket.socketpair()
        descriptors = (self.descriptor, theirs.fileno(), signal_end)
        command = [sys.executable, "-c", START, *map(str, descriptors)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=descriptors)
        theirs.close()
        return process, ours

    @property
    def pid(self) -> int:
        """Process id of the loop."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """True when the process has ended; it cannot start again."""
        return not self.running

    @property
    def running(self) -> bool:
        """True while the loop's process lives."""
        return self._process.poll() is None

    @property
    def error(self) -> str:
        """What ended the loop; "" while it runs and after a requested end."""
        return self._failure or self.memory.error

    def send_order(self, order: Order) -> None:
        """Send an order to the loop; ignored when its process has ended, which `on_end` reports."""
        with contextlib.suppress(OSError):
            self._orders.send(order)

    def start(self) -> None:
        """Wait until the process is ready, then start the loop. Raises LoopProcessError."""
        ready, _, _ = select.select([self._wake], [], [], START_LIMIT)
        if not ready or os.read(self._wake, 1) != READY:
            self._process.kill()
            raise LoopProcessError(f"the loop's process did not start: {self.error or 'see its output'}")
        self._sender.sendall(GO)
        self._thread = threading.Thread(target=self._relay, name="loop_relay", daemon=True)
        self._thread.start()

    def stop(self, timeout: float = 2.0) -> None:
        """Come to rest on the path, then end the process; wait up to `timeout` [s]."""
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
        schedule(min(self._setting.priority, RELAY_PRIORITY))
        last = 0  # step of the last output emitted: one wake may already find the output of the next
        while os.read(self._wake, 4096):
            if self._emit is not None and self.read_output(self._output) and self._output.steps > last:
                last = self._output.steps
                self._emit(self._output)
        code = self._process.wait()
        if not self._stopping:
            self._failure = self.memory.error or f"the loop's process ended with code {code}"
            self._on_end(self._failure)
