"""What may keep a graph from running well on this host: findings, each with what to do. Nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from telerobot_nodes.doctor import host_checks, install_checks, network_checks
from telerobot_nodes.doctor.findings import Finding, Verdict
from telerobot_nodes.doctor.scheduling_lateness import Lateness, measure, probe

__all__ = ["Finding", "Lateness", "Verdict", "examine", "measure", "probe"]


def examine(folder: Path, hosts: Path | None = None, role: str = "robot", host: str = "") -> Iterator[Finding]:
    """Check this host, one finding after the other; takes some seconds.

    `folder`: of recordings and journals. `hosts`: hosts file, in which this host has `role`.
    `host`: its name there, needed where several hosts have the role.
    """
    yield install_checks.python()
    yield install_checks.packages()
    yield install_checks.messages()
    yield install_checks.compiled()
    yield host_checks.processors()
    yield host_checks.scheduling()
    yield host_checks.real_time()
    yield host_checks.clock()
    yield host_checks.shared_memory()
    yield host_checks.disk(folder)
    yield network_checks.domain()
    yield network_checks.discovery()
    yield network_checks.middleware()
    yield network_checks.sockets()
    yield network_checks.security()
    yield network_checks.console_port()
    if hosts is not None:
        yield network_checks.hosts_file(hosts, role, host)
