"""The client behind `telerobot halt` and `telerobot estop`: publishes to every arm found, on every path, at once.

It waits for no service and asks no node for another: it publishes on each topic of the name as soon as it is found,
and repeats until the arm itself confirms.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from telerobot.msg import Halt, HardwareState
from telerobot_nodes import graph
from telerobot_nodes.core.protocol import identity
from telerobot_nodes.nodes.clients.discovery import NoGraphError
from telerobot_nodes.nodes.framework import DISCOVERY_LIMIT, Foreground, interface_class, qos_profile
from telerobot_nodes.nodes.messages import LinkCounter
from telerobot_nodes.operator.client import RepeatedStop

PERIOD = 0.05  # [s] between two looks for paths and arms
FOUND_TOGETHER = 0.3  # [s] in which the rest of a graph, or a second arm, is found after the first
STATES = ("gcmsf_control/state", "plan_executor/state", "hardware_interface/state")


@dataclass
class _Arm:
    """One arm, by its namespace."""

    confirmed: bool = False
    subscriptions: list[Any] = field(default_factory=list)


class StopSender(Foreground):
    """Sends halts (topic `halt`) or e-stops (topic `estop`). `namespace` empty: to every arm in sight."""

    def __init__(self, topic: str, reason: str, namespace: str = "") -> None:
        super().__init__(f"telerobot_{topic}_{os.getpid()}", namespace)
        self._topic, self._reason = topic, reason
        self._agent = identity("shell")
        self._link, self._stop = LinkCounter(self._agent), RepeatedStop(self._publish)
        self._paths: dict[str, Any] = {}  # publisher by topic
        self._arms: dict[str, _Arm] = {}
        self._found = 0.0  # [s] when something was found last

    def send(self, limit: float) -> dict[str, bool]:
        """Whether each arm, by namespace, has confirmed within `limit` [s]. Raises NoGraphError when there is none."""
        start = self.now()
        for arm in self._arms.values():
            arm.confirmed = False
        self._look()
        self._stop.begin(self._reason, start)
        while self.now() - start < max(limit, DISCOVERY_LIMIT):
            self._look()
            self._stop.step(self.now())
            self.spin(PERIOD)
            if self._arms and (self._all_confirmed() or self.now() - start >= limit):
                break
        self._stop.confirmed()
        if not self._arms:
            raise NoGraphError(
                f"no graph is running here: nobody publishes {self.namespace}/{STATES[0]}; "
                "start one with `telerobot up demo`, or name the arm with --namespace"
            )
        return {name: arm.confirmed for name, arm in self._arms.items()}

    def _publish(self, number: int, reason: str) -> None:
        for publisher in self._paths.values():
            link = self._link.next(self.stamp())
            publisher.publish(Halt(link=link, number=number, agent=self._agent, reason=reason))

    def _all_confirmed(self) -> bool:
        return self.now() - self._found >= FOUND_TOGETHER and all(arm.confirmed for arm in self._arms.values())

    def _look(self) -> None:
        """Find paths and arms that are new."""
        entry = graph.topic(self._topic)
        for name, types in self.node.get_topic_names_and_types():
            if not name.startswith(f"{self.namespace}/"):
                continue
            if entry.type in types and name.endswith(f"/{self._topic}") and name not in self._paths:
                self._paths[name] = self.node.create_publisher(
                    interface_class(entry.type), name, qos_profile(entry.qos)
                )
                self._found = self.now()
            state = next((state for state in STATES if name.endswith(f"/{state}")), None)
            if state is not None and self.node.count_publishers(name):
                self._listen(name, state)

    def _listen(self, name: str, state: str) -> None:
        """Receive the state of an arm on this side of the link or the other."""
        namespace = name.removesuffix(state).removesuffix(graph.OPERATOR_SIDE)
        arm = self._arms.setdefault(namespace, _Arm())
        if any(subscription.topic_name == name for subscription in arm.subscriptions):
            return
        entry = graph.topic(state)
        kind, qos = interface_class(entry.type), qos_profile(entry.qos)
        arm.subscriptions.append(self.node.create_subscription(kind, name, partial(self._confirm, arm), qos))
        self._found = self.now()

    def _confirm(self, arm: _Arm, message: Any) -> None:
        if self._topic == "estop":
            hardware = isinstance(message, HardwareState)
            arm.confirmed |= message.state == HardwareState.ESTOP if hardware else message.estop
        else:
            receipts = getattr(message, "halts_received", ())
            ours = (self._agent, self._stop.number)
            arm.confirmed |= any((receipt.agent, receipt.number) == ours for receipt in receipts)
