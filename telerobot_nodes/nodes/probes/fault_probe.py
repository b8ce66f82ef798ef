"""Observers of both hosts for the fault runner: they record what the graph publishes, and send what nobody should."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from telerobot_nodes import graph
from telerobot_nodes.core.protocol import LinkState, UpdateKind
from telerobot_nodes.nodes.clients import Terminal
from telerobot_nodes.nodes.framework import Foreground, interface_class, qos_profile

DOMAIN = "ROS_DOMAIN_ID"


@contextmanager
def in_domain(domain: int) -> Iterator[None]:
    """A context made inside is in this ROS domain."""
    before = os.environ.get(DOMAIN)
    os.environ[DOMAIN] = str(domain)
    try:
        yield
    finally:
        if before is None:
            del os.environ[DOMAIN]
        else:
            os.environ[DOMAIN] = before


def _fill(message: Any, fields: Mapping[str, Any]) -> Any:
    for name, value in fields.items():
        owner, _, last = name.rpartition(".")
        target = message
        for part in filter(None, owner.split(".")):
            target = getattr(target, part)
        setattr(target, last, value)
    return message


def message_of(topic: str, fields: Mapping[str, Any]) -> Any:
    """A message of a topic of the table; `fields` by dotted name."""
    return _fill(interface_class(graph.topic(topic).type)(), fields)


class RobotWatch(Foreground):
    """Receives on a thread of its own, in the robot's domain, and passes plain values on to `receive`.

    `receive(topic, time, values)`: values are the message's fields of `FIELDS`, arrays as NumPy arrays.
    """

    FIELDS: Mapping[str, tuple[str, ...]] = {
        "joint_states": ("position", "velocity"),
        "hardware_interface/setpoint": ("number", "position", "velocity", "acceleration"),
        "hardware_interface/state": ("state", "reason", "refused", "refusal"),
        "gcmsf_control/state": ("state", "steps", "missed", "halted", "halt_count", "primitive", "cause", "reason"),
        "plan_executor/executed": ("first_seq", "last_seq"),
        "plan_executor/state": (
            "state",
            "tail_seq",
            "executed_seq",
            "authority",
            "epoch",
            "refusal",
            "reason",
            "joint_position",
            "tool_pose",
            "plan_time",
            "tail_time",
            "estop",
        ),
    }

    def __init__(self, domain: int, receive: Callable[[str, float, dict[str, Any]], None]) -> None:
        with in_domain(domain):
            super().__init__(f"fault_watch_{os.getpid()}")
        self._receive = receive
        self.operations: dict[tuple[int, int], float] = {}  # first arrival [s] by epoch and number
        self.teleop: dict[int, float] = {}
        self.health: dict[str, dict[str, str]] = {}  # latest diagnostics by node
        self.link: list[tuple[float, LinkState]] = []  # changes
        for name in self.FIELDS:
            self.subscribe(name, self._passing(name))
        self.subscribe("plan_executor/operations", lambda message: _note(self.operations, message))
        self.subscribe("gcmsf_control/teleop_cmds", self._on_teleop)
        self.subscribe("diagnostics", lambda message: _note_health(self.health, message))
        self.subscribe("link/state", lambda message: _note_link(self.link, message))
        self._senders: dict[str, Any] = {}
        self._running = True
        self._thread = threading.Thread(target=self._turn, name="fault watch", daemon=True)
        self._thread.start()

    def send(self, topic: str, fields: Mapping[str, Any]) -> None:
        """Publish a message in the robot's domain."""
        self.sender(topic).publish(message_of(topic, fields))

    def sender(self, topic: str) -> Any:
        """The publisher of a topic."""
        if topic not in self._senders:
            self._senders[topic] = self.publisher(topic)
        return self._senders[topic]

    def ask(self, kind: str, name: str, fields: Mapping[str, Any], limit: float) -> Any:
        """Answer of any service; None after `limit` [s]."""
        service = interface_class(kind)
        client = self.node.create_client(service, name)
        try:
            end = time.monotonic() + limit
            while not client.service_is_ready() and time.monotonic() < end:
                time.sleep(0.01)
            future = client.call_async(_fill(service.Request(), fields))
            while not future.done() and time.monotonic() < end:
                time.sleep(0.002)
            return future.result() if future.done() else None
        finally:
            self.node.destroy_client(client)

    def close(self) -> None:
        """End the thread and leave the graph."""
        self._running = False
        self._thread.join(2.0)
        super().close()

    def _turn(self) -> None:
        while self._running:
            self._executor.spin_once(timeout_sec=0.1)

    def _passing(self, name: str) -> Callable[[Any], None]:
        fields = self.FIELDS[name]

        def take(message: Any) -> None:
            self._receive(name, time.monotonic(), {field: _plain(getattr(message, field)) for field in fields})

        return take

    def _on_teleop(self, message: Any) -> None:
        self.teleop.setdefault(int(message.header.stamp.sec), time.monotonic())


class OperatorWatch(Terminal):
    """The operator's client in the domain of this process, and what its host shows of the link."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: dict[tuple[int, int], float] = {}  # first sending [s] by epoch and number
        self.link: list[tuple[float, LinkState]] = []  # changes
        self.health: dict[str, dict[str, str]] = {}
        self.plan: list[tuple[int, int, int, list[tuple[float, ...]]]] = []  # kind, after, first point, poses
        self._senders: dict[str, Any] = {}
        self.subscribe("path_plan_queue/plan", self._on_plan)
        self.subscribe("plan_executor/operations", lambda message: _note(self.operations, message))
        self.subscribe("diagnostics", lambda message: _note_health(self.health, message))
        entry = graph.topic("link/state")
        kind, qos = interface_class(entry.type), qos_profile(entry.qos)
        self.node.create_subscription(kind, "link/state", lambda message: _note_link(self.link, message), qos)

    def send(self, topic: str, fields: Mapping[str, Any]) -> None:
        """Publish a message on the operator's side."""
        if topic not in self._senders:
            self._senders[topic] = self.publisher(topic)
        self._senders[topic].publish(message_of(topic, fields))

    def _on_plan(self, message: Any) -> None:
        if not message.trial and message.kind != UpdateKind.TIP:
            points = message.points
            poses = [tuple(map(float, points.pose[i : i + 7])) for i in range(0, len(points.pose), 7)]
            self.plan.append((int(message.kind), int(message.after_seq), int(points.first_seq), poses))


def flood_topic(topic: str, fields: Mapping[str, Any], rate: float, seconds: float) -> int:
    """Publish one message at `rate` [1/s] for a while, from this process and its domain; how many were sent."""
    client = Foreground(f"fault_flood_{os.getpid()}")
    publisher, message = client.publisher(topic), message_of(topic, fields)
    began, sent = time.monotonic(), 0
    client.wait(lambda: publisher.get_subscription_count() > 0, 5.0)
    while (passed := time.monotonic() - began) < seconds:
        for _ in range(max(0, int(passed * rate) - sent)):
            publisher.publish(message)
            sent += 1
            if time.monotonic() - began > seconds:
                break
        time.sleep(0.0005)
    client.close()
    return sent


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str) else np.array(value, dtype=float)


def _note(seen: dict[tuple[int, int], float], message: Any) -> None:
    now = time.monotonic()
    for operation in message.operations:
        seen.setdefault((int(operation.epoch), int(operation.number)), now)


def _note_health(seen: dict[str, dict[str, str]], message: Any) -> None:
    for status in message.status:
        seen[status.name.rpartition("/")[2]] = {entry.key: entry.value for entry in status.values}


def _note_link(seen: list[tuple[float, LinkState]], message: Any) -> None:
    state = LinkState(message.state)
    if not seen or seen[-1][1] is not state:
        seen.append((time.monotonic(), state))
