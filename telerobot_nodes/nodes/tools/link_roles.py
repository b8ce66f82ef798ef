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
from telerobot_nodes.link.roles import PresentStop, Refusal, RoleFault, Roles
from telerobot_nodes.nodes.framework import GraphNode
from telerobot_nodes.nodes.halts import halt_of_text
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

    def admitted(self, host: str, arrivals: Sequence[Arrival]) -> Iterator[Arrival]:
        """What a host's key allows of what came from it. Every halt passes."""
        for arrival in arrivals:
            name = self._names[arrival.topic]
            if name in ("halt", "estop"):
                self._note_halt(host, arrival.message)
            elif name in self._checks and not self._may_pass(host, name, arrival.message):
                continue
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
            self.refused["unreadable"] += 1
            self._node.get_logger().warning(f"{host}: {name}: not readable: {error}", throttle_duration_sec=1.0)
            return False
        if refusal is not None:
            self.refused[refusal.fault.name.lower()] += 1
            self._node.get_logger().warning(f"{host}: {name}: {refusal.reason}", throttle_duration_sec=1.0)
        return refusal is None

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
        answer = CommandReport(
            link=self._link.next(self._node.stamp()),
            kind=CommandReport.REPLY,
            sender=text.sender,
            text=reason,
            text_number=text.link.number,
        )
        self._send(self._names.index(REPORTS), bytes(serialize_message(answer)))
        return Refusal(RoleFault.STOP_OF_ANOTHER, reason)

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
