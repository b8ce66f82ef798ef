"""Goals of actions at the control node: sent once their server is found, stopped on request, ended by their result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from threading import Condition
from typing import Any, Generic, Protocol, TypeVar

from action_msgs.msg import GoalStatus

from telerobot_nodes.nodes.clients.under_way.ongoing import Ongoing

FOUND_LIMIT = 5.0  # [s] for the control node to be found
LOST_LIMIT = 5.0  # [s] without the control node, after which no end of a goal is waited for

Report = TypeVar("Report")
End = TypeVar("End")


class GoalCarrier(Protocol):
    """What the primitives need of what carries them: a `Carrier`, or a node of the graph table."""

    @property
    def namespace(self) -> str:
        """Namespace of the arm, without a slash at its end; empty: root."""

    def action_client(self, name: str) -> Any:
        """Client of an action of the table."""

    def client(self, name: str) -> Any:
        """Client of a service of the table."""

    def guarded(self, callback: Callable[..., None]) -> Callable[..., None]:
        """`callback` with its errors logged."""

    def now(self) -> float:
        """Host monotonic time [s]."""


class RunningGoal(Ongoing[Report, End], ABC, Generic[Report, End]):
    """A goal under way."""

    def __init__(self, changed: Condition, unfinished: End, limit: float) -> None:
        super().__init__(changed, unfinished, limit)
        self._handle: Any = None
        self._stop = False

    def stop(self) -> None:
        """Bring the arm to rest on its path; `wait` returns the end."""
        with self._changed:
            self._stop = True
            if self._handle is not None and not self.ended:
                self._handle.cancel_goal_async()

    def accepted(self, handle: Any) -> None:
        """Take the answer to the goal, on the graph's side."""
        self._handle = handle
        if self._stop:
            self.stop()

    @abstractmethod
    def not_served(self, why: str) -> None:
        """End it: nobody has taken the goal."""

    @abstractmethod
    def receive(self, message: Any) -> None:
        """Take a message of feedback."""

    @abstractmethod
    def ended_with(self, result: Any) -> None:
        """Take the result; None: the end was not reported."""


@dataclass
class _Begun:
    """A goal that was sent."""

    client: Any
    running: RunningGoal[Any, Any]
    served: float  # [s] when its server was seen last

    def goes_on(self, now: float) -> bool:
        """False: it has ended, or its server, for example a killed practice robot, has been gone for the limit."""
        if self.running.ended:
            return False
        if self.client.server_is_ready():
            self.served = now
        elif now - self.served >= LOST_LIMIT:
            self.running.ended_with(None)
            return False
        return True


class GoalSender:
    """Sends the goals of one sender from the graph's side, each as soon as its server is found.

    rclpy loses an answer that its thread takes before the thread that asks has noted the question.
    """

    def __init__(self, carrier: GoalCarrier, changed: Condition) -> None:
        self._carrier, self._changed = carrier, changed
        self._waiting: list[tuple[float, Callable[[], bool], Callable[[], None]]] = []  # until [s], send, give up
        self._begun: list[_Begun] = []

    def send(self, client: Any, action: str, goal: Any, running: RunningGoal[Any, Any]) -> None:
        """Send a goal; `running` gets feedback and end."""

        def send() -> bool:
            if not client.server_is_ready():
                return False
            feedback = self._carrier.guarded(lambda message: running.receive(message.feedback))
            sent = client.send_goal_async(goal, feedback)
            sent.add_done_callback(self._carrier.guarded(lambda future: self._answered(running, future.result())))
            self._begun.append(_Begun(client, running, self._carrier.now()))
            return True

        self.later(send, lambda: running.not_served(f"no node serves {self._carrier.namespace}/{action}"))

    def later(self, send: Callable[[], bool], late: Callable[[], None]) -> None:
        """Call `send` until it returns True; after the limit call `late`."""
        with self._changed:
            self._waiting.append((self._carrier.now() + FOUND_LIMIT, send, late))

    def step(self, now: float) -> None:
        """Send what could not be sent before; end what nobody can report any more."""
        self._begun = [begun for begun in self._begun if begun.goes_on(now)]
        self._waiting, waiting = [], self._waiting
        for until, send, late in waiting:
            if not send():
                if now < until:
                    self._waiting.append((until, send, late))
                else:
                    late()

    def _answered(self, running: RunningGoal[Any, Any], handle: Any) -> None:
        if handle is None or not handle.accepted:
            running.not_served("the goal was not accepted: not active")
            return
        running.accepted(handle)

        def end(future: Any) -> None:
            answer = future.result()
            running.ended_with(None if answer.status == GoalStatus.STATUS_UNKNOWN else answer.result)

        handle.get_result_async().add_done_callback(self._carrier.guarded(end))
