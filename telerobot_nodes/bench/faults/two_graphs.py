"""The graphs of both hosts as processes: started as their users start them, killed, and examined from outside."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from telerobot_nodes.bench.link import Relay, Side, TwoHosts, children
from telerobot_nodes.errors import TelerobotError

START_LIMIT = 180.0  # [s]
ROBOT_NODES = (
    "bag_recorder",
    "link",
    "plan_executor",
    "rtc_decision_unit",
    "gcmsf_control",
    "hardware_interface",
)
LEFT_OUT = {"robot": ("cspace_planner",), "operator": ("operator_console",)}
OPERATOR_NODES = ("bag_recorder", "link", "path_plan_queue", "forward_simulator", "operator_input")


class TwoGraphs:
    """`telerobot up robot` and `telerobot up operator`, and the network between them."""

    def __init__(
        self, folder: Path, domains: tuple[int, int], left_out: Mapping[str, Sequence[str]] = LEFT_OUT
    ) -> None:
        """`domains` of robot and operator; `left_out`: nodes that are not started, by role."""
        self._left_out = {role: _without(names) for role, names in left_out.items()}
        self.bags: list[Path] = []  # of the robot, one for each start
        self.robot_domain = domains[0]
        self._folder, self._domains = folder, domains
        self._starts = 0
        self._hosts: TwoHosts | None = None

    @property
    def hosts(self) -> TwoHosts:
        """The running graphs. Raises TelerobotError."""
        if self._hosts is None:
            raise TelerobotError("the graph does not run")
        return self._hosts

    @property
    def relay(self) -> Relay:
        """The network."""
        return self.hosts.relay

    def start(self, environment: Mapping[str, str] | None = None) -> None:
        """Start both graphs; `environment`: more variables of their processes. Raises TelerobotError."""
        self._starts += 1
        folder = self._folder / f"start_{self._starts}"
        folder.mkdir(parents=True)
        more = {**self._left_out, "robot": (*self._left_out["robot"], "--state", str(folder / "robot_state"))}
        self._hosts = TwoHosts(folder, self._domains, more)
        self.bags.append(self._hosts.bags["robot"])
        with _environment(environment or {}):
            self._hosts.start(START_LIMIT)

    @contextlib.contextmanager
    def folder_on(self, folder: Path) -> Iterator[None]:
        """A start inside has its files in another folder."""
        before, self._folder = self._folder, folder
        try:
            yield
        finally:
            self._folder = before

    def stop(self) -> dict[str, int]:
        """Stop both graphs; exit codes by role."""
        codes = self._hosts.stop() if self._hosts is not None else {}
        self._hosts = None
        return codes

    def begin_side(self, role: str) -> Side:
        """Start one graph again after its end, as the first time but with its own recording; nothing is waited for."""
        old, bag = self.hosts.sides[role], str(self.hosts.bags[role])
        words = [f"{word}_again" if word == bag else word for word in old.words]
        if role == "robot":
            self.bags.append(Path(f"{bag}_again"))
        side = Side(role, old.domain, words, old.ready_line, old.log.with_name(f"{role}_again.log"))
        self.hosts.sides[role] = side
        side.start()
        return side

    def runs(self, role: str) -> bool:
        """Whether the command of a host still runs."""
        process = self.hosts.sides[role].process
        return process is not None and process.poll() is None

    def pid(self, role: str, node: str) -> int:
        """Process of a node. Raises TelerobotError."""
        return self.hosts.sides[role].pid(node)

    def kill(self, role: str, node: str) -> float:
        """End a node at once; the time of it [s]."""
        os.kill(self.pid(role, node), signal.SIGKILL)
        return time.monotonic()

    def kill_side(self, role: str) -> float:
        """End a host's command and every process below it at once; the time of it [s]. Raises TelerobotError."""
        process = self.hosts.sides[role].process
        if process is None:
            raise TelerobotError(f"{role}: not started")
        for pid in (process.pid, *_below(process.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        return time.monotonic()

    def times_ready(self, role: str, node: str) -> int:
        """How often a node has reported that it is ready."""
        return sum(line.endswith(f"telerobot: {node} ready") for line in list(self.hosts.sides[role].lines))

    def memory(self) -> dict[str, float]:
        """Resident memory of the robot's nodes [MB]."""
        found = {}
        for node in ROBOT_NODES:
            with contextlib.suppress(TelerobotError, OSError):
                pages = int(Path(f"/proc/{self.pid('robot', node)}/statm").read_text().split()[1])
                found[node] = pages * os.sysconf("SC_PAGE_SIZE") / 1e6
        return found

    def said(self, role: str, text: str) -> bool:
        """Whether a line of a host's output holds a text."""
        return any(text in line for line in list(self.hosts.sides[role].lines))

    @staticmethod
    def telerobot(
        words: Sequence[str], limit: float = 60.0, environment: Mapping[str, str] | None = None
    ) -> tuple[int, str]:
        """Exit code and output of a command; -1 when it still runs after `limit` [s]."""
        try:
            done = subprocess.run(
                [sys.executable, "-m", "telerobot_nodes", *words],
                check=False,
                capture_output=True,
                text=True,
                timeout=limit,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired as error:
            return -1, str(error.stdout or b"") + str(error.stderr or b"")
        return done.returncode, done.stdout + done.stderr


def _without(names: Sequence[str]) -> list[str]:
    """The words of `telerobot up` that leave out these nodes."""
    return [word for name in names for word in ("--without", name)]


def _below(pid: int) -> list[int]:
    """Processes that this one started, and those that they started."""
    started, found, next_ones = children(), [], [pid]
    while next_ones:
        next_ones = [child for one in next_ones for child in started.get(one, ())]
        found += next_ones
    return found


@contextlib.contextmanager
def _environment(more: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in more}
    os.environ.update(more)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
