"""Processes around the graph: an observer, others that join and leave, others that send what nobody should.

Each function here is the work of a process of its own.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import Any

FOUND = 60.0  # [s] for the observer to receive everything
STAY = 2.0  # [s] in the graph
TOPICS = ("gcmsf_control/state", "plan_executor/state")  # of the table: a process that joins reads them
LOOK = 0.02  # [s]
ANSWER = 10.0  # [s] for a goal
EXECUTE, REFUSED = "gcmsf_control/execute", 3  # its report, in PrimitiveReport.msg


def observe(domain: int, end: Any, ready: Any, results: Any) -> None:
    """Record setpoints and states of the robot until `end` is set; puts the rows of a `judge.Record`."""
    from telerobot_nodes.nodes.framework import Foreground, be_urgent
    from telerobot_nodes.nodes.probes import in_domain

    be_urgent()  # what it measures is the graph, not its own waiting for a processor
    now = time.monotonic
    setpoints: list[tuple[float, float, int]] = []
    loop: list[tuple[float, int, int, int, bool]] = []
    hardware: list[tuple[float, int]] = []
    with in_domain(domain), Foreground(f"join_observer_{os.getpid()}") as client:
        client.subscribe(
            "hardware_interface/setpoint", lambda one: setpoints.append((now(), one.monotonic, int(one.number)))
        )
        client.subscribe(
            "gcmsf_control/state",
            lambda one: loop.append((now(), int(one.state), int(one.steps), int(one.missed), bool(one.halted))),
        )
        client.subscribe("hardware_interface/state", lambda one: hardware.append((now(), int(one.state))))
        if client.wait(lambda: setpoints and loop and hardware, FOUND):
            ready.set()
        else:
            counts = len(setpoints), len(loop), len(hardware)
            print(f"observer: setpoints, loop, hardware received in {FOUND:g} s: {counts}", file=sys.stderr, flush=True)
        while not end.is_set():
            client.wait(end.is_set, 1.0)
    results.put((setpoints, loop, hardware))


def join(domain: int, count: int, together: int, limit: float, results: Any) -> None:
    """Fork `count` processes that join the graph and leave it again, `together` at once, for `limit` [s] at most.

    Puts how many joined, how many of them received from the graph, and how many ended in disorder.
    """
    from telerobot_nodes.nodes.framework import Foreground  # noqa: F401  the forks have it: a process joins, not its files

    os.environ["ROS_DOMAIN_ID"] = str(domain)
    alive: set[int] = set()
    joined = nothing = disorder = 0
    until = time.monotonic() + limit
    while alive or (joined < count and time.monotonic() < until):
        while len(alive) < together and joined < count and time.monotonic() < until:
            alive.add(_forked())
            joined += 1
            time.sleep(LOOK)
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            alive.discard(pid)
            code = os.waitstatus_to_exitcode(status)
            nothing += code == _NOTHING
            disorder += code not in (0, _NOTHING)
        else:
            time.sleep(LOOK)
    results.put((joined, joined - nothing - disorder, disorder))


_NOTHING = 3  # exit code: joined, and received nothing


def _forked() -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    with contextlib.suppress(BaseException):  # a fork never returns into its parent's program
        code = _visit()
    sys.stderr.flush()
    os._exit(code)


def _visit() -> int:
    from telerobot_nodes.nodes.framework import Foreground

    got: list[Any] = []
    with Foreground(f"join_{os.getpid()}") as client:
        for name in TOPICS:
            client.subscribe(name, got.append)
        client.spin(STAY)
    return 0 if got else _NOTHING


def bombs(domain: int, texts: list[str], results: Any) -> None:
    """Send goals with these values to the control loop's node; puts how many were refused, and the longest wait [s]."""
    from telerobot_nodes.nodes.framework import Foreground, interface_class
    from telerobot_nodes.nodes.probes import in_domain

    parameters = interface_class("telerobot/msg/PrimitiveParameters")
    goal = interface_class("telerobot/action/ExecutePrimitive").Goal
    refused, longest = 0, 0.0
    with in_domain(domain), Foreground(f"join_bombs_{os.getpid()}") as client:
        sender = client.action_client(EXECUTE)
        client.wait(sender.server_is_ready, ANSWER)
        for text in texts:
            began = time.monotonic()
            wanted = goal(parameters=parameters(name="gcm", agent="stranger", keys=["velocity"], values=[text]))
            handle = client.result(sender.send_goal_async(wanted), ANSWER)
            answered = handle is not None and handle.accepted
            done = client.result(handle.get_result_async(), ANSWER) if answered else None
            longest = max(longest, time.monotonic() - began)
            refused += done is not None and done.result.report.state == REFUSED
    results.put((refused, longest))
