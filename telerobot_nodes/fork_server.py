"""The process from which the supervisor forks the nodes of a graph.

It has imported what the nodes share and built the grammar of commands, so a node starts without paying for these again,
and a node that died is back sooner.

A fork loses threads. The only ones allowed here are the two listeners that the tracing library of ROS starts as it is
loaded; without LTTng nobody misses them. Where LTTng is installed, ROS is left to each node.

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

from telerobot_nodes import cli, graph

SHARED = (
    "mujoco",
    "pinocchio",
    "pydantic.main",
    "rosbags.rosbag2",
    "rosbags.typesys.stores.ros2_jazzy",
    "scipy.spatial.transform",
    "telerobot_nodes.cli.run",
    "telerobot_nodes.cspace.service",
    "telerobot_nodes.hardware",
    "telerobot_nodes.motion.loop",
    "telerobot_nodes.plan.executor",
    "telerobot_nodes.plan.queue",
    "telerobot_nodes.rtc.decision",
    "telerobot_nodes.rtc.language",
)
LARGE = ("operator_console",)  # nodes whose imports no other node shares
TRACING = "liblttng-ust"
LISTENERS = 2  # threads of the tracing library
LTTNG = (Path("/var/run/lttng"), Path.home() / ".lttng")  # where its session daemon is, or was
LOADED = b"loaded"
REQUEST_SIZE = 1 << 18  # [bytes] longest request: words and environment of one node


def main() -> None:
    """Import the shared modules, then fork a node for every request; ends when the supervisor closes the socket."""
    control = socket.socket(fileno=int(sys.argv[1]))
    title = _CommandLine()
    title.show(["telerobot", "fork-server"])
    load()
    if _threads() > 1 + (LISTENERS if TRACING in Path("/proc/self/maps").read_text(encoding="utf-8") else 0):
        sys.exit("telerobot: fork server: a shared module has started a thread, which a fork would lose")
    gc.freeze()  # the collector of a node leaves the shared pages alone
    control.send(LOADED)
    while _serve(control, title):
        pass


def load() -> None:
    """Import what the nodes of the demo share: ROS first, so that its listeners rest long before a fork."""
    if not any(place.exists() for place in LTTNG):
        for name in graph.GRAPHS["demo"]:
            if name not in LARGE:
                import_module(graph.node(name).module)
    for name in SHARED:
        import_module(name)
    import_module("telerobot_nodes.rtc.language").is_reserved("")  # builds the grammar, which is kept


def _threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


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
