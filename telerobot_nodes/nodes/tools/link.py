"""`link`: what crosses between this host's graph and those of the other hosts of a hosts file, as datagrams.

DDS stays on its host. Messages cross as the bytes they are, never decoded. A thread serves the socket; what this host
publishes leaves from the callback that received it. Requests of operators cross as messages of their own
(`link_requests.py`).
"""

from __future__ import annotations

import errno
import math
import os
import secrets
import select
import socket
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticStatus

from telerobot.msg import Halt
from telerobot.msg import LinkState as LinkStateMessage
from telerobot_nodes import graph
from telerobot_nodes.core.config import NodeOptions
from telerobot_nodes.core.protocol import LinkState, identity
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.link import (
    MOST_BYTES,
    Arrival,
    Endpoint,
    HostRow,
    Hosts,
    Identity,
    Peer,
    RefusalAlarm,
    Session,
    keys_of,
    load_hosts,
    roles_of,
)
from telerobot_nodes.link.requests import CHANNELS
from telerobot_nodes.link.roles import LinkKey, Roles
from telerobot_nodes.nodes.framework import GraphNode, Health, found_quickly, interface_class, qos_profile, run_node
from telerobot_nodes.nodes.messages import LinkCounter
from telerobot_nodes.nodes.tools.interface_hash import interface_hash
from telerobot_nodes.nodes.tools.link_halts import halt_of_everything, halt_that_fits, is_urgent
from telerobot_nodes.nodes.tools.link_requests import RequestDesk, RequestRunner
from telerobot_nodes.nodes.tools.link_roles import STATE, RoleGate

LOOK_PERIOD = 0.05  # [s] between looks at the states of the peers
STATE_PERIOD = 0.2  # [s]
LONGEST_WAIT = 0.1  # [s] of the socket's thread
DEPTH = 256  # messages the middleware holds while this process is busy
BUFFER = 1 << 20  # [B] of the socket
AT_ONCE = 64  # datagrams taken before others are sent
HALT_TYPE, TEXTS = "telerobot/msg/Halt", "rtc_decision_unit/commands"
FREE_BIND = {  # options of Linux that the socket module does not name: an address that this host does not have yet
    socket.AF_INET: (socket.IPPROTO_IP, 15),
    socket.AF_INET6: (socket.IPPROTO_IPV6, 78),
}
HALTS = 5  # times a halt for a lost link is published: hold


class LinkNode(GraphNode):
    """One socket, a bridge for every topic that crosses, and this host's side of requests."""

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        if options.hosts is None:
            raise InvalidValueError("hosts", None, "allowed: a hosts file")
        self._hosts = load_hosts(options.hosts)
        self._own = self._hosts.own("operator" if options.graph == "operator" else "robot", options.host)
        self._upward = self._own.role == "operator"  # direction of what this host sends
        crossing = graph.crossing()
        self._topics = (*crossing, *CHANNELS)
        self._halt_topic = next(at for at, entry in enumerate(self._topics) if entry.name == "halt")
        keys = keys_of(options.hosts, self._hosts, self._own)
        self._endpoint = _endpoint(options, self._hosts, self._own, self._topics, keys)
        roles = Roles({}) if self._upward else roles_of(options.hosts, self._hosts, keys)
        self._gate = RoleGate(self, roles, self._topics, self._send) if roles else None
        self._socket = _bound(self._own, self._warn_of_address)
        self._lock = threading.Lock()  # guards `_endpoint`
        self._wake = os.eventfd(0, os.EFD_NONBLOCK)
        self._running = False
        self._thread: threading.Thread | None = None
        self._unsent = 0
        self._desk: RequestDesk | None = None
        self._inputs: dict[int, Callable[[bytes], None]] = {}  # what takes an arrival, by topic
        self._state = self.publisher("link/state")
        self._halt = self.publisher("halt") if self._hosts.on_loss == "hold" and not self._upward else None
        self._halts, self._halt_link, self._halt_number = 0, LinkCounter(identity("link")), 0
        self._seen: dict[str, LinkState] = {}
        self._alarm = RefusalAlarm()
        for at, entry in enumerate(crossing):
            self._bridge(at, entry)
        self._relay_requests()
        self._state_due = -math.inf
        self.every(LOOK_PERIOD, self._look)

    def _warn_of_address(self) -> None:
        what = f"no interface of this host has the address {self._own.address} yet: the link waits for it"
        self.get_logger().warning(f"{what} (`ip address`)")

    def _bridge(self, at: int, entry: graph.Topic) -> None:
        kind, qos = interface_class(entry.type), qos_profile(entry.qos)
        name = graph.OPERATOR_SIDE + entry.name if self._upward else entry.name
        if graph.is_upward(entry) == self._upward:
            qos.depth = DEPTH
            self.create_subscription(kind, name, self._gated(partial(self._send, at)), qos, raw=True)
        else:
            self._inputs[at] = self.create_publisher(kind, name, qos).publish

    def _relay_requests(self) -> None:
        side: RequestDesk | RequestRunner
        if self._upward:
            side = self._desk = RequestDesk(self, self._send_request)
            self._services += side.services
            self._goal_servers += side.servers
        else:
            side = RequestRunner(self, self._send_request)
            self._action_clients += side.clients
        for at, entry in enumerate(self._topics):
            if entry in CHANNELS and CHANNELS[entry] != self._upward:
                self._inputs[at] = side.receive

    def _send_request(self, channel: graph.Topic, data: bytes) -> None:
        self._send(self._topics.index(channel), data)

    # to the other hosts --------------------------------------------------------------------------------------

    def _send(self, at: int, data: bytes) -> None:
        now = self.now()
        if self._gate is not None and self._topics[at].name == STATE:
            self._gate.on_state(data)
        with self._lock:
            try:
                self._take(now, at, data)
            finally:
                self._flush(now)
                waits = self._endpoint.next_due(now) < math.inf
        if waits:
            os.eventfd_write(self._wake, 1)

    def _take(self, now: float, at: int, data: bytes) -> None:
        """Give a message to the endpoint; holds the lock. Halts first, and whatever their size."""
        entry = self._topics[at]
        urgent = False
        if entry.type == HALT_TYPE and entry.crosses is not None:
            data = halt_that_fits(data, entry.crosses.size)
        elif entry.name == TEXTS:
            halt, urgent = halt_of_everything(data), is_urgent(data)
            if halt is not None:
                self._endpoint.send(now, self._halt_topic, halt)
        self._endpoint.send(now, at, data, urgent)

    def _flush(self, now: float) -> None:
        """Send what is due; holds the lock."""
        for datagram, address in self._endpoint.poll(now):
            try:
                self._socket.sendto(datagram, address)
            except OSError:  # the network is away, or the buffer full: as if it was lost on the way
                self._unsent += 1

    # from the other hosts ------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the socket's thread."""
        self._running = True
        self._thread = threading.Thread(target=self._serve, name="link", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop it; what is on its way is lost."""
        self._running = False
        os.eventfd_write(self._wake, 1)
        if self._thread is not None:
            self._thread.join(timeout=1.0)

    def _serve(self) -> None:
        try:
            while self._running:
                self.guarded(self._serve_once)()
        finally:
            if self._running:
                self.failure = "the thread of the socket has ended"

    def _serve_once(self) -> None:
        now = self.now()
        with self._lock:
            self._flush(now)
            wait = min(LONGEST_WAIT, self._endpoint.next_due(now) - now)
        ready, _, _ = select.select([self._socket.fileno(), self._wake], [], [], max(0.0, wait))
        if self._wake in ready:
            os.eventfd_read(self._wake)
        if self._socket.fileno() in ready:
            for arrival in self._received():
                self._inputs[arrival.topic](arrival.message)

    def _received(self) -> list[Arrival]:
        arrivals: list[Arrival] = []
        for _ in range(AT_ONCE):
            try:
                datagram, address = self._socket.recvfrom(MOST_BYTES + 1)
            except OSError:
                break
            with self._lock:
                found = self._endpoint.receive(self.now(), datagram, address[:2])
            if found and self._gate is not None:
                arrivals += self._gate.admitted(self._endpoint.sessions[address[:2]].peer, found)
            else:
                arrivals += found
        return arrivals

    # state ---------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Publish the state of every peer, at once when one has changed."""
        now = self.now()
        with self._lock:
            messages = [self._state_of(session, now) for session in self._endpoint.sessions.values()]
            silence = min(session.watch.silence(now) for session in self._endpoint.sessions.values())
            alarm = self._alarm.update(now, self._endpoint.refused() + self._by_role)
            self._endpoint.report_refused(self._alarm.count(now))
        if self._desk is not None:
            self._desk.note_link(silence)
        if alarm:
            self.get_logger().warning(self._alarm.text)
            self._publish_health()
        changed = [self._note_change(message.peer, LinkState(message.state), message.reason) for message in messages]
        if any(changed) or now >= self._state_due:
            self._state_due = now + STATE_PERIOD
            for message in messages:
                self._state.publish(message)
        if self._halts and self._halt is not None:
            self._halts -= 1
            sender = identity("link")
            link = self._halt_link.next(self.stamp())
            self._halt.publish(Halt(link=link, number=self._halt_number, agent=sender, reason="link lost"))

    def _state_of(self, session: Session, now: float) -> LinkStateMessage:
        watch = session.watch
        watch.update(now)
        return LinkStateMessage(
            stamp=self.stamp(),
            host=self._own.name,
            peer=session.peer,
            state=int(watch.state),
            age=_finite(watch.age(now)),
            peer_age=_finite(watch.peer_age),
            round_trip=watch.round_trip,
            reason=watch.mismatch if watch.state is LinkState.REFUSED else "",
            peer_refused=watch.peer_refused,
        )

    def _note_change(self, peer: str, state: LinkState, reason: str) -> bool:
        """Log the state of a peer if it is another than before; whether it is."""
        before = self._seen.get(peer)
        if state is before:
            return False
        self._seen[peer] = state
        self.get_logger().info(f"link to {peer}: {state.name.lower().replace('_', '-')} {reason}".rstrip())
        if before is LinkState.FRESH and LinkState.FRESH not in self._seen.values() and self._halt is not None:
            self._halts, self._halt_number = HALTS, self._halt_number + 1
        return True

    def health(self) -> Health:
        """State of every peer, counts of every topic, and refused datagrams by reason."""
        with self._lock:
            now = self.now()
            values, alarm = self._values(now), self._alarm.is_raised(now)
        sessions = self._endpoint.sessions.values()
        fresh = all(session.watch.state is LinkState.FRESH for session in sessions)
        message = ", ".join(f"{one.peer}: {one.watch.state.name.lower()}" for one in sessions)
        message += f"; {self._alarm.text}" * alarm
        return Health(DiagnosticStatus.OK if fresh and not alarm else DiagnosticStatus.WARN, message, values)

    def _values(self, now: float) -> dict[str, object]:
        values: dict[str, object] = {"not_sent": self._unsent}
        if self._desk is not None:
            values["requests_open"] = len(self._desk)
        for session in self._endpoint.sessions.values():
            watch = session.watch
            values[f"{session.peer} age"] = watch.age(now)
            values[f"{session.peer} peer_age"] = watch.peer_age
            values[f"{session.peer} round_trip"] = watch.round_trip
            for at, entry in enumerate(self._topics):
                counts = {**vars(session.counts[at]), "dropped": session.dropped(at), "lost": session.lost(at)}
                values |= {f"{session.peer} {entry.name} {name}": count for name, count in counts.items() if count}
        refused = {fault.name.lower(): count for fault, count in self._endpoint.faults().items()} | self._by_role
        return values | {f"refused {reason}": count for reason, count in refused.items()}

    @property
    def _by_role(self) -> Counter[str]:
        """What was refused because of a key's role, by reason."""
        return Counter() if self._gate is None else self._gate.refused.copy()

    def destroy_node(self) -> None:
        """Close the socket as well."""
        self._socket.close()
        os.close(self._wake)
        super().destroy_node()


def _endpoint(
    options: NodeOptions,
    hosts: Hosts,
    own: HostRow,
    topics: tuple[graph.Topic, ...],
    keys: Mapping[str, LinkKey],
) -> Endpoint:
    return Endpoint(
        Identity(
            host=own.name,
            role=int(own.role == "operator"),
            interface=interface_hash(topics, graph.crossing_services() + graph.crossing_actions()),
            version=_version(),
            robot=Path(options.robot).stem,
            encrypts=hosts.encrypt,
        ),
        [Peer(row.name, (row.address, row.port), row.rate, keys[row.name].secret) for row in hosts.peers(own)],
        topics,
        {entry.name: CHANNELS.get(entry, graph.is_upward(entry)) for entry in topics},
        hosts.stale_after,
        lambda: secrets.randbits(64),
    )


def _bound(own: HostRow, late: Callable[[], object]) -> socket.socket:
    """The socket of this host, on its address of the hosts file only.

    `late` is called when no interface has that address yet, as while a host starts up. Raises InvalidValueError.
    """
    family = socket.AF_INET6 if ":" in own.address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
    made.setblocking(False)
    try:
        try:
            made.bind((own.address, own.port))
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL:
                raise
            made.setsockopt(*FREE_BIND[family], 1)
            made.bind((own.address, own.port))
            late()
    except OSError as error:
        made.close()
        place = f"{own.address}:{own.port}"
        raise InvalidValueError("address", place, f"allowed: a free port of this host ({error.strerror})") from None
    return made


def _version() -> str:
    try:
        return version("telerobot")
    except PackageNotFoundError:
        return "of the source tree"


def _finite(seconds: float) -> float:
    return seconds if math.isfinite(seconds) else -1.0


def main(options: NodeOptions) -> int:
    """Run the node as a process."""
    found_quickly()
    return run_node(LinkNode, options)
