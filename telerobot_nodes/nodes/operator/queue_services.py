"""The operator's controls as services of `path_plan_queue` [US5046022]."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from telerobot_nodes.core.protocol import AuthorityKind
from telerobot_nodes.nodes.framework import GraphNode
from telerobot_nodes.plan.authority import AuthorityClient
from telerobot_nodes.plan.queue import Join, JoinOutcome, PathPlanQueue

AUTHORITY_SERVICES = {
    "request_control": AuthorityKind.REQUEST,
    "grant_control": AuthorityKind.CONSENT,
    "refuse_control": AuthorityKind.REFUSE,
    "release_control": AuthorityKind.RELEASE,
    "take_control": AuthorityKind.TAKE,
}


class QueueServices:
    """Serves each control of the queue on `node`. A refusal of the core becomes the answer's message.

    `changed` is called soon after each request, once for those that came together.
    """

    def __init__(
        self,
        node: GraphNode,
        queue: PathPlanQueue,
        authority_client: AuthorityClient,
        changed: Callable[[], None],
    ) -> None:
        self._node, self._queue, self._authority_client = node, queue, authority_client
        self._changed, self._told = changed, True
        handlers: dict[str, Callable[[Any, Any], None]] = {
            "time_clutch": self._on_time_clutch,
            "position_clutch": self._on_position_clutch,
            "adopt": partial(self._on_join, Join.ADOPT),
            "discard": partial(self._on_join, Join.DISCARD),
            "stop_before_collision": self._on_stop_before_collision,
            "pass_singularities": self._on_pass_singularities,
            "brake": self._on_brake,
            "clear": self._on_clear,
            "undo": self._on_undo,
            "pause": self._on_pause,
            "rate": self._on_rate,
            "time_ratio": self._on_time_ratio,
            "orientation_clutch": self._on_orientation_clutch,
            "linear_scale": partial(self._on_scale, "linear"),
            "angular_scale": partial(self._on_scale, "angular"),
            "gripper": self._on_gripper,
            "resume": self._on_resume,
            "reset": self._on_reset,
            "tare": self._on_tare,
        }
        for name, kind in AUTHORITY_SERVICES.items():
            handlers[name] = partial(self._on_authority, kind)
        for name, handler in handlers.items():
            node.serve(f"path_plan_queue/{name}", partial(self._serve, handler))

    def _serve(self, handler: Callable[[Any, Any], None], request: Any, response: Any) -> None:
        try:
            handler(request, response)
        finally:  # a refusal is news, too
            if self._told:
                self._told = False
                self._node.soon(self._tell)

    def _tell(self) -> None:
        self._told = True
        self._changed()

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

    def _on_stop_before_collision(self, request: Any, response: Any) -> None:
        self._queue.set_stop_before_collision(request.data)
        response.success = True
        response.message = "the robot waits before collisions" if request.data else "the robot executes every point"

    def _on_pass_singularities(self, request: Any, response: Any) -> None:
        self._queue.set_pass_singularities(request.data)
        response.success = True
        response.message = "the hand may pass singularities" if request.data else "the hand stops before singularities"

    def _on_pause(self, _request: Any, response: Any) -> None:
        self._queue.pause(self._node.now())
        response.success, response.message = True, "pause sent"

    def _on_rate(self, request: Any, response: Any) -> None:
        self._queue.set_rate(self._node.now(), request.value)
        response.success, response.message, response.value = True, "rate sent", request.value

    def _on_clear(self, _request: Any, response: Any) -> None:
        deleted = self._queue.clear(self._node.now())
        response.success, response.message = True, f"{deleted} points deleted"

    def _on_undo(self, _request: Any, response: Any) -> None:
        restored = self._queue.undo(self._node.now())
        response.success, response.message = True, f"{restored} points are back"

    def _on_resume(self, _request: Any, response: Any) -> None:
        self._queue.resume(self._node.now())
        response.success, response.message = True, "resume sent"

    def _on_reset(self, _request: Any, response: Any) -> None:
        self._queue.reset(self._node.now())
        response.success, response.message = True, "reset sent"

    def _on_tare(self, _request: Any, response: Any) -> None:
        self._queue.tare(self._node.now())
        response.success, response.message = True, "tare sent"

    def _on_authority(self, kind: AuthorityKind, _request: Any, response: Any) -> None:
        self._authority_client.check(kind)
        self._authority_client.request(self._node.now(), self._queue.authority_message(kind))
        response.success, response.message = True, f"{kind.name.lower()} sent, repeated until the robot shows it"

    def _on_gripper(self, request: Any, response: Any) -> None:
        response.value = self._queue.set_gripper(self._node.now(), request.value)
        response.success, response.message = True, f"{1e3 * response.value:g} mm from the head of the path on"

    def _on_time_ratio(self, request: Any, response: Any) -> None:
        response.value = self._queue.set_time_ratio(self._node.now(), request.value)
        response.success, response.message = True, f"{response.value:g} plan seconds per second"

    def _on_orientation_clutch(self, request: Any, response: Any) -> None:
        self._queue.set_hand_scale(self._node.now(), turns=request.data)
        response.success = True
        response.message = "the hand turns the tool" if request.data else "the hand only moves the tool"

    def _on_scale(self, which: str, request: Any, response: Any) -> None:
        scale = self._queue.set_hand_scale(self._node.now(), **{which: request.value})
        response.value = getattr(scale, which)
        response.success, response.message = True, f"{response.value:g} of the hand's motion from now on"
