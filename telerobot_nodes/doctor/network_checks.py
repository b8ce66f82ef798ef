"""Checks of what connects the nodes: domain, discovery, profile, ports, hosts file, security."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from telerobot_nodes.core.config import DISCOVERY, PROFILES, is_loopback
from telerobot_nodes.doctor.findings import Finding, Verdict, judged
from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.link import keys_of, load_hosts, roles_of

DOMAINS = range(102)  # above them DDS uses ports that Linux gives to anybody
RANGES = ("LOCALHOST", "OFF", "SUBNET", "SYSTEM_DEFAULT")
MIDDLEWARE = ("", "rmw_fastrtps_cpp")
CONSOLE_PORT = 8080
SOCKET_BUFFER = 2_097_152  # [B] that a node asks for its sockets to receive in, in config/udp_loopback.xml
RECEIVE_MOST = Path("/proc/sys/net/core/rmem_max")
LOOPBACK = "127.0.0.1"


def domain(environment: Mapping[str, str] = os.environ) -> Finding:
    """The domain of this shell."""
    text = environment.get("ROS_DOMAIN_ID", "") or "0"
    right = text.isascii() and text.isdigit() and int(text) in DOMAINS
    advice = f"ROS_DOMAIN_ID: allowed: {DOMAINS[0]} .. {DOMAINS[-1]}"
    return judged("domain", text, None if right else Verdict.WRONG, advice)


def discovery(environment: Mapping[str, str] = os.environ) -> Finding:
    """Who else sees the nodes."""
    found = environment.get(DISCOVERY, "")
    if found and found not in RANGES:
        return Finding("discovery", found, Verdict.WRONG, f"{DISCOVERY}: allowed: {', '.join(RANGES)}")
    wide = found == "SUBNET" or (found == "SYSTEM_DEFAULT" and not is_loopback(environment))
    advice = f"everybody on the network can move the arm: set {DISCOVERY}=LOCALHOST, and --hosts for two hosts"
    return judged("discovery", found or "this host only, by default", Verdict.CARE if wide else None, advice)


def middleware(environment: Mapping[str, str] = os.environ) -> Finding:
    """The middleware that the nodes load, and its profile."""
    chosen = environment.get("RMW_IMPLEMENTATION", "")
    if chosen not in MIDDLEWARE:
        return Finding("middleware", chosen, Verdict.CARE, f"tried with {MIDDLEWARE[1]} only")
    for name in PROFILES:
        if environment.get(name):
            return _profile(name, Path(environment[name]))
    return Finding("middleware", MIDDLEWARE[1])


def sockets(most: Path = RECEIVE_MOST) -> Finding:
    """What a node's sockets can hold while others keep it from the processor."""
    try:
        allowed = int(most.read_text())
    except (OSError, ValueError):
        return Finding("sockets", f"{most} is not readable", Verdict.CARE, "messages may be lost and sent again")
    found = f"{allowed / 1e6:.1f} MB allowed of {SOCKET_BUFFER / 1e6:.1f} MB"
    advice = (
        f"a busy host loses messages and sends them again: `sysctl -w net.core.rmem_max={SOCKET_BUFFER}`, and the same "
        "in /etc/sysctl.d/telerobot.conf"
    )
    return judged("sockets", found, Verdict.CARE if allowed < SOCKET_BUFFER else None, advice)


def security(environment: Mapping[str, str] = os.environ) -> Finding:
    """SROS 2 of this shell."""
    if environment.get("ROS_SECURITY_ENABLE", "").lower() != "true":
        return Finding("security", "nodes trust every process of this host")
    store = environment.get("ROS_SECURITY_KEYSTORE", "")
    missing = not Path(store).is_dir() if store else True
    advice = "ROS_SECURITY_KEYSTORE: allowed: an existing folder; nodes do not start without it"
    return judged("security", f"SROS 2, keystore {store or 'not set'}", Verdict.WRONG if missing else None, advice)


def console_port(port: int = CONSOLE_PORT) -> Finding:
    """The port of the console's page."""
    free = _is_free(socket.SOCK_STREAM, LOOPBACK, port)
    advice = "the console takes the next free port and prints it; or another program has it"
    return judged("console", f"port {port} {'free' if free else 'in use'}", None if free else Verdict.CARE, advice)


def hosts_file(file: Path, role: str, host: str = "") -> Finding:
    """The hosts file, its key, and this host's address and port in it."""
    try:
        hosts = load_hosts(file)
        own = hosts.own(role, host)
        keys = keys_of(file, hosts, own)
        if role == "robot":
            roles_of(file, hosts, keys)
    except TelerobotError as error:
        return Finding("hosts", str(file), Verdict.WRONG, str(error))
    found = f"{own.name}: {own.address}:{own.port}"
    free = _is_free(socket.SOCK_DGRAM, own.address, own.port)
    advice = "the address is not of this host, or the port is in use: `ip address`, `ss -ulpn`"
    return judged("hosts", found, None if free else Verdict.WRONG, advice)


def _profile(name: str, file: Path) -> Finding:
    try:
        root = ElementTree.parse(file).getroot()
    except (OSError, ElementTree.ParseError) as error:
        return Finding("middleware", f"{name}={file}", Verdict.WRONG, f"not readable: {error}")
    right = root.tag.rpartition("}")[2] in ("profiles", "dds")
    return judged("middleware", f"{name}={file}", None if right else Verdict.WRONG, f"no profiles: <{root.tag}>")


def _is_free(kind: socket.SocketKind, address: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, kind) as one:
        try:
            one.bind((address, port))
        except OSError:
            return False
    return True
