"""A bare operator beside the robot that says texts, halts, and watches the setpoints. For the benchmark of halts."""

from __future__ import annotations

import contextlib
import gc
import os
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from telerobot.msg import Command, Halt
from telerobot_nodes import graph
from telerobot_nodes.nodes.convert import LinkCounter
from telerobot_nodes.nodes.interfaces import interface_class, qos_profile
from telerobot_nodes.nodes.process import URGENT_NICENESS, URGENT_PRIORITY

STILL = 1e-9  # [rad/s]
SLOWER = 0.999  # of the speed when the halt was sent


class HaltProbe:
    """Says, halts, watches. A context manager; one thread, scheduled like the hardware interface, for which it stands.

    `slower_at`, `rested_at`: receipt here of the first setpoint that is slower, at rest; `commanded_at`: the control
    step that made the latter. All of the host's monotonic clock [s].
    """

    def __init__(self) -> None:
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, 0, URGENT_NICENESS)  # the transport's threads inherit it
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        self._node = rclpy.create_node(f"halt_probe_{os.getpid()}")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._link = LinkCounter(f"halt_probe_{os.getpid()}")
        self._commands = self._publisher("rtc_decision_unit/commands")
        self._halts = self._publisher("halt")
        self._subscribe("hardware_interface/setpoint", self._on_setpoint)
        self._subscribe("gcmsf_control/state", self._on_state)
        self.speed = 0.0  # [rad/s] of the fastest joint, as commanded
        self.rests = False
        self.rested_at = self.slower_at = self.commanded_at = 0.0
        self._sent_at = float("inf")
        self._sent_speed = 0.0
        self._number = 0
        gc.collect()
        gc.freeze()
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(URGENT_PRIORITY))

    @property
    def connected(self) -> bool:
        """True when texts and halts are heard."""
        return self._commands.get_subscription_count() > 0 and self._halts.get_subscription_count() > 1

    def say(self, text: str) -> float:
        """Publish a text; when."""
        message = Command(link=self._link.next(self._stamp()), sender="bench", text=text)
        at = time.monotonic()
        self._commands.publish(message)
        return at

    def halt_by_text(self) -> float:
        """Say halt; when."""
        return self._sent(self.say("halt"))

    def halt_by_topic(self) -> float:
        """Publish a halt on the topic that everybody hears; when."""
        self._number += 1
        message = Halt(link=self._link.next(self._stamp()), number=self._number, agent="bench", reason="benchmark")
        at = time.monotonic()
        self._halts.publish(message)
        return self._sent(at)

    def spin(self, seconds: float) -> None:
        """Hear what comes within `seconds`."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=left)

    def wait(self, ready: Callable[[], bool], limit: float) -> bool:
        """Hear until `ready`; False after `limit` [s]."""
        end = time.monotonic() + limit
        while not ready():
            if time.monotonic() > end:
                return False
            self._executor.spin_once(timeout_sec=0.02)
        return True

    def _sent(self, at: float) -> float:
        self._sent_at, self._sent_speed = at, self.speed
        self.slower_at = 0.0
        return at

    def _on_setpoint(self, message: Any) -> None:
        now = time.monotonic()
        self.speed = float(np.abs(message.velocity).max()) if len(message.velocity) else 0.0
        self.rests = self.speed <= STILL
        if now > self._sent_at and not self.slower_at and self.speed < SLOWER * self._sent_speed:
            self.slower_at = now
        if self.rests and now > self._sent_at:
            self.rested_at, self.commanded_at, self._sent_at = now, message.monotonic, float("inf")

    def _on_state(self, message: Any) -> None:
        self._number = max(self._number, message.halt_number)

    def _publisher(self, name: str) -> Any:
        entry = graph.topic(name)
        return self._node.create_publisher(interface_class(entry.type), name, qos_profile(entry.qos))

    def _subscribe(self, name: str, callback: Callable[[Any], None]) -> None:
        entry = graph.topic(name)
        self._node.create_subscription(interface_class(entry.type), name, callback, qos_profile(entry.qos))

    def _stamp(self) -> Any:
        return self._node.get_clock().now().to_msg()

    def __enter__(self) -> HaltProbe:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.try_shutdown()


def flood(rate: float, texts: Sequence[str]) -> None:
    """Say texts at `rate` [1/s] until the process is ended."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node(f"flood_{os.getpid()}")
    entry = graph.topic("rtc_decision_unit/commands")
    publisher = node.create_publisher(interface_class(entry.type), entry.name, qos_profile(entry.qos))
    link = LinkCounter(f"flood_{os.getpid()}")
    began, said = time.monotonic(), 0
    while True:
        due = int((time.monotonic() - began) * rate)
        while said < due:
            stamp = node.get_clock().now().to_msg()
            publisher.publish(Command(link=link.next(stamp), sender="flood", text=texts[said % len(texts)]))
            said += 1
        time.sleep(0.001)
