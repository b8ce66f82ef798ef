"""A bare operator beside the robot: sends texts, halts and goals, records the setpoints. For the benches of halts."""

from __future__ import annotations

import contextlib
import gc
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from telerobot.action import ExecutePrimitive
from telerobot.msg import Command, Halt, PrimitiveParameters, Resume
from telerobot_nodes import graph
from telerobot_nodes.nodes.framework import URGENT_NICENESS, Foreground
from telerobot_nodes.nodes.messages import LinkCounter

STILL = 1e-9  # [rad/s]
RECEIVER = "gcmsf_control_halts"  # the process beside the control loop
RELEASE_PERIOD = 0.05  # [s] between two repetitions of a resume

Row = tuple[float, float, Any, Any, Any]  # received [s], made [s], position, velocity, acceleration


class HaltProbe(Foreground):
    """Sends halts and records the setpoints; scheduled like the hardware interface, which it stands for.

    `rows`: the setpoints since `record`, with the times of the host's monotonic clock [s].
    """

    def __init__(self) -> None:
        with contextlib.suppress(PermissionError):  # the transport's threads inherit both
            os.setpriority(os.PRIO_PROCESS, 0, URGENT_NICENESS)
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(graph.node("hardware_interface").priority))
        name = f"halt_probe_{os.getpid()}"
        super().__init__(name)
        self._link = LinkCounter(name)
        self._commands = self.publisher("rtc_decision_unit/commands")
        self._halts = self.publisher("halt")
        self._estops = self.publisher("estop")
        self._resumes = self.publisher("gcmsf_control/resume")
        self._execute = self.action_client("gcmsf_control/execute")
        self._reset = self.client("hardware_interface/reset")
        self.subscribe("hardware_interface/setpoint", self._on_setpoint)
        self.subscribe("gcmsf_control/state", self._on_state)
        self.rows: list[Row] = []
        self.state: Any = None  # latest ControlState.msg
        self.speed = 0.0  # [rad/s] of the fastest joint, as commanded
        self.rests_since = float("inf")  # [s]; infinite while the arm moves
        gc.collect()
        gc.freeze()

    @property
    def connected(self) -> bool:
        """True when halts and goals have their receivers, and the state of the arm is known."""
        return self._reaches(self._halts) and self._execute.server_is_ready() and self.state is not None

    def receives_texts(self) -> bool:
        """True when texts have their receivers."""
        return self._reaches(self._commands)

    def _reaches(self, publisher: Any) -> bool:
        """True when the arm's halt receiver, and every other subscriber known so far, has been discovered."""
        known = self.node.get_subscriptions_info_by_topic(publisher.topic_name)
        names = [one.node_name for one in known]
        return RECEIVER in names and publisher.get_subscription_count() >= len(names)

    def record(self) -> None:
        """Forget the setpoints so far, all but the latest."""
        self.rows = self.rows[-1:]

    def send_text(self, text: str, sender: str = "bench", number: int | None = None) -> float:
        """Publish a text; the time of it [s]. With a `number` its identity is that of a process of the same name."""
        link = self._link.next(self.stamp())
        if number is not None:
            link.sender, link.number = sender, number
        message = Command(link=link, sender=sender, text=text)
        at = self.now()
        self._commands.publish(message)
        return at

    def send_halt(self, number: int = 0, agent: str = "", reason: str = "", estop: bool = False) -> float:
        """Publish a halt or an e-stop; the time of it [s]."""
        message = Halt(number=number, agent=agent, reason=reason)
        at = self.now()
        (self._estops if estop else self._halts).publish(message)
        return at

    def send_goal(self, name: str, values: dict[str, str]) -> Any:
        """Ask for a primitive, without the decision unit; the future of its handle."""
        parameters = PrimitiveParameters(name=name, agent="bench", keys=list(values), values=list(values.values()))
        return self._execute.send_goal_async(ExecutePrimitive.Goal(parameters=parameters))

    def goal_ended(self, asked: Any) -> Callable[[], bool]:
        """Whether the primitive that `send_goal` asked for has been rejected or has ended."""
        over: list[bool] = []

        def answered(future: Any) -> None:
            handle = future.result()
            if handle is None or not handle.accepted:
                over.append(True)
            else:
                handle.get_result_async().add_done_callback(lambda _: over.append(True))

        asked.add_done_callback(answered)
        return lambda: bool(over)

    def release(self, limit: float) -> bool:
        """Reset the e-stop and resume the present halt; False when it holds after `limit` [s]."""
        end = self.now() + limit
        while self.state.halted or self.state.estop:
            if self.now() > end:
                return False
            if self.state.estop:
                self._reset.call_async(self._reset.srv_type.Request())
            self._resumes.publish(Resume(halt_count=self.state.halt_count, agent="bench"))
            self.wait(lambda: not (self.state.halted or self.state.estop), RELEASE_PERIOD)
        return True

    def _on_setpoint(self, message: Any) -> None:
        now = self.now()
        self.rows.append((now, message.monotonic, message.position, message.velocity, message.acceleration))
        self.speed = float(np.abs(message.velocity).max()) if len(message.velocity) else 0.0
        if self.speed > STILL:
            self.rests_since = float("inf")
        elif self.rests_since == float("inf"):
            self.rests_since = now

    def _on_state(self, message: Any) -> None:
        self.state = message


def flood(rate: float, texts: Sequence[str]) -> None:
    """Publish texts at `rate` [1/s] until the process is ended."""
    client = Foreground(f"flood_{os.getpid()}")
    publisher = client.publisher("rtc_decision_unit/commands")
    link = LinkCounter(f"flood_{os.getpid()}")
    began, sent = time.monotonic(), 0
    while True:
        due = int((time.monotonic() - began) * rate)
        while sent < due:
            publisher.publish(Command(link=link.next(client.stamp()), sender="flood", text=texts[sent % len(texts)]))
            sent += 1
        time.sleep(0.001)
