"""`link_emulator`: delay, jitter, loss and outage between the two hosts, set at run time or as recorded [US5231693].

Messages cross as the bytes they are, never decoded. A thread sleeps until the next one is due. Requests of operators
to the robot, such as a primitive, cross as messages of their own (`link_requests.py`), as between two hosts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from telerobot.msg import LinkStatus
from telerobot_nodes import graph
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.link import DelayLine, DelayProfile, EmulatedLink, LinkSettings
from telerobot_nodes.link.requests import CHANNELS
from telerobot_nodes.nodes.framework import (
    GraphNode,
    Health,
    found_quickly,
    interface_class,
    node_parameters,
    qos_profile,
    run_node,
)
from telerobot_nodes.nodes.tools.link_requests import RequestDesk, RequestRunner

SEEDS = {True: 1, False: 2}  # per direction: the same settings and input lead to the same losses
STATUS_PERIOD = 0.5  # [s]
DEPTH = 256  # messages the middleware holds while this process is busy: the line's bound counts, not DDS's

Delivery = tuple[Callable[[bytes], None], bytes]  # what takes it, data


class LinkEmulatorNode(GraphNode):
    """Two delay lines, and a bridge for every topic that crosses."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        link = node_parameters(self, EmulatedLink)
        self._lines = {up: DelayLine[Delivery](link.settings(), up, seed) for up, seed in SEEDS.items()}
        self._profile: DelayProfile | None = None
        self._follow(link.recorded())
        self._wake = threading.Condition()
        self._lateness = 0.0
        self._running = False
        self._thread: threading.Thread | None = None
        self._status = self.publisher("link_emulator/status")
        for entry in graph.crossing():
            self._bridge(entry)
        self._desk, self._runner = RequestDesk(self, self._carry), RequestRunner(self, self._carry)
        self._services += self._desk.services
        self._goal_servers += self._desk.servers
        self._action_clients += self._runner.clients
        self.serve("link_emulator/set", self._set)
        self.every(STATUS_PERIOD, self._publish_status)

    def _follow(self, profile: DelayProfile | None) -> None:
        """Let both directions follow a profile from its beginning; None: their settings."""
        self._profile, began = profile, self.now()
        for up, line in self._lines.items():
            line.delay_at = None if profile is None else _since(began, profile, up)

    def _bridge(self, entry: graph.Topic) -> None:
        kind, qos = interface_class(entry.type), qos_profile(entry.qos)
        deep = qos_profile(entry.qos)
        deep.depth = DEPTH
        near, far = graph.OPERATOR_SIDE + entry.name, entry.name
        upward = graph.is_upward(entry)
        source, sink = (near, far) if upward else (far, near)
        publisher = self.create_publisher(kind, sink, qos)
        take = partial(self._take, self._lines[upward], publisher.publish)
        self.create_subscription(kind, source, self._gated(take), deep, raw=True)

    def _carry(self, channel: graph.Topic, data: bytes) -> None:
        upward = CHANNELS[channel]
        self._take(self._lines[upward], (self._runner if upward else self._desk).receive, data)

    def _take(self, line: DelayLine[Delivery], deliver: Callable[[bytes], None], data: bytes) -> None:
        with self._wake:
            line.push(self.now(), (deliver, data), len(data))
            self._wake.notify()

    def start(self) -> None:
        """Start delivering."""
        self._running = True
        self._thread = threading.Thread(target=self._deliver, name="link", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop delivering; what is in flight stays in flight."""
        with self._wake:
            self._running = False
            self._wake.notify()
        if self._thread is not None:
            self._thread.join(timeout=1.0)

    def _deliver(self) -> None:
        while self._running:
            with self._wake:
                due = self._next_due()
                wait = None if due is None else due - self.now()
                if wait is None or wait > 0.0:
                    self._wake.wait(wait)
                now = self.now()
                out = [item for line in self._lines.values() for item in line.due(now)]
            if out and due is not None:
                self._lateness = max(self._lateness, now - due)
            for deliver, data in out:
                deliver(data)

    def _next_due(self) -> float | None:
        return min((due for line in self._lines.values() if (due := line.next_due()) is not None), default=None)

    def _set(self, request: Any, response: Any) -> None:
        settings = LinkSettings(**{name: getattr(request, name) for name in LinkSettings.__dataclass_fields__})
        with self._wake:
            self._follow(None)
            for line in self._lines.values():
                line.settings = settings
        response.success, response.message = True, f"{settings}"
        self.get_logger().info(f"link set: {settings}")

    def _publish_status(self) -> None:
        up, down = self._lines[True].counts, self._lines[False].counts
        settings = self._settings()
        self._status.publish(
            LinkStatus(
                stamp=self.stamp(),
                **{name: getattr(settings, name) for name in LinkSettings.__dataclass_fields__},
                up_received=up.received,
                up_delivered=up.delivered,
                up_lost=up.lost,
                down_received=down.received,
                down_delivered=down.delivered,
                down_lost=down.lost,
                up_bytes=up.delivered_bytes,
                down_bytes=down.delivered_bytes,
            )
        )

    def _settings(self) -> LinkSettings:
        """What is in force; of a profile the mean delay and its deviation."""
        settings = self._lines[True].settings
        return settings if self._profile is None else self._profile.settings(settings)

    def health(self) -> Health:
        """Settings, what is in flight, and the largest lateness since the last report."""
        late, self._lateness = self._lateness, 0.0
        values: dict[str, object] = {"delivery_lateness_max_ms": 1e3 * late}
        for name, line in (("up", self._lines[True]), ("down", self._lines[False])):
            values[f"{name}_in_flight"] = len(line)
            values[f"{name}_lost_by_bound"] = line.counts.lost_by_bound
        values["requests_open"] = len(self._desk)
        settings = self._settings()
        return Health(message=f"delay {settings.delay:g} s, loss {settings.loss:.1%}", values=values)


def _since(began: float, profile: DelayProfile, upward: bool) -> Callable[[float], float]:
    """Delay [s] at a time [s] of a profile that began at a time [s]."""
    return lambda now: profile.delay(now - began, upward)


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    found_quickly()
    return run_node(LinkEmulatorNode, options)
