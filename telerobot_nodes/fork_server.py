"""The process from which the supervisor forks the nodes of a graph.

It has imported what the nodes share, so a node starts without paying for those imports again, and a node that died
is back sooner. ROS is not among them: its libraries start threads, and a fork would lose these.

The supervisor runs it as `python -m telerobot_nodes.fork_server SOCKET PADDING` and closes the socket to end it.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import socket
import sys
import traceback
from importlib import import_module
from pathlib import Path

from telerobot_nodes import cli

SHARED = (
    "mujoco",
    "pinocchio",
    "scipy.spatial.transform",
    "telerobot_nodes.cli.run",
    "telerobot_nodes.cspace.service",
    "telerobot_nodes.hardware",
    "telerobot_nodes.motion.loop",
    "telerobot_nodes.plan.executor",
    "telerobot_nodes.plan.queue",
    "telerobot_nodes.rtc.language",
)
LOADED = b"loaded"
REQUEST_SIZE = 1 << 18  # [bytes] longest request: words and environment of one node


def main() -> None:
    """Import the shared modules, then fork a node for every request; ends when the supervisor closes the socket."""
    control = socket.socket(fileno=int(sys.argv[1]))
    title = _CommandLine()
    title.show(["telerobot", "fork-server"])
    for name in SHARED:
        import_module(name)
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        sys.exit("telerobot: fork server: a shared module has started a thread, which a fork would lose")
    gc.freeze()  # the collector of a node leaves the shared pages alone
    control.send(LOADED)
    while _serve(control, title):
        pass


def _serve(control: socket.socket, title: _CommandLine) -> bool:
    """Start one node and send its process id; False when the supervisor has closed the socket."""
    request, ends, _, _ = socket.recv_fds(control, REQUEST_SIZE, 2)
    if not request:
        return False
    middle = os.fork()
    if middle == 0:  # ends at once, so that the node becomes a child of the supervisor
        node = os.fork()
        if node == 0:
            _become_node(control, title, ends, **json.loads(request))
        control.send(str(node).encode())
        os._exit(0)
    os.waitpid(middle, 0)
    for end in ends:
        os.close(end)
    control.send(LOADED)  # the node has its new parent
    return True


def _become_node(
    control: socket.socket, title: _CommandLine, ends: list[int], words: list[str], environment: dict[str, str]
) -> None:
    """Run the command line `words` in this process, and end it."""
    control.close()
    os.setsid()
    for end, standard in zip((*ends, ends[1]), (0, 1, 2), strict=True):
        os.dup2(end, standard)
    for end in ends:
        os.close(end)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[:] = words
    title.show(words)
    code = 1
    try:
        code = cli.main()
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    except BaseException:  # noqa: BLE001 -- process boundary: nothing of the server may run in a node
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class _CommandLine:
    """What `ps` shows of this process: the words in its memory, as long as they were at its start."""

    def __init__(self) -> None:
        fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        self._start, end = int(fields[45]), int(fields[46])  # proc(5): arg_start, arg_end; 0 where they are hidden
        self._size = end - self._start

    def show(self, words: list[str]) -> None:
        """Replace the words of this process."""
        text = b"\0".join(map(os.fsencode, words))[: max(0, self._size - 1)]
        if self._size:
            ctypes.memmove(self._start, text.ljust(self._size, b"\0"), self._size)


if __name__ == "__main__":
    main()
