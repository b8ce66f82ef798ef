"""The control loop in a process of its own: `python -m telerobot_nodes.motion.loop_process MEMORY STREAM WAKE`.

Started by `loop_host.py` with three file descriptors: the memory shared, the stream of orders, the pipe that wakes
the host. The stream is also the life line: when the host ends, however it ends, the loop ramps down and ends too.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import mmap
import os
import pickle
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from telerobot_nodes.core.robot import load_robot
from telerobot_nodes.motion.control_records import ControlOutput
from telerobot_nodes.motion.control_step import ControlStep
from telerobot_nodes.motion.loop import LoopRunner, schedule
from telerobot_nodes.motion.loop_memory import LoopMemory, Scheduling
from telerobot_nodes.motion.orders import OrderReceiver
from telerobot_nodes.motion.parameters import parameters_from
from telerobot_nodes.motion.stream_tool import StreamTool
from telerobot_nodes.motion.warm import warm_up

READY, GO = b"R", b"G"
SIZE = 8  # bytes: length of the setting that follows
_LOCK_WHAT_IS_USED = 7  # MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT


@dataclass(frozen=True)
class LoopSetting:
    """What the loop's process is told at its start."""

    robot: str  # for load_robot
    period: float  # [s]
    priority: int = 0  # SCHED_FIFO asked for; 0: none
    cpu: int = -1  # it is bound to; below 0: any
    every: int = 1  # steps per setpoint
    stream: Mapping[str, Any] | None = None  # parameter set of the plan's stream; None: plain


def make_control(setting: LoopSetting) -> ControlStep:
    """The control step of a setting, every function compiled. Raises ModelError, InvalidValueError."""
    robot = load_robot(setting.robot)
    tool = None
    if setting.stream is not None:
        tool = StreamTool(robot, setting.period, parameters_from(setting.stream))
    warm_up(robot, setting.period)
    return ControlStep(robot, setting.period, tool_motion=tool)


class _Wake:
    """Tells the host that there is an output; notes when nobody hears it any more."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor

    def __call__(self, output: ControlOutput) -> None:
        with contextlib.suppress(OSError):  # a full pipe wakes as well; a host that is gone is noticed on the stream
            os.write(self._descriptor, b".")


def serve(memory_fd: int, stream_fd: int, wake_fd: int) -> int:
    """Run the loop until the host ends it; the exit code."""
    stream = socket.socket(fileno=stream_fd)
    setting: LoopSetting = pickle.loads(_read(stream, int.from_bytes(_read(stream, SIZE), "little")))
    watch = threading.Thread(target=_end_with_host, args=(stream,), daemon=True)
    watch.start()
    control = make_control(setting)
    shared = memoryview(mmap.mmap(memory_fd, LoopMemory.size(control.robot.dof)))
    memory = LoopMemory(control.robot.dof, setting.period, shared)
    memory.tell(replace(_schedule(setting), locked=_lock_memory()))
    os.write(wake_fd, READY)
    watch.join()
    if _read(stream, len(GO)) != GO:
        return 0
    orders = OrderReceiver(stream)
    runner = LoopRunner(control, memory, orders, _Wake(wake_fd), setting.every)
    gc.collect()
    gc.freeze()
    gc.disable()  # the loop makes no cycles; a collection would stop it for milliseconds
    try:
        runner.run(lambda: orders.closed)
    except BaseException:  # noqa: BLE001 -- process boundary: the host is told, and reports
        memory.tell(error=traceback.format_exc())
        return 1
    return 0


def _end_with_host(stream: socket.socket) -> None:
    """Until the host says GO: one that is gone is not waited for, however much is still to compile."""
    if not stream.recv(1, socket.MSG_PEEK):
        os._exit(0)


def _read(stream: socket.socket, size: int) -> bytes:
    """So many bytes; fewer when the host has ended."""
    data = b""
    while len(data) < size and (piece := stream.recv(size - len(data))):
        data += piece
    return data


def _schedule(setting: LoopSetting) -> Scheduling:
    if setting.cpu >= 0:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {setting.cpu})
    return schedule(setting.priority)


def _lock_memory() -> bool:
    """No page of the process leaves memory from now on, where that is permitted."""
    with contextlib.suppress(OSError, AttributeError):
        return bool(ctypes.CDLL(None).mlockall(_LOCK_WHAT_IS_USED) == 0)
    return False


def main() -> int:
    """The process."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the host ends it, after the arm has come to rest
    memory, stream, wake = map(int, sys.argv[1:4])
    return serve(memory, stream, wake)


if __name__ == "__main__":
    sys.exit(main())
