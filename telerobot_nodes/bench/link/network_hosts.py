"""Hosts of one network, each in a network namespace of its own, joined by a bridge in another one.

Needs the right to make namespaces; nothing of it is seen outside them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from telerobot_nodes.bench.link.two_hosts import KEY_FILE
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.link import create_key

NET, PORT = "10.77.0", 7601


class NotAllowedError(TelerobotError):
    """No network namespaces can be made here."""


class NetworkHosts:
    """A network with a host for each name; their addresses are those of `address`. Raises NotAllowedError."""

    def __init__(self, names: Sequence[str]) -> None:
        self.address = {name: f"{NET}.{at}" for at, name in enumerate(names, 1)}
        self._mark = f"tr{os.getpid()}"
        self._made: list[str] = []
        try:
            self._build()
        except (OSError, subprocess.CalledProcessError) as error:
            self.close()
            raise NotAllowedError(str(getattr(error, "stderr", "") or error)) from error

    def close(self) -> None:
        """Remove all of it; what runs inside must have ended."""
        for namespace in self._made:
            subprocess.run(["ip", "netns", "delete", namespace], check=False, capture_output=True)
        self._made.clear()

    def write_hosts(self, folder: Path, roles: Mapping[str, str]) -> Path:
        """Write a hosts file with these hosts, by their role, and its key; returns the file."""
        create_key(folder / KEY_FILE)
        rows = [f"  {name}: {{role: {roles[name]}, address: {at}, port: {PORT}}}" for name, at in self.address.items()]
        file = folder / "hosts.yaml"
        file.write_text("\n".join([f"key: {KEY_FILE}", "hosts:", *rows, ""]))
        return file

    def inside(self, name: str) -> tuple[str, ...]:
        """What goes before a command to run it on a host."""
        return ("ip", "netns", "exec", self._namespace(name))

    def run(self, name: str, *words: str, limit: float = 90.0) -> subprocess.CompletedProcess[str]:
        """Run a `telerobot` command on a host and wait for its end."""
        command = [*self.inside(name), sys.executable, "-m", "telerobot_nodes", *words]
        return subprocess.run(command, check=False, capture_output=True, text=True, timeout=limit)

    def program(self, name: str, source: str, domain: int | None = None) -> subprocess.Popen[str]:
        """Start a Python program on a host; `domain` of ROS, None: that of this process."""
        command = [*self.inside(name), sys.executable, "-c", source]
        environment = {**os.environ, **({} if domain is None else {"ROS_DOMAIN_ID": str(domain)})}
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)

    def plug(self, name: str, inserted: bool) -> None:
        """Pull a host's cable out of the network, or put it in again."""
        _ip("-n", self._namespace("net"), "link", "set", f"to_{name}", "up" if inserted else "down")

    def have_address(self, name: str, has: bool) -> None:
        """Give a host's interface its address, or take it."""
        word = "add" if has else "delete"
        _ip("-n", self._namespace(name), "address", word, f"{self.address[name]}/24", "dev", "cable")

    def _namespace(self, name: str) -> str:
        return f"{self._mark}-{name}"

    def _build(self) -> None:
        net = self._add("net")
        _ip("-n", net, "link", "add", "bridge", "type", "bridge")
        _ip("-n", net, "link", "set", "bridge", "up")
        for name in self.address:
            host = self._add(name)
            _ip("-n", net, "link", "add", f"to_{name}", "type", "veth", "peer", "name", "cable", "netns", host)
            _ip("-n", net, "link", "set", f"to_{name}", "master", "bridge", "up")
            for device in ("lo", "cable"):
                _ip("-n", host, "link", "set", device, "up")
            self.have_address(name, True)

    def _add(self, name: str) -> str:
        namespace = self._namespace(name)
        _ip("netns", "add", namespace)
        self._made.append(namespace)
        return namespace


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)
