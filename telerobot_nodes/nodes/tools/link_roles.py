"""Roles at the robot's end of the link: what came with an operator's key, checked before the graph receives it.

What belongs here: messages to values and back, and whom a refusal is told. What must never enter: rights, which
`link.roles` knows; anything that could keep back a halt. Used on the thread of the socket and on the executor's.
"""

from __future__ import annotations

import re
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rclpy.serialization import deserialize_message, serialize_message

from telerobot.msg import Authority, Command, CommandReport, ExecutorState, Halt, PlanOperations, Resume
from telerobot_nodes import graph
from telerobot_nodes.core.protocol import AuthorityKind, OperationKind, identity
from telerobot_nodes.link import Arrival
from telerobot_nodes.link.requests import ANSWERS, CHECKS, REQUESTS, STOPS, Begin, Ended, RequestEnd, unpack_request
from telerobot_nodes.link.roles import PresentStop, Refusal, RoleFault, Roles
from telerobot_nodes.nodes.framework import GraphNode
from telerobot_nodes.nodes.halts import halt_of_text, scope_of_text
from telerobot_nodes.nodes.messages import LinkCounter

STATE, REPORTS = "plan_executor/state", "rtc_decision_unit/reports"
_FREE = (ExecutorState.IDLE, ExecutorState.RUNNING, ExecutorState.PAUSED)  # no halt and no e-stop is in force
_RESET = re.compile(r"\breset\b", re.IGNORECASE)


class RoleGate:
    """Lets through what a key allows; the rest is counted and told, and reaches no node."""

    def __init__(
        self, node: GraphNode, roles: Roles, topics: Sequence[graph.Topic], send: Callable[[int, bytes], None]
    ) -> None:
        """`send` a message of a topic, by its place in `topics`, to the operators' hosts."""
        self.refused: Counter[str] = Counter()
        self._node, self._roles, self._send = node, roles, send
        self._names = [entry.name for entry in topics]
        self._stops = {entry.name for entry in graph.crossing_services() if entry.stops}
        self._lock = threading.Lock()  # guards `_stop`
        self._stop = PresentStop()
        self._mode: int | None = None  # of the latest report
        self._link = LinkCounter(identity("link"))
        self._denials = node.publisher("link/refused")
        self._permits = node.publisher("link/permits")
        self._checks: dict[str, Callable[[str, bytes], Refusal | None]] = {
            "authority": self._of_authority,
            "plan_executor/operations": self._of_operations,
            "rtc_decision_unit/commands": self._of_text,
        }
        self._of_observer: dict[str, Callable[[str, bytes, Refusal], bytes | None]] = {
            "authority": self._authority_of_observer,
            "plan_executor/operations": self._operations_of_observer,
            "rtc_decision_unit/commands": self._text_of_observer,
            **{channel.name: self._request_of_observer for channel in (REQUESTS, CHECKS, STOPS)},
        }

    def admitted(self, host: str, arrivals: Sequence[Arrival]) -> Iterator[Arrival]:
        """What a host's key allows of what came from it. Every halt passes."""
        for arrival in arrivals:
            name, message = self._names[arrival.topic], arrival.message
            if name in ("halt", "estop"):
                self._note_halt(host, message)
                yield arrival
            elif (refusal := self._roles.of_observer(host)) is not None:
                watched = self._watched(host, name, message, refusal)
                if watched is not None:
                    yield Arrival(arrival.topic, watched)
            elif name not in self._checks or self._may_pass(host, name, message):
                yield arrival

    def on_state(self, data: bytes) -> None:
        """Take the executor's state before an operator gets it: judge whose the stop is, and say who may end it."""
        mode = mode_of_state(data)
        if mode == self._mode in _FREE:
            return
        self._mode = mode
        state = deserialize_message(data, ExecutorState)
        stopped = state.state == ExecutorState.HALTED or state.estop
        receipts = [(receipt.agent, receipt.number) for receipt in state.halts_received]
        with self._lock:
            self._stop.update(stopped, state.halt_count, receipts)
            hosts = [host for host in self._roles.operators if stopped and self._stop.is_of(host)]
        for agent in (agent for host in hosts for agent in self._roles.operators[host]):
            self._permits.publish(Resume(halt_count=state.halt_count, agent=agent))

    def _may_pass(self, host: str, name: str, message: bytes) -> bool:
        try:
            refusal = self._checks[name](host, message)
        except Exception as error:  # noqa: BLE001 -- whatever the middleware raises: no node could read it either
            self._note_unreadable(host, name, error)
            return False
        if refusal is not None:
            self._note_refused(host, name, refusal)
        return refusal is None

    def _watched(self, host: str, name: str, message: bytes, refusal: Refusal) -> bytes | None:
        """What passes of a message of an observer's host: what stops or begins nothing. Who asks for more is told."""
        try:
            passes = self._of_observer[name](host, message, refusal) if name in self._of_observer else None
        except Exception as error:  # noqa: BLE001 -- as above
            self._note_unreadable(host, name, error)
            return None
        if passes is None:
            self._note_refused(host, name, refusal)
        return passes

    def _note_refused(self, host: str, name: str, refusal: Refusal) -> None:
        self.refused[refusal.fault.name.lower()] += 1
        self._node.get_logger().warning(f"{host}: {name}: {refusal.reason}", throttle_duration_sec=1.0)

    def _note_unreadable(self, host: str, name: str, error: Exception) -> None:
        self.refused["unreadable"] += 1
        self._node.get_logger().warning(f"{host}: {name}: not readable: {error}", throttle_duration_sec=1.0)

    def _note_halt(self, host: str, message: bytes) -> None:
        try:
            agent = deserialize_message(message, Halt).agent
        except Exception:  # noqa: BLE001 -- a halt that cannot be read is a halt, of nobody
            return
        with self._lock:
            self._stop.hear(host, agent)

    def _of_authority(self, host: str, message: bytes) -> Refusal | None:
        authority = deserialize_message(message, Authority)
        takes = authority.kind == AuthorityKind.TAKE
        refusal = (self._roles.of_take if takes else self._roles.of_name)(host, authority.agent)
        if refusal is not None and authority.kind != AuthorityKind.HEARTBEAT:
            self._deny(host, authority)
        return refusal

    def _of_operations(self, host: str, message: bytes) -> Refusal | None:
        """Whether all operations are in a name of the key; the executor judges the rest, operation by operation."""
        for operation in deserialize_message(message, PlanOperations).operations:
            refusal = self._roles.of_name(host, operation.agent)
            if refusal is not None:
                if operation.kind == OperationKind.AUTHORITY:
                    claim = Authority(kind=Authority.REQUEST, agent=operation.agent, number=operation.epoch)
                    self._deny(host, claim)
                return refusal
        return None

    def _of_text(self, host: str, message: bytes) -> Refusal | None:
        halt = halt_of_text(message)
        if halt is not None:
            with self._lock:
                self._stop.hear(host, halt.named.agent)
            return None
        text = deserialize_message(message, Command)
        with self._lock:
            others = host in self._roles.operators and not self._stop.is_of(host)
        if not others or not _RESET.search(text.text):
            return None
        reason = f"reset: the key of {host} ends no stop of somebody else; allowed: who made it, or a supervisor's key"
        self._reply(text, reason)
        return Refusal(RoleFault.STOP_OF_ANOTHER, reason)

    def _authority_of_observer(self, host: str, message: bytes, _refusal: Refusal) -> bytes | None:
        """Heartbeats pass: they hold nothing. Who asks for control is answered."""
        authority = deserialize_message(message, Authority)
        if authority.kind == AuthorityKind.HEARTBEAT:
            return message if self._roles.of_name(host, authority.agent) is None else None
        self._deny(host, authority)
        return None

    def _operations_of_observer(self, host: str, message: bytes, _refusal: Refusal) -> None:
        for operation in deserialize_message(message, PlanOperations).operations:
            if operation.kind == OperationKind.AUTHORITY:
                self._deny(host, Authority(kind=Authority.REQUEST, agent=operation.agent, number=operation.epoch))

    def _text_of_observer(self, host: str, message: bytes, refusal: Refusal) -> bytes | None:
        """Of a text that halts the halt passes, and nothing that follows it."""
        scope = scope_of_text(message)
        if scope is None:
            self._reply(deserialize_message(message, Command), refusal.reason)
            return None
        self._of_text(host, message)
        try:
            text = deserialize_message(message, Command)
        except Exception:  # noqa: BLE001 -- cut: it halts, and cannot be read further
            return message
        text.text = f"halt command {scope}" if isinstance(scope, int) else f"halt {scope or 'all'}"
        return bytes(serialize_message(text))

    def _request_of_observer(self, _host: str, message: bytes, refusal: Refusal) -> bytes | None:
        """What begins nothing passes, and a service that stops the arm."""
        request = unpack_request(message)
        if not isinstance(request, Begin) or request.name in self._stops:
            return message
        ended = Ended(request.asker, request.runner, request.number, RequestEnd.REFUSED, refusal.reason)
        self._send(self._names.index(ANSWERS.name), ended.pack())
        return None

    def _reply(self, text: Command, reason: str) -> None:
        answer = CommandReport(
            link=self._link.next(self._node.stamp()),
            kind=CommandReport.REPLY,
            sender=text.sender,
            text=reason,
            text_number=text.link.number,
        )
        self._send(self._names.index(REPORTS), bytes(serialize_message(answer)))

    def _deny(self, host: str, message: Any) -> None:
        """Have the executor answer a refused request, so that its sender is told and stops asking."""
        message.link.sender = host
        self._denials.publish(message)


def mode_of_state(data: bytes) -> int | None:
    """`state` of a serialized ExecutorState.msg, without the rest, which takes 50 times as long; None: not found.

    CDR: the bytes after a header of 4 are aligned from its end; a stamp of 8 bytes, a string, 8 bytes, the state.
    """
    order = {b"\x00\x00": ">", b"\x00\x01": "<"}.get(data[:2])
    if order is None or len(data) < 16:
        return None
    (length,) = struct.unpack_from(f"{order}I", data, 12)
    at = 16 + length
    at += (4 - at) % 8 + 8
    return data[at] if at < len(data) else None
