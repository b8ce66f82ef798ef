"""Starts, supervises and stops the nodes of a graph as processes, where ROS's launch is not installed.

Rules: every node is a process in a session of its own, started in the order of the table, by fork from a process that
has loaded what the nodes share (`runtime/forking.py`). A node prints
`telerobot: NODE ready` once. A node that ends unasked is started again, as often in a minute as the table allows
(`restarts.py`), unless it refused its first start; after that, the graph stops if the node is required. Stopping is
SIGINT, SIGTERM after 3 s, SIGKILL of the whole session after 3 s more. If the supervisor dies, its nodes' standard
input closes and they end (`end_with_supervisor`). What a node leaves for its successor is in `state_folder.py`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from telerobot_nodes.core.config import STATE_VARIABLE, transport_environment
from telerobot_nodes.graph import LAST, Node
from telerobot_nodes.runtime.forking import ForkedProcess, ForkServer
from telerobot_nodes.runtime.launching import GraphOptions, node_command
from telerobot_nodes.runtime.node_events import Change, NodeEvent
from telerobot_nodes.runtime.restarts import Restarts
from telerobot_nodes.runtime.state_folder import StateFolder

SUPERVISED = "TELEROBOT_SUPERVISED"
NOT_STARTED = 127
PATIENCE = 10.0  # [s] of the nodes that start last for the others
GRACE = 3.0  # [s] from one stop signal to the next
START_REFUSED = 2  # exit code (nodes/framework/process.py): the next start would be refused as well
STOPPED_BY = (signal.SIGINT, signal.SIGTERM)
ENDED_BY_LIMIT = -signal.SIGALRM  # deactivated, then stuck in the middleware (nodes/framework/process.py)
CLEAN_CODES = frozenset({0, *(-one for one in STOPPED_BY), *(128 + one for one in STOPPED_BY)})

NODE_ENVIRONMENT = {
    "ROS_PYTHON_CHECK_FIELDS": "1",  # a wrong type in a message is an error, not a wrong number
    "RCUTILS_LOGGING_USE_STDOUT": "1",
    "RCUTILS_LOGGING_BUFFERED_STREAM": "0",
    "PYTHONUNBUFFERED": "1",
    "OMP_NUM_THREADS": "1",  # matrices are small; more threads would disturb the control loop
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}


Process = subprocess.Popen[str] | ForkedProcess


def node_environment(base: Mapping[str, str]) -> dict[str, str]:
    """Environment of a node's process."""
    prefix = {"AMENT_PREFIX_PATH": sys.prefix} if Path(sys.prefix, "share", "ament_index").is_dir() else {}
    return {**prefix, **base, **transport_environment(base), **NODE_ENVIRONMENT}


def join_graph() -> None:
    """Set what rclpy reads: the graphs of this host, unless the environment says otherwise."""
    os.environ.update(node_environment(os.environ))


class Supervisor:
    """The processes of one graph. Callbacks run on the nodes' threads, one at a time."""

    def __init__(
        self,
        options: GraphOptions,
        on_event: Callable[[NodeEvent], None] | None = None,
        on_line: Callable[[str, str], None] | None = None,
        command: Callable[[str, GraphOptions], list[str]] | None = None,
        grace: float = GRACE,
    ) -> None:
        """`on_line(node, line)` receives the output; default: print it after the node's name. `grace` [s].

        `on_event`: default: print restarts, and the end of a node that is not started again.

        `command(node, options)` is what runs in place of a node; default: the node, forked from a `ForkServer`.
        """
        self.options = options
        self.failure: NodeEvent | None = None  # the end of a required node
        self.unclean: list[NodeEvent] = []  # nodes that were killed or ended with an error while stopping
        self.by_limit: list[NodeEvent] = []  # nodes that came to rest, and whose clean-up then hung until its limit
        self._state: StateFolder | None = None
        self._on_event = on_event or _print_restart
        self._on_line = on_line or self._print_line
        self._command = command or node_command
        self._forks = command is None
        self._server: ForkServer | None = None
        self._grace = grace
        self._change = threading.Condition()  # guards `_ready`, `_loaded` and `_processes`
        self._callback_lock = threading.Lock()  # one callback at a time
        self._stop_lock = threading.Lock()
        self._stopping = threading.Event()
        self._ready: set[str] = set()
        self._loaded: set[str] = set()  # nodes that were ready once, or ended before
        self._processes: dict[str, Process] = {}
        self._threads: list[threading.Thread] = []
        self._width = max((len(entry.name) for entry in options.nodes), default=0)

    # for the owner -------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start every node in order; returns once all processes run, but for those that start last.

        Raises InvalidValueError for the state folder.
        """
        self._state = StateFolder(self.options.state, self._stopping.is_set)
        if self._state.made:
            _print_notice(f"state folder {self._state.folder} made")
        if self._forks:
            self._server = self._load_server()
        for entry in self.options.nodes:
            running = threading.Event()
            thread = threading.Thread(target=self._attend, args=(entry, running), name=entry.name, daemon=True)
            self._threads.append(thread)
            thread.start()
            running.wait()

    def wait_ready(self, timeout: float) -> bool:
        """Wait until every node is ready; False after `timeout` [s], a failure, or a stop."""
        with self._change:
            self._change.wait_for(lambda: not self.waiting_for() or self._stopping.is_set(), timeout)
            return not self.waiting_for() and not self._stopping.is_set()

    def waiting_for(self) -> list[str]:
        """Names of the nodes that are not ready."""
        return [entry.name for entry in self.options.nodes if entry.name not in self._ready]

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until a stop is requested or a required node has ended; False after `timeout` [s]."""
        return self._stopping.wait(timeout)

    def request_stop(self) -> None:
        """Request the stop without waiting for it; may be called from a callback."""
        self._stopping.set()
        with self._change:
            self._change.notify_all()

    def stop(self) -> int:
        """Stop every node and wait for its end; 0 if all ended cleanly and none had failed, else 1. May be repeated.

        A node that its limit ended had come to rest and saved everything: it is in `by_limit`, and no failure.
        """
        self.request_stop()
        with self._stop_lock:
            self._escalate()
            if self._server is not None:
                self._server.close()
            if self._state is not None:
                self._state.close()
        return 1 if self.failure or self.unclean else 0

    def pid(self, name: str) -> int:
        """Process id of a node that was started."""
        return self._processes[name].pid

    def _escalate(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            self._signal(number)
            deadline = time.monotonic() + self._grace
            threads = [thread for thread in self._threads if thread.ident]  # a thread not begun yet will start nothing
            for thread in threads:
                thread.join(max(0.0, deadline - time.monotonic()))
            if not any(thread.is_alive() for thread in threads):
                return

    # the thread of one node ----------------------------------------------------------------------------------

    def _attend(self, entry: Node, running: threading.Event) -> None:
        restarts, worked = Restarts(entry.restarts), False
        if entry.name in LAST:
            running.set()
            with self._change:
                self._change.wait_for(lambda: self._others_loaded() or self._stopping.is_set(), PATIENCE)
        while True:
            code, ready = self._run_once(entry.name, running)
            worked = worked or ready
            if self._stopping.is_set():
                return
            pause = restarts.pause(time.monotonic()) if worked or code != START_REFUSED else None
            change = Change.GIVEN_UP if pause is None else Change.RESTARTING
            self._report(NodeEvent(entry.name, change, code, restarts.count))
            if pause is None:
                break
            if self._stopping.wait(pause):
                return
        if entry.required:
            self.failure = NodeEvent(entry.name, Change.ENDED, code)
            threading.Thread(target=self.stop, name="stop", daemon=True).start()

    def _others_loaded(self) -> bool:
        return all(entry.name in self._loaded for entry in self.options.nodes if entry.name not in LAST)

    def _load_server(self) -> ForkServer | None:
        """A server that has loaded what the nodes share; None without one, and when a stop is requested meanwhile."""
        server = ForkServer(node_environment(os.environ), self._descriptors)
        try:
            while not server.is_loaded(timeout=0.1):
                if self._stopping.is_set():
                    server.close()
                    return None
        except OSError as error:
            _give_up(server, error)
            return None
        return server

    @property
    def _descriptors(self) -> tuple[int, ...]:
        return self._state.descriptors if self._state is not None else ()

    def _run_once(self, name: str, running: threading.Event) -> tuple[int, bool]:
        """Run a node to its end; its exit code, and whether it had been ready."""
        try:
            process = self._spawn(name)
        except OSError as error:
            process = None
            self._forward_line(name, f"not started: {error}")
        running.set()
        if process is None:
            return NOT_STARTED, False
        self._report(NodeEvent(name, Change.STARTED))
        reader = threading.Thread(target=self._read, args=(name, process), name=f"{name} output", daemon=True)
        reader.start()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        _end_session(process)  # before the process id is given back; ends the output too
        code = process.wait()
        reader.join()
        event, ready = NodeEvent(name, Change.ENDED, code), name in self._ready
        if self._stopping.is_set() and code not in CLEAN_CODES and ready:  # else it did nothing yet
            (self.by_limit if code == ENDED_BY_LIMIT else self.unclean).append(event)
        self._report(event)
        return code, ready

    def _spawn(self, name: str) -> Process | None:
        environment = {
            **node_environment(os.environ),
            SUPERVISED: "1",
            STATE_VARIABLE: str(self._state.folder if self._state is not None else ""),
        }
        with self._change:  # so that `stop` finds either no process or this one
            if self._stopping.is_set():
                return None
            process = self._processes[name] = self._start_process(self._command(name, self.options), environment)
            return process

    def _start_process(self, words: list[str], environment: dict[str, str]) -> Process:
        if self._server is not None:
            try:
                return self._server.start(words, environment)
            except OSError as error:
                _give_up(self._server, error)
                self._server = None
        return subprocess.Popen(
            words,
            stdin=subprocess.PIPE,  # never written to; it closes when the supervisor dies
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment,
            pass_fds=self._descriptors,
            start_new_session=True,  # Ctrl-C of the terminal reaches the supervisor only
        )

    def _read(self, name: str, process: Process) -> None:
        for line in process.stdout or ():
            text = line.rstrip("\n")
            self._forward_line(name, text)
            if text == f"telerobot: {name} ready":
                self._report(NodeEvent(name, Change.READY))

    def _report(self, event: NodeEvent) -> None:
        with self._change:
            (self._ready.add if event.change is Change.READY else self._ready.discard)(event.node)
            if event.change is not Change.STARTED:
                self._loaded.add(event.node)
            self._change.notify_all()
        with self._callback_lock:
            self._on_event(event)

    def _forward_line(self, name: str, line: str) -> None:
        with self._callback_lock:
            self._on_line(name, line)

    # signals and output --------------------------------------------------------------------------------------

    def _signal(self, number: signal.Signals) -> None:
        with self._change:
            running = [process for process in self._processes.values() if _is_running(process)]
        for process in running:
            if number is signal.SIGKILL:
                _end_session(process)
            else:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, number)

    def _print_line(self, name: str, line: str) -> None:
        try:
            print(f"[{name:<{self._width}}] {line}", flush=True)
        except BrokenPipeError:  # the reader of our output is gone; the graph goes on
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def supervise(supervisor: Supervisor, ready_timeout: float, check_only: bool = False) -> int:
    """Run a graph from the main thread until Ctrl-C, SIGTERM, hang-up or failure; returns the exit code.

    `check_only` stops it as soon as every node is ready.
    """
    asked: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _frame: asked.append(received))  # repeated signals request the same stop
    supervisor.start()
    deadline = time.monotonic() + ready_timeout
    while supervisor.waiting_for() and not asked and not supervisor.wait(0.1):
        if time.monotonic() > deadline:
            _print_notice(f"not ready after {ready_timeout:g} s: {', '.join(supervisor.waiting_for())}")
            return supervisor.stop() or 1
    if not supervisor.waiting_for():
        _print_notice(f"graph {supervisor.options.graph} ready")
    while not check_only and not asked and not supervisor.wait(0.2):
        pass
    code = supervisor.stop()
    if supervisor.failure:
        _print_notice(f"graph stopped: {supervisor.failure}")
    for event in supervisor.unclean:
        _print_notice(f"{event.node} did not stop cleanly: exit code {event.code}")
    for event in supervisor.by_limit:
        _print_notice(f"{event.node} was ended by its limit: its clean-up hung; its output says where")
    return code


def end_with_supervisor() -> None:
    """In a node: end when standard input closes, because the supervisor is gone; kill the session after GRACE."""

    def watch() -> None:
        while os.read(0, 64):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, name="supervisor-watch", daemon=True).start()


def _print_restart(event: NodeEvent) -> None:
    if event.change in (Change.RESTARTING, Change.GIVEN_UP):
        _print_notice(str(event))


def _give_up(server: ForkServer, error: OSError) -> None:
    server.close()
    _print_notice(f"nodes start without a fork server, which takes longer: {error}")


def _is_running(process: Process) -> bool:
    """False once it has ended; unlike `poll`, this leaves its end to the thread that waits for it."""
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:  # waited for already
        return False


def _end_session(process: Process) -> None:
    """Kill the remaining processes of a node's session."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _print_notice(text: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        print(f"telerobot: {text}", file=sys.stderr, flush=True)
