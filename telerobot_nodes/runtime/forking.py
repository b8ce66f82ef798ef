"""Nodes forked from a process that has loaded what they share (`fork_server.py`), as children of this process."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

MODULE = "telerobot_nodes.fork_server"
PADDING = "-" * 4096  # room in the server's command line for the words of a node, as `ps` shows them
LIMIT = 5.0  # [s] for a fork, which takes milliseconds
ANSWER_SIZE = 64  # [bytes] longest answer: a process id
SET_CHILD_SUBREAPER = 36  # linux/prctl.h

_adopting = threading.Lock()  # one attribute of this process, several supervisors


class ForkedProcess:
    """A forked node: the part of `subprocess.Popen` that the supervisor uses."""

    def __init__(self, pid: int, stdin: int, stdout: TextIO) -> None:
        """`stdin`: the end that stays open until the process has ended, or this process has."""
        self.pid, self.stdout, self._stdin = pid, stdout, stdin

    def wait(self) -> int:
        """Exit code once the process has ended, negative for a signal; to be called once."""
        _, status = os.waitpid(self.pid, 0)
        os.close(self._stdin)
        return os.waitstatus_to_exitcode(status)


class ForkServer:
    """The fork server of one graph. Its methods raise OSError when it has ended."""

    def __init__(self, environment: Mapping[str, str], descriptors: Sequence[int] = ()) -> None:
        """`descriptors` stay open in its nodes."""
        self._control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-m", MODULE, str(other.fileno()), PADDING],
                stdin=subprocess.DEVNULL,
                pass_fds=(other.fileno(), *descriptors),
                env=dict(environment),
                start_new_session=True,  # Ctrl-C of the terminal reaches the supervisor only
            )
        self._loaded = False

    def is_loaded(self, timeout: float) -> bool:
        """True once the shared modules are imported; waits up to `timeout` [s]."""
        if not self._loaded:
            self._control.settimeout(timeout)
            with contextlib.suppress(TimeoutError):
                self._loaded = bool(self._receive())
            self._control.settimeout(LIMIT)
        return self._loaded

    def start(self, words: Sequence[str], environment: Mapping[str, str]) -> ForkedProcess:
        """Fork a node that runs the command line `words`; its output is a stream of text."""
        request = json.dumps({"words": list(words), "environment": dict(environment)}).encode()
        stdin, hold = os.pipe()
        output, stdout = os.pipe()
        try:
            with _adopting_orphans():
                socket.send_fds(self._control, [request], [stdin, stdout])
                pid = int(self._receive())
                self._receive()  # the process between is gone: the node is a child of this process
            _require_child(pid)
        except (OSError, ValueError) as error:
            os.close(hold)
            os.close(output)
            raise OSError(f"the fork server has started no node: {error}") from error
        finally:
            os.close(stdin)
            os.close(stdout)
        return ForkedProcess(pid, hold, os.fdopen(output, encoding="utf-8", errors="replace"))

    def close(self) -> None:
        """End the server, whatever it does; its nodes go on. May be repeated."""
        self._control.close()
        self._process.kill()
        self._process.wait()

    def _receive(self) -> bytes:
        answer = self._control.recv(ANSWER_SIZE)
        if not answer:
            raise OSError("the fork server has ended")
        return answer


def _require_child(pid: int) -> None:
    """End a process that is no child of this one; raises OSError then: its end could not be seen."""
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError as error:
        os.kill(pid, signal.SIGKILL)
        raise OSError("this system gives orphans to another process") from error


@contextlib.contextmanager
def _adopting_orphans() -> Iterator[None]:
    """Inside, a process below this one whose parent ends becomes a child of this one."""
    libc = ctypes.CDLL(None, use_errno=True)
    with _adopting:
        libc.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        try:
            yield
        finally:
            libc.prctl(SET_CHILD_SUBREAPER, 0, 0, 0, 0)
