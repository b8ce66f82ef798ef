"""Robot's and operator's side as two hosts would run them: own processes, own ROS domains, a network between."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from telerobot_nodes.bench.link.relay import LOOPBACK, Relay
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.link import create_key
from telerobot_nodes.link.roles import KeyRole

STOP_LIMIT = 20.0  # [s]
KEY_FILE = "link.key"
NAMES = {"robot": "cell", "operator": "desk"}


def write_hosts(
    folder: Path, extra: str = "", rate: float = 0.0, keyed: bool = True, role: KeyRole | None = None
) -> tuple[Relay, dict[str, Path]]:
    """A network, and the hosts file of each side, in which the other side is where the network is.

    `role` of the operator's key; None: without one.
    """
    ports = dict(zip(NAMES, _free_ports(2), strict=True))
    relay = Relay(ports["robot"], ports["operator"])
    seen = {"robot": relay.robot_seen_at, "operator": relay.operator_seen_at}
    if keyed:
        create_key(folder / KEY_FILE, role)
    files = {}
    for own in NAMES:
        rows = [
            f"  {name}: {{role: {role}, port: {ports[role] if role == own else seen[role]}, rate: {rate:g}}}"
            for role, name in NAMES.items()
        ]
        files[own] = folder / f"{own}.yaml"
        files[own].write_text("\n".join([f"key: {KEY_FILE}" * keyed, extra, "hosts:", *rows, ""]))
    return relay, files


def children() -> dict[int, list[int]]:
    """The processes of this machine, by the one that started them."""
    found: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            found.setdefault(parent, []).append(int(entry.name))
    return found


@dataclass
class Side:
    """One host: a command that runs until it is interrupted, and its output."""

    role: str
    domain: int
    words: Sequence[str]
    ready_line: str
    log: Path
    prefix: Sequence[str] = ()  # of the command, such as `ip netns exec NAME`
    lines: list[str] = field(default_factory=list)
    ready: threading.Event = field(default_factory=threading.Event)
    process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the command, perhaps again."""
        self.ready.clear()
        environment = {**os.environ, "ROS_DOMAIN_ID": str(self.domain), "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            [*self.prefix, sys.executable, "-m", "telerobot_nodes", *self.words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment,
        )
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()

    def wait_ready(self, limit: float) -> None:
        """Wait for its line; raises TelerobotError after `limit` [s]."""
        if not self.ready.wait(limit):
            raise TelerobotError(f"{self.role}: not ready in {limit:g} s; its output:\n" + "\n".join(self.lines[-30:]))

    def pid(self, node: str) -> int:
        """Process of a node that it runs. Raises TelerobotError."""
        for pid in children().get(self.process.pid, ()) if self.process is not None else ():
            with contextlib.suppress(OSError, ValueError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
                if words[words.index("run") + 1] == node:
                    return pid
        raise TelerobotError(f"{self.role}: no process of {node}")

    def processor_time(self) -> float:
        """Of the command itself, since its start [s]. Raises TelerobotError."""
        if self.process is None:
            raise TelerobotError(f"{self.role}: not started")
        tasks = Path(f"/proc/{self.process.pid}/task")
        return sum(int((one / "schedstat").read_text().split()[0]) for one in tasks.iterdir()) * 1e-9

    def stop(self) -> int:
        """Interrupt it; its exit code."""
        if self.process is None:
            return 0
        self.process.send_signal(signal.SIGINT)
        try:
            code = self.process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.log.write_text("\n".join(self.lines) + "\n")
        return code

    def _read(self, process: subprocess.Popen[str]) -> None:
        for line in process.stdout or ():
            self.lines.append(line.rstrip())
            if self.ready_line in line:
                self.ready.set()


class TwoHosts:
    """`telerobot up robot --hosts FILE` and `telerobot up operator --hosts FILE`, and the network between them."""

    def __init__(
        self,
        folder: Path,
        domains: tuple[int, int],
        more: Mapping[str, Sequence[str]],
        extra: str = "",
        role: KeyRole | None = None,
    ) -> None:
        """Domains of robot and operator; `more` arguments by role; `role` of the operator's key."""
        self.relay, files = write_hosts(folder, extra, role=role)
        self.bags = {role: folder / f"{role}_bag" for role in NAMES}
        self.sides = {
            role: Side(
                role,
                domain,
                ("up", role, "--hosts", str(files[role]), "--bag", str(self.bags[role]), *more.get(role, ())),
                f"graph {role} ready",
                folder / f"{role}.log",
            )
            for role, domain in zip(NAMES, domains, strict=True)
        }

    def start(self, limit: float) -> None:
        """Start both and wait until both are ready; raises TelerobotError after `limit` [s]."""
        for side in self.sides.values():
            side.start()
        for side in self.sides.values():
            side.wait_ready(limit)

    def stop(self) -> dict[str, int]:
        """Stop both; exit codes by role."""
        codes = {role: side.stop() for role, side in self.sides.items()}
        self.relay.close()
        return codes


def _free_ports(count: int) -> list[int]:
    made = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for one in made:
        one.bind((LOOPBACK, 0))
    ports = [int(one.getsockname()[1]) for one in made]
    for one in made:
        one.close()
    return ports
