"""Services and actions of the robot, called at the operator's side of a link: emulated, or between two hosts.

What belongs here: requests as messages and back, on both sides. What must never enter: delays and losses, which are the
link's; what is begun and when a request is over, which `link.requests` decides. All but `receive` runs on the
executor's thread.
"""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.serialization import deserialize_message, serialize_message

from telerobot.msg import PrimitiveReport
from telerobot_nodes import graph
from telerobot_nodes.core.protocol import PrimitiveOutcome
from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.link.requests import ANSWERS, Asker, Begun, Over, Progress, RequestEnd, Runner, Start, Ticket
from telerobot_nodes.nodes.framework import DeferredResponse, DeferredService, Goal, GoalServer, GraphNode
from telerobot_nodes.nodes.framework import interface_class as class_of

STEP_PERIOD = 0.1  # [s]
MOST_MESSAGE = 16_000_000  # [B]
_ENDS = {
    GoalStatus.STATUS_SUCCEEDED: RequestEnd.DONE,
    GoalStatus.STATUS_CANCELED: RequestEnd.CANCELLED,
}

Send = Callable[[graph.Topic, bytes], None]  # a message into a channel of the link


class _Asked(Protocol):
    """A request of a client of this side."""

    def take(self, event: Begun | Progress | Over) -> None:
        """Pass on what has happened."""


@dataclass(frozen=True)
class _Call:
    """A call of a service."""

    kind: Any
    deferred: DeferredResponse

    def take(self, event: Begun | Progress | Over) -> None:
        if isinstance(event, Over):
            answered = event.end is RequestEnd.DONE
            self.deferred.fill(
                _unpacked(event.body, self.kind.Response)
                if answered
                else self.kind.Response(success=False, message=f"{_word(event.end)}: {event.reason}")
            )


@dataclass(frozen=True)
class _Run:
    """A goal of an action."""

    kind: Any
    goal: Goal

    def take(self, event: Begun | Progress | Over) -> None:
        if isinstance(event, Begun):
            self.goal.begin()
        elif isinstance(event, Progress):
            self.goal.feedback(_unpacked(event.body, self.kind.Feedback))
        else:
            end = {RequestEnd.DONE: self.goal.succeed, RequestEnd.CANCELLED: self.goal.cancel}
            end.get(event.end, self.goal.abort)(self._result(event))

    def _result(self, event: Over) -> Any:
        """The robot's; one that it did not send says why not, and the state that is known."""
        if event.body:
            return _unpacked(event.body, self.kind.Result)
        asked = getattr(self.goal.request, "parameters", self.goal.request)
        lost = event.begun and event.end is RequestEnd.UNKNOWN
        state = PrimitiveOutcome.RUNNING if lost else PrimitiveOutcome.REFUSED
        report = PrimitiveReport(
            name=asked.name, agent=asked.agent, state=int(state), reason=_word(event.end), detail=event.reason
        )
        return self.kind.Result(report=report)


class RequestDesk:
    """The operator's side: serves what crosses, under the operator's names."""

    def __init__(self, node: GraphNode, send: Send) -> None:
        self._node, self._send = node, send
        self._asker = Asker(secrets.randbits(64) | 1, node.now())
        self._asked: dict[int, _Asked] = {}
        self.services = [
            DeferredService.on(
                node, class_of(entry.type), graph.OPERATOR_SIDE + entry.name, partial(self._on_call, entry)
            )
            for entry in graph.crossing_services()
        ]
        self.servers = [
            GoalServer(
                node,
                class_of(entry.type),
                graph.OPERATOR_SIDE + entry.name,
                lambda: node.active,
                partial(self._on_goal, entry),
                self._on_cancel,
            )
            for entry in graph.crossing_actions()
        ]
        node.every(STEP_PERIOD, self._step)

    def __len__(self) -> int:
        return len(self._asker)

    def note_link(self, silence: float) -> None:
        """For how long one of the two hosts has received nothing from the other [s]; an emulated link does not say."""
        self._asker.note_link(self._node.now(), silence)

    def receive(self, data: bytes) -> None:
        """Take an answer; from any thread."""
        self._node.soon(self._receive, data)

    def _receive(self, data: bytes) -> None:
        self._asker.receive(self._node.now(), data)
        self._step()

    def _on_call(self, entry: graph.Service, request: Any, _response: Any) -> DeferredResponse:
        deferred = DeferredResponse()
        self._ask(entry, request, _Call(class_of(entry.type), deferred))
        return deferred

    def _on_goal(self, entry: graph.Service, goal: Goal) -> None:
        self._ask(entry, goal.request, _Run(class_of(entry.type), goal))

    def _on_cancel(self, goal: Goal) -> None:
        for number, asked in self._asked.items():
            if isinstance(asked, _Run) and asked.goal is goal:
                self._asker.withdraw(self._node.now(), number)
        self._step()

    def _ask(self, entry: graph.Service, request: Any, asked: _Asked) -> None:
        number = self._asker.ask(self._node.now(), entry.name, _packed(request), entry.stops)
        self._asked[number] = asked
        self._step()

    def _step(self) -> None:
        self._asker.poll(self._node.now())
        for channel, data in self._asker.take_out():
            self._send(channel, data)
        for event in self._asker.take_events():
            asked = self._asked.pop(event.number) if isinstance(event, Over) else self._asked[event.number]
            asked.take(event)


class RequestRunner:
    """The robot's side: calls the robot's own services and actions."""

    def __init__(self, node: GraphNode, send: Send) -> None:
        self._node, self._send = node, send
        self._calls = {
            entry.name: node.create_client(class_of(entry.type), entry.name) for entry in graph.crossing_services()
        }
        self._runs = {
            entry.name: ActionClient(node, class_of(entry.type), entry.name) for entry in graph.crossing_actions()
        }
        self._kinds = {entry.name: class_of(entry.type) for entry in _crossing()}
        self._core = Runner(secrets.randbits(64) | 1, self._kinds)
        self._handles: dict[Ticket, Any] = {}  # of goals that were accepted
        self._stopped: set[Ticket] = set()  # before they were accepted

    @property
    def clients(self) -> tuple[ActionClient, ...]:
        """Clients of actions."""
        return tuple(self._runs.values())

    def receive(self, data: bytes) -> None:
        """Take a message of an operator's side; from any thread."""
        self._node.soon(self._receive, data)

    def _receive(self, data: bytes) -> None:
        for act in self._core.receive(self._node.now(), data):
            if isinstance(act, Start):
                self._start(act)
            else:
                self._stop(act.ticket)
        self._flush()

    def _start(self, act: Start) -> None:
        kind = self._kinds[act.name]
        if act.name in self._calls:
            client, request = self._calls[act.name], kind.Request
        else:
            client, request = self._runs[act.name], kind.Goal
        ready = client.service_is_ready() if act.name in self._calls else client.server_is_ready()
        if not ready:
            self._core.end(act.ticket, RequestEnd.REFUSED, f"no node serves {act.name}")
            return
        try:
            message = _unpacked(act.body, request)
        except InvalidValueError as error:
            self._core.end(act.ticket, RequestEnd.REFUSED, str(error))
            return
        if act.name in self._calls:
            client.call_async(message).add_done_callback(partial(self._answered, act.ticket))
        else:
            feedback = partial(self._on_feedback, act.ticket)
            client.send_goal_async(message, feedback).add_done_callback(partial(self._accepted, act))

    def _stop(self, ticket: Ticket) -> None:
        handle = self._handles.get(ticket)
        if handle is None:
            self._stopped.add(ticket)
        else:
            handle.cancel_goal_async()

    def _answered(self, ticket: Ticket, answer: Any) -> None:
        self._end(ticket, RequestEnd.DONE, answer.result())

    def _accepted(self, act: Start, answer: Any) -> None:
        handle = answer.result()
        if not handle.accepted:
            self._core.end(act.ticket, RequestEnd.REFUSED, f"{act.name} has not accepted the goal")
            self._stopped.discard(act.ticket)
            self._flush()
            return
        self._handles[act.ticket] = handle
        handle.get_result_async().add_done_callback(partial(self._run_over, act.ticket))
        if act.ticket in self._stopped:
            handle.cancel_goal_async()

    def _on_feedback(self, ticket: Ticket, message: Any) -> None:
        self._core.feedback(ticket, _packed(message.feedback))
        self._flush()

    def _run_over(self, ticket: Ticket, answer: Any) -> None:
        self._handles.pop(ticket, None)
        self._end(ticket, _ENDS.get(answer.result().status, RequestEnd.ABORTED), answer.result().result)

    def _end(self, ticket: Ticket, end: RequestEnd, result: Any) -> None:
        self._stopped.discard(ticket)
        self._core.end(ticket, end, body=_packed(result))
        self._flush()

    def _flush(self) -> None:
        for data in self._core.take_out():
            self._send(ANSWERS, data)


def _packed(message: Any) -> bytes:
    """A message's bytes, compressed: texts of parameters repeat."""
    return zlib.compress(bytes(serialize_message(message)), 1)


def _unpacked(data: bytes, kind: Any) -> Any:
    """The message in the bytes; raises InvalidValueError when they are none, or one larger than any that is sent."""
    unpacking = zlib.decompressobj()
    try:
        plain = unpacking.decompress(data, MOST_MESSAGE)
        if unpacking.unconsumed_tail:
            raise InvalidValueError("request.size", len(data), f"allowed: {MOST_MESSAGE} B when unpacked")
        return deserialize_message(plain, kind)
    except (zlib.error, RuntimeError) as error:  # RuntimeError: of rclpy
        raise InvalidValueError("request", f"{len(data)} B", f"allowed: a {kind.__name__} ({error})") from None


def _crossing() -> tuple[graph.Service, ...]:
    return graph.crossing_services() + graph.crossing_actions()


def _word(end: RequestEnd) -> str:
    """How an end is named in a report's `reason`."""
    return end.name.lower()
