"""Traffic on both sides of a link: numbered messages on one host's topics, and when they arrive on the other's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rclpy.serialization import serialize_message

from telerobot_nodes import graph
from telerobot_nodes.core.protocol import LinkState
from telerobot_nodes.nodes.framework import Foreground, interface_class, qos_profile
from telerobot_nodes.nodes.probes.fault_probe import in_domain


@dataclass
class Traffic:
    """Times of one topic's messages by number [s]."""

    sent: dict[int, float] = field(default_factory=dict)  # first sending
    arrived: dict[int, float] = field(default_factory=dict)  # first arrival
    twice: int = 0

    def delays(self) -> list[float]:
        """From first sending to first arrival, of what arrived [s]."""
        return [self.arrived[number] - self.sent[number] for number in self.arrived if number in self.sent]


class LinkProbe(Foreground):
    """A host's side of the crossing topics, in the ROS domain of that host."""

    def __init__(self, domain: int, prefix: str) -> None:
        with in_domain(domain):
            super().__init__(f"link_probe_{domain}")
        self.prefix = prefix
        self._senders: dict[str, Any] = {}
        self.traffic: dict[str, Traffic] = {}
        self.states: list[tuple[float, LinkState]] = []  # changes, with their times
        self.health: list[tuple[float, dict[str, str]]] = []  # of this host's link, with the times of receipt
        health = graph.topic("diagnostics")
        self.node.create_subscription(
            interface_class(health.type), health.name, self._on_health, qos_profile(health.qos)
        )
        entry = graph.topic("link/state")
        self.node.create_subscription(interface_class(entry.type), entry.name, self._on_state, qos_profile(entry.qos))

    def send(self, name: str, number: int, payload: str = "", traffic: Traffic | None = None, **fields: object) -> None:
        """Send a message with this number, about as many bytes more as `payload` has, and other `fields`."""
        if name not in self._senders:
            self._senders[name] = self.publisher(name)
        message = _message(name, number, payload)
        for field_name, value in fields.items():
            setattr(message, field_name, value)
        if traffic is not None:
            traffic.sent.setdefault(number, self.now())
        self._senders[name].publish(message)

    @staticmethod
    def packed(name: str, number: int, payload: str = "") -> bytes:
        """The bytes of such a message."""
        return bytes(serialize_message(_message(name, number, payload)))

    def listen(self, name: str) -> Traffic:
        """Note arrivals of a topic from now on."""
        noted = self.traffic[name] = Traffic()

        def note(message: Any) -> None:
            number = _number(message)
            noted.twice += number in noted.arrived
            noted.arrived.setdefault(number, self.now())

        self.subscribe(name, note)
        return noted

    @property
    def state(self) -> LinkState:
        """State of the link, as this host publishes it."""
        return self.states[-1][1] if self.states else LinkState.WAITING

    def _on_health(self, message: Any) -> None:
        for status in message.status:
            if status.name.rpartition("/")[2] == "link":
                self.health.append((self.now(), {entry.key: entry.value for entry in status.values}))

    def _on_state(self, message: Any) -> None:
        state = LinkState(message.state)
        if not self.states or self.states[-1][1] is not state:
            self.states.append((self.now(), state))


def _message(name: str, number: int, payload: str) -> Any:
    message = interface_class(graph.topic(name).type)()
    if hasattr(message, "link"):
        message.link.number, message.link.sender = number, payload
    elif hasattr(message, "header"):
        message.header.stamp.sec, message.header.frame_id = number, payload
    else:
        message.stamp.sec = number
        message.obstacles = [interface_class("telerobot/msg/Obstacle")(name=payload)]
    return message


def _number(message: Any) -> int:
    if hasattr(message, "link"):
        return int(message.link.number)
    return int(message.header.stamp.sec if hasattr(message, "header") else message.stamp.sec)
