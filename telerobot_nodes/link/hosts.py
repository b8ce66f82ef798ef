"""The hosts file: which hosts one robot's graph runs on, their addresses, and the key that they share.

Read strictly; errors name file, line, column and key. Without a key every address is a loopback address.
"""

from __future__ import annotations

import ipaddress
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from telerobot_nodes.core.config import OWN_KEY, FileMapping, Key, Spot, build, read_yaml
from telerobot_nodes.errors import InvalidValueError

KEY_BYTES = 32
LOOPBACK = "127.0.0.1"
Role = Literal["robot", "operator"]


@dataclass(frozen=True)
class HostRow:
    """One host of the file."""

    name: Annotated[str, OWN_KEY]
    role: Role
    port: Annotated[int, Key(low=1024, high=65535)]
    address: str = LOOPBACK  # numeric
    rate: Annotated[float, Key(low=0.0, high=1e9)] = 0.0  # [bit/s] most that is sent to it; 0: no limit

    def __post_init__(self) -> None:
        if len(self.name.encode()) > 32 or not self.name.replace("_", "a").replace("-", "a").isalnum():
            raise InvalidValueError("name", self.name, "allowed: up to 32 letters, digits, _ and -")
        try:
            ipaddress.ip_address(self.address)
        except ValueError:
            raise InvalidValueError("address", self.address, "allowed: a numeric address, as 192.168.1.10") from None
        if 0.0 < self.rate < 16_000.0:
            raise InvalidValueError("rate", self.rate, "allowed: 0, or 16000 bit/s and more")

    @property
    def is_loopback(self) -> bool:
        """Whether only processes of this host reach it."""
        return ipaddress.ip_address(self.address).is_loopback


@dataclass(frozen=True)
class Hosts:
    """The hosts of one robot."""

    hosts: tuple[HostRow, ...]
    engine: Literal["udp"] = "udp"
    key: str = ""  # file with the shared key, from the folder of the hosts file
    stale_after: Annotated[float, Key(low=0.2, high=60.0)] = 0.4  # [s] of silence
    on_loss: Literal["finish", "hold"] = "finish"  # of the link: the arm finishes what it holds, or is halted

    def own(self, role: str, name: str = "") -> HostRow:
        """The host of a role; by name where several have the role. Raises InvalidValueError."""
        rows = [row for row in self.hosts if row.role == role and name in ("", row.name)]
        if len(rows) != 1:
            names = ", ".join(row.name for row in self.hosts if row.role == role)
            raise InvalidValueError("host", name, f"allowed as {role} of this hosts file: {names or 'none'}")
        return rows[0]

    def peers(self, own: HostRow) -> tuple[HostRow, ...]:
        """The hosts that a host exchanges messages with: those of the other role."""
        return tuple(row for row in self.hosts if row.role != own.role)


def load_hosts(path: Path) -> Hosts:
    """The hosts of a file. Raises ParameterFileError."""
    raw = read_yaml(path)
    hosts = build(Hosts, raw, Spot(str(path)))
    robots = [row.name for row in hosts.hosts if row.role == "robot"]
    if len(robots) != 1 or len(hosts.hosts) < 2:
        raw.reject("hosts", f"one host of role robot and at least one operator are needed; robots: {robots}")
    places: dict[tuple[str, int], str] = {}
    for row in hosts.hosts:
        there = places.setdefault((row.address, row.port), row.name)
        if there != row.name:
            _row(raw, row).reject("port", f"{row.address}:{row.port} is that of {there} too")
        if not row.is_loopback and not hosts.key:
            _row(raw, row).reject("address", f"{row.address} is not a loopback address: `key` is needed")
    if hosts.key:
        shared_key(path, hosts, raw)
    return hosts


def shared_key(path: Path, hosts: Hosts, raw: FileMapping | None = None) -> bytes:
    """The key of a hosts file; empty: it has none. Raises ParameterFileError when others may read it."""
    if not hosts.key:
        return b""
    raw = raw or read_yaml(path)
    file = path.parent / Path(hosts.key).expanduser()
    try:
        state, text = file.stat(), file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raw.reject("key", f"{file}: not readable: {error}; `telerobot security create` makes one")
    if not stat.S_ISREG(state.st_mode) or state.st_mode & 0o077 or state.st_uid not in (0, os.getuid()):
        raw.reject("key", f"{file}: others may read or change it; allowed: mode 600, of this user")
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raw.reject("key", f"{file}: {2 * KEY_BYTES} hexadecimal digits are needed")
    return key


def create_key(file: Path) -> None:
    """Write a new key that only this user may read. Raises InvalidValueError when the file exists."""
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidValueError("key file", str(file), f"not written: {error.strerror}") from None
    with os.fdopen(handle, "w", encoding="ascii") as out:
        out.write(secrets.token_hex(KEY_BYTES) + "\n")


def _row(raw: FileMapping, row: HostRow) -> FileMapping:
    found = raw["hosts"][row.name]
    return found if isinstance(found, FileMapping) else raw
