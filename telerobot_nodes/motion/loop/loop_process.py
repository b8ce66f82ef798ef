"""The control loop in a process of its own.

`loop_host.py` starts it with three file descriptors as arguments: the shared memory, the stream of orders, the
pipe that wakes the host. When the host ends, for any reason, the stream closes; the arm comes to rest and the process
ends.
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
from telerobot_nodes.motion.loop.arm_monitor import ControlConfig
from telerobot_nodes.motion.loop.control_records import ControlOutput
from telerobot_nodes.motion.loop.control_state import HaltLatch
from telerobot_nodes.motion.loop.control_step import ControlStep
from telerobot_nodes.motion.loop.loop import LoopRunner, schedule
from telerobot_nodes.motion.loop.loop_memory import LoopMemory, Scheduling
from telerobot_nodes.motion.loop.orders import OrderReceiver
from telerobot_nodes.motion.loop.precompile import warm_up
from telerobot_nodes.motion.parameters import parameters_from
from telerobot_nodes.motion.primitives import StreamTool

READY, GO = b"R", b"G"
SIZE = 8  # bytes of the length before the setting
_LOCK_WHAT_IS_USED = 7  # MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT


@dataclass(frozen=True)
class LoopSetting:
    """Start-up settings of the loop's process."""

    robot: str  # for load_robot
    period: float  # [s]
    priority: int = 0  # SCHED_FIFO requested; 0: none
    cpu: int = -1  # the only CPU it may use; below 0: any
    every: int = 1  # steps per setpoint
    stream: Mapping[str, Any] | None = None  # parameters of sensor motion on top of windows; None: no sensor motion
    halt_count: int = 0  # of the loop before this one
    halted: str = ""  # reason of its halt; empty: none
    arrive_error: float = ControlConfig.arrive_error  # [rad]


def make_control(setting: LoopSetting) -> ControlStep:
    """The control step of a setting with every function compiled. Raises ModelError, InvalidValueError."""
    robot = load_robot(setting.robot)
    tool = None
    if setting.stream is not None:
        tool = StreamTool(robot, setting.period, parameters_from(setting.stream))
    warm_up(robot, setting.period)
    latch = HaltLatch(setting.halt_count, setting.halted)
    config = ControlConfig(arrive_error=setting.arrive_error)
    return ControlStep(robot, setting.period, config, tool_motion=tool, latch=latch)


class _Wake:
    """Wakes the host when there is an output."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor

    def __call__(self, output: ControlOutput) -> None:
        with contextlib.suppress(OSError):  # a full pipe wakes the host as well; its end closes the stream
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
    memory.report(replace(_schedule(setting), locked=_lock_memory()))
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
    except BaseException:  # noqa: BLE001 -- process boundary: the host reports it
        memory.report(error=traceback.format_exc())
        return 1
    return 0


def _end_with_host(stream: socket.socket) -> None:
    """Before GO: end at once when the host has ended, even while compiling."""
    if not stream.recv(1, socket.MSG_PEEK):
        os._exit(0)


def _read(stream: socket.socket, size: int) -> bytes:
    """`size` bytes; fewer when the host has ended."""
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
    """Lock the process's pages in memory, if permitted; True on success."""
    with contextlib.suppress(OSError, AttributeError):
        return bool(ctypes.CDLL(None).mlockall(_LOCK_WHAT_IS_USED) == 0)
    return False


def ignore_signals() -> None:
    """Only the host ends this process, after the arm has come to rest."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def main() -> int:
    """Run the process."""
    ignore_signals()
    memory, stream, wake = map(int, sys.argv[1:4])
    return serve(memory, stream, wake)
