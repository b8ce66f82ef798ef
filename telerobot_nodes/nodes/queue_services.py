"""The operator's controls as services of `path_plan_queue` [US5046022]."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from telerobot_nodes.errors import InvalidValueError
from telerobot_nodes.nodes.base import GraphNode
from telerobot_nodes.plan.authority import AuthorityKind
from telerobot_nodes.plan.authority_talk import AuthorityTalk
from telerobot_nodes.plan.halting import HaltSender
from telerobot_nodes.plan.joins import JoinOutcome
from telerobot_nodes.plan.queue import Join, PathPlanQueue

AUTHORITY_SERVICES = {
    "request_control": AuthorityKind.REQUEST,
    "grant_control": AuthorityKind.CONSENT,
    "refuse_control": AuthorityKind.REFUSE,
    "release_control": AuthorityKind.RELEASE,
    "take_control": AuthorityKind.TAKE,
}


class QueueServices:
    """Serves each control of the queue on `node`. A refusal of the core becomes the answer's message."""

    def __init__(
        self,
        node: GraphNode,
        queue: PathPlanQueue,
        talk: AuthorityTalk,
        halt: HaltSender,
        send_halt: Callable[[], None],
    ) -> None:
        self._node, self._queue, self._talk = node, queue, talk
        self._halt, self._send_halt = halt, send_halt
        handlers: dict[str, Callable[[Any, Any], None]] = {
            "time_clutch": self._on_time_clutch,
            "position_clutch": self._on_position_clutch,
            "adopt": partial(self._on_join, Join.ADOPT),
            "discard": partial(self._on_join, Join.DISCARD),
            "brake": self._on_brake,
            "clear": self._on_clear,
            "pause": self._on_pause,
            "rate": self._on_rate,
            "time_ratio": self._on_time_ratio,
            "gripper": self._on_gripper,
            "halt": self._on_halt,
            "resume": self._on_resume,
        }
        for name, kind in AUTHORITY_SERVICES.items():
            handlers[name] = partial(self._on_authority, kind)
        for name, handler in handlers.items():
            node.serve(f"path_plan_queue/{name}", handler)

    def _on_time_clutch(self, request: Any, response: Any) -> None:
        self._queue.set_time_clutch(self._node.now(), request.data)
        response.success, response.message = True, "engaged" if request.data else "disengaged"

    def _on_position_clutch(self, request: Any, response: Any) -> None:
        self._answer_join(self._queue.set_position_clutch(self._node.now(), request.data), request.data, response)

    def _on_join(self, kind: Join, _request: Any, response: Any) -> None:
        self._answer_join(self._queue.set_position_clutch(self._node.now(), True, kind), True, response)

    def _answer_join(self, outcome: JoinOutcome, asked: bool, response: Any) -> None:
        response.success, response.message = outcome.engaged == asked, outcome.reason

    def _on_brake(self, request: Any, response: Any) -> None:
        response.value = self._queue.set_brake(self._node.now(), request.value)
        response.success, response.message = True, f"deleting {response.value:g} plan seconds per second"

    def _on_pause(self, _request: Any, response: Any) -> None:
        self._queue.pause(self._node.now())
        response.success, response.message = True, "pause sent"

    def _on_rate(self, request: Any, response: Any) -> None:
        self._queue.set_rate(self._node.now(), request.value)
        response.success, response.message, response.value = True, "rate sent", request.value

    def _on_clear(self, _request: Any, response: Any) -> None:
        deleted = self._queue.clear(self._node.now())
        response.success, response.message = True, f"{deleted} points deleted"

    def _on_halt(self, _request: Any, response: Any) -> None:
        number = self._halt.ask(self._node.now(), "asked by the operator")
        self._send_halt()
        response.success, response.message = True, f"halt {number} sent, repeated until the robot confirms"

    def _on_resume(self, _request: Any, response: Any) -> None:
        if self._halt.open:
            raise InvalidValueError("resume", "halt not confirmed", "allowed: after the robot has confirmed the halt")
        self._queue.resume(self._node.now())
        response.success, response.message = True, "resume sent"

    def _on_authority(self, kind: AuthorityKind, _request: Any, response: Any) -> None:
        self._talk.check(kind)
        self._talk.say(self._node.now(), self._queue.say(kind))
        response.success, response.message = True, f"{kind.name.lower()} sent, repeated until the robot shows it"

    def _on_gripper(self, request: Any, response: Any) -> None:
        response.value = self._queue.set_gripper(self._node.now(), request.value)
        response.success, response.message = True, f"{1e3 * response.value:g} mm from the head of the path on"

    def _on_time_ratio(self, request: Any, response: Any) -> None:
        response.value = self._queue.set_time_ratio(self._node.now(), request.value)
        response.success, response.message = True, f"{response.value:g} plan seconds per second"
