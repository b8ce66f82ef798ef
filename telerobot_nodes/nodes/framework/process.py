"""One node as a process: start, spin, clean end on SIGINT and SIGTERM, exit code."""

from __future__ import annotations

import contextlib
import faulthandler
import math
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.signals import SignalHandlerOptions

from telerobot_nodes import graph
from telerobot_nodes.core.config import (
    NodeOptions,
    check_transport_environment,
    found_quickly_environment,
    is_loopback,
)
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.nodes.framework.base import GraphNode
from telerobot_nodes.nodes.framework.leaving import leave

SPIN_TIMEOUT = 0.1  # [s] longest time between a signal and its effect
URGENT_NICENESS = -15
SHARED_MEMORY = "/dev/shm/fastrtps_"
MAPS = Path("/proc/self/maps")
AUTOGROUP = Path("/proc/self/autogroup")
THREADS = Path("/proc/self/task")
MIDDLEWARE = "dds."  # begin of the names of its threads
INTERFACE_PERIOD = 0.1  # [s] between looks at an interface that is down
STUCK = 2.5  # [s] after a stop signal, before the supervisor's next: where every thread is goes to standard error
SWITCH_INTERVAL = 5e-4  # [s] a thread that computes (a planner that loads) may keep the interpreter from the messages
CLEAN_UP = 2.0  # [s] for destroying a node that is deactivated
EXIT_REFUSED = 2  # start refused: bad parameters, model, or environment
EXIT_FAILED = 3  # something that the node depends on has ended


class EndRequested(BaseException):
    """SIGINT or SIGTERM while a node starts: it may compile for minutes, and there is no motion to end yet."""


def found_quickly() -> None:
    """Announce this process every 0.2 s instead of every 3 s; to be called before `run_node`.

    A profile of the user's own stays in force.
    """
    os.environ.update(found_quickly_environment(os.environ))


def run_node(make: Callable[[NodeOptions], GraphNode], options: NodeOptions) -> int:
    """Run a node until SIGINT, SIGTERM or the context ends; 0 after a clean end, 2 refused at the start, 3 failed."""
    stop, started = threading.Event(), threading.Event()

    def end(_number: int, _frame: object) -> None:
        again = stop.is_set()
        stop.set()
        faulthandler.dump_traceback_later(STUCK)  # evidence, if this process does not end
        if not (started.is_set() or again):
            raise EndRequested

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    if os.environ.get("ROS_PYTHON_CHECK_FIELDS", "0") != "1":
        return _refuse(options.name, "ROS_PYTHON_CHECK_FIELDS is not 1; without it a wrong type becomes a wrong number")
    sys.setswitchinterval(SWITCH_INTERVAL)
    entry = graph.node(options.name)
    if entry.priority or entry.niceness:
        be_urgent(URGENT_NICENESS if entry.priority else entry.niceness)
    try:
        check_transport_environment(os.environ)
        wait_for_loopback(options.name)
        _initialize(options)
        node = make(options)
        _check_transport()
    except TelerobotError as error:
        rclpy.try_shutdown()
        return _refuse(options.name, str(error))
    except EndRequested:
        rclpy.try_shutdown()
        return 0
    try:
        node.trigger_configure()
        node.trigger_activate()
        started.set()
        if entry.priority:
            be_real_time(entry.priority)
        if node.active:
            print(f"telerobot: {options.name} ready", flush=True)
        else:
            node.failure = node.failure or "it could not be activated; the reason is above"
        _spin(node, stop)
    except EndRequested:
        pass
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not cut the clean-up short
        if node.active:
            node.trigger_deactivate()
        _bound_clean_up()
        leave(node)
        rclpy.try_shutdown()
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        faulthandler.cancel_dump_traceback_later()
    if node.failure:
        print(f"telerobot: {options.name}: {node.failure}", file=sys.stderr, flush=True)
    return EXIT_FAILED if node.failure else 0


def wait_for_loopback(name: str) -> None:
    """Return once the loopback interface is up, where it is used: a participant that is made before never connects."""
    if not is_loopback(os.environ):
        return
    told = False
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        while probe.connect_ex(("127.0.0.1", 9)):  # sends nothing
            if not told:
                print(f"telerobot: {name}: the loopback interface is down; waiting for it", flush=True)
                told = True
            time.sleep(INTERFACE_PERIOD)


def _initialize(options: NodeOptions) -> None:
    try:
        rclpy.init(args=list(options.ros_args), signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:  # of rcl: a domain that is no number, a rule that is none
        raise TelerobotError(str(error)) from error


def _check_transport() -> None:
    """Raise TelerobotError where the middleware did not load the profile that keeps it off shared memory."""
    if is_loopback(os.environ) and SHARED_MEMORY in MAPS.read_text():
        raise TelerobotError("the middleware uses shared memory: it did not load the profile udp_loopback")


def be_urgent(niceness: int = URGENT_NICENESS) -> None:
    """Put this process before others; an ordinary user's node runs at the ordinary priority.

    Linux shares the processors between sessions first, and by niceness only inside one: a node that the supervisor
    started, which leads a session of its own, raises that too.
    """
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, niceness)  # the transport's threads inherit it
    if os.getsid(0) == os.getpid():
        with contextlib.suppress(OSError):  # a kernel without it, or not permitted
            AUTOGROUP.write_text(str(niceness))


def be_real_time(priority: int) -> None:
    """Give this thread, the threads it starts, and the middleware's SCHED_RR at a priority; where the user may."""
    middleware = [int(one.name) for one in THREADS.iterdir() if _name(one).startswith(MIDDLEWARE)]
    for thread in (0, *middleware):
        with contextlib.suppress(PermissionError, ProcessLookupError):
            os.sched_setscheduler(thread, os.SCHED_RR, os.sched_param(priority))


def _name(thread: Path) -> str:
    try:
        return (thread / "comm").read_text()
    except OSError:  # it has ended
        return ""


def _bound_clean_up() -> None:
    """Let the system end this process if its clean-up hangs, whatever holds the interpreter.

    The node is deactivated: nothing moves, and everything is saved. Where it hangs is written before that.
    """
    faulthandler.dump_traceback_later(0.8 * CLEAN_UP)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, CLEAN_UP)


def end_process(code: int) -> NoReturn:
    """End the process of a node after `run_node`, at once and without static destructors.

    Those would run beside threads that are still alive: of the middleware, of a planner that loads.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _spin(node: GraphNode, stop: threading.Event) -> None:
    from rclpy.experimental import EventsExecutor

    executor = EventsExecutor()
    executor.add_node(node)
    end = math.inf
    while rclpy.ok() and time.monotonic() < end and not node.failure:
        if stop.is_set() and end == math.inf:
            end = time.monotonic() + node.linger
        if stop.is_set() and node.finished:
            break
        try:
            executor.spin_once(timeout_sec=SPIN_TIMEOUT)  # a longer spin would not end while events wait
        except ExternalShutdownException:
            break
        except Exception as error:  # noqa: BLE001 -- process boundary: e.g. an illegal lifecycle transition asked for
            node.errors += 1
            node.get_logger().error(f"callback failed: {error}")
    if node.active and rclpy.ok():
        node.trigger_deactivate()
        executor.spin_once(timeout_sec=SPIN_TIMEOUT)  # sends the results of the goals that it ended
    executor.shutdown(timeout_sec=1.0)


def _refuse(name: str, reason: str) -> int:
    print(f"telerobot: {name}: {reason}", file=sys.stderr, flush=True)
    return EXIT_REFUSED
