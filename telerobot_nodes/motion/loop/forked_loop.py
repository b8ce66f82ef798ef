"""A process for a control loop, forked before its setting is known: it need not load what this process has loaded.

To be forked before this process has threads that hold locks: those of a middleware.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import subprocess
import threading
import traceback
import weakref
from typing import NoReturn

from telerobot_nodes.motion.loop.loop_process import ignore_signals, serve

NAME = b"control_loop"  # of the process, as `top` shows it
PR_SET_NAME = 15  # linux/prctl.h


class ForkedLoop:
    """The process, waiting for its descriptors; the part of `subprocess.Popen` that its host uses.

    `stream` is the host's end of the stream of setting and orders; the process ends when it closes.
    """

    def __init__(self) -> None:
        self.stream, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            _wait(theirs)
        theirs.close()
        self._end = os.pidfd_open(self.pid)
        weakref.finalize(self, os.close, self._end)
        self._lock = threading.Lock()
        self._code: int | None = None

    def send_descriptors(self, memory: int, wake: int) -> None:
        """Pass on the shared memory, and the pipe that wakes the host."""
        socket.send_fds(self.stream, [b"D"], [memory, wake])

    def poll(self) -> int | None:
        """Exit code; None while it lives."""
        with self._lock:
            if self._code is None:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                self._code = os.waitstatus_to_exitcode(status) if pid else None
            return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Exit code once it has ended; raises subprocess.TimeoutExpired after `timeout` [s]."""
        select.select([self._end], [], [], timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired(NAME.decode(), timeout or 0.0)
        return code

    def close(self) -> None:
        """End a process that was not used."""
        self.stream.close()
        self.wait()

    def kill(self) -> None:
        """End it at once."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def _wait(stream: socket.socket) -> NoReturn:
    """In the process: wait for the descriptors, and run the loop."""
    code = 1
    try:
        ignore_signals()
        ctypes.CDLL(None).prctl(PR_SET_NAME, NAME)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        _close_all_but(stream.fileno())
        _, descriptors, _, _ = socket.recv_fds(stream, 1, 2)
        code = serve(descriptors[0], stream.detach(), descriptors[1]) if descriptors else 0
    except BaseException:  # noqa: BLE001 -- process boundary: nothing of the host may run here
        traceback.print_exc()
    finally:
        os._exit(code)


def _close_all_but(descriptor: int) -> None:
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, os.sysconf("SC_OPEN_MAX"))
