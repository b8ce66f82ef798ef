"""The hosts file: which hosts one robot's graph runs on, their addresses, and the keys of the link.

All share one key, or an operator's host has one of its own, which only it and the robot know. Read strictly; errors
name file, line, column and key. Without a key every address is a loopback address.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NoReturn

from telerobot_nodes.core.config import OWN_KEY, FileMapping, Key, Spot, build, read_yaml
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.link.datagrams import CIPHER_PACKAGE, can_encrypt
from telerobot_nodes.link.roles import HostRole, LinkKey, Roles, read_key

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
    key: str = ""  # file with its own key, from the folder of the hosts file; empty: the shared one

    def __post_init__(self) -> None:
        if len(self.name.encode()) > 32 or not self.name.replace("_", "a").replace("-", "a").isalnum():
            raise InvalidValueError("name", self.name, "allowed: up to 32 letters, digits, _ and -")
        try:
            ipaddress.ip_address(self.address)
        except ValueError:
            raise InvalidValueError("address", self.address, "allowed: a numeric address, as 192.168.1.10") from None
        if 0.0 < self.rate < 16_000.0:
            raise InvalidValueError("rate", self.rate, "allowed: 0, or 16000 bit/s and more")
        if self.key and self.role == "robot":
            raise InvalidValueError("key", self.key, "allowed: at the hosts of role operator")

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
    encrypt: bool = False  # what crosses, so that nobody reads it without the key
    stale_after: Annotated[float, Key(low=0.2, high=60.0)] = 0.4  # [s] of silence
    on_loss: Literal["finish", "hold"] = "finish"  # of the link: the arm finishes what it holds, or is halted

    def own(self, role: str, name: str = "") -> HostRow:
        """The host of a role; by name where several have the role. Raises InvalidValueError."""
        rows = [row for row in self.hosts if row.role == role and name in ("", row.name)]
        if len(rows) != 1:
            names = ", ".join(row.name for row in self.hosts if row.role == role)
            raise InvalidValueError("host", name, f"allowed as {role} of this hosts file: {names or 'none'}")
        return rows[0]

    def key_file(self, operator: HostRow) -> str:
        """The file with the key between an operator's host and the robot's; empty: none."""
        return operator.key or self.key

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
    all_keyed = all(hosts.key_file(row) for row in hosts.hosts if row.role == "operator")
    for row in hosts.hosts:
        there = places.setdefault((row.address, row.port), row.name)
        if there != row.name:
            _row(raw, row).reject("port", f"{row.address}:{row.port} is that of {there} too")
        if not row.is_loopback and not (all_keyed if row.role == "robot" else hosts.key_file(row)):
            _row(raw, row).reject("address", f"{row.address} is not a loopback address: `key` is needed")
    if hosts.encrypt and not all_keyed:
        raw.reject("encrypt", "a key is needed for every operator's host")
    if hosts.encrypt and not can_encrypt():
        raw.reject("encrypt", f"the package {CIPHER_PACKAGE} is not installed")
    if hosts.key:
        shared_key(path, hosts, raw)
    return hosts


def shared_key(path: Path, hosts: Hosts, raw: FileMapping | None = None) -> bytes:
    """The shared key of a hosts file; empty: it has none. Raises ParameterFileError when others may read it."""
    if not hosts.key:
        return b""
    return _read(path, hosts.key, raw or read_yaml(path)).secret


def keys_of(path: Path, hosts: Hosts, own: HostRow) -> dict[str, LinkKey]:
    """The key of the link to each peer of a host, by the peer's name; an empty one where the file names none.

    Raises ParameterFileError.
    """
    raw = read_yaml(path)
    keys: dict[str, LinkKey] = {}
    for peer in hosts.peers(own):
        operator = peer if own.role == "robot" else own
        file = hosts.key_file(operator)
        where = _row(raw, operator) if operator.key else raw
        keys[peer.name] = _read(path, file, where) if file else LinkKey(b"")
    return keys


def roles_of(path: Path, hosts: Hosts, keys: Mapping[str, LinkKey]) -> Roles:
    """What the operators' hosts may do, by their keys as the robot's host has them.

    Raises ParameterFileError when a role would bind nothing: a key without one beside it, one key or one name twice.
    """
    if all(key.role is None for key in keys.values()):
        return Roles({})
    raw, rights = read_yaml(path), {}
    names: dict[str, tuple[str, LinkKey]] = {}
    for row in (row for row in hosts.hosts if row.role == "operator"):
        key, where = keys[row.name], _row(raw, row)
        if key.role is None:
            where.reject("key", f"the key of {row.name} has no role, another's has; allowed: a role for all, or none")
        rights[row.name] = HostRole(key.role, key.agents or (row.name,))
        for other, before in ((name, keys[name]) for name in rights if name != row.name):
            if before.secret == key.secret and before != key:
                where.reject("key", f"{row.name} and {other} have the same key in files with other roles or names")
        for agent in rights[row.name].agents:
            other, before = names.setdefault(agent, (row.name, key))
            if before.secret != key.secret:
                where.reject("key", f"the keys of {other} and {row.name} both speak as {agent!r}; allowed: one of them")
    return Roles(rights)


def _read(path: Path, file: str, where: FileMapping) -> LinkKey:
    def reject(problem: str) -> NoReturn:
        where.reject("key", problem)

    return read_key(path.parent / Path(file).expanduser(), reject)


def _row(raw: FileMapping, row: HostRow) -> FileMapping:
    found = raw["hosts"][row.name]
    return found if isinstance(found, FileMapping) else raw
