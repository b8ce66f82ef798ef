"""What carries a robot's client: a node with a context and a thread of its own, or a node of the user's program."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from itertools import count
from threading import Condition, Event, Thread
from typing import Any

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.executors import ExternalShutdownException

from telerobot_nodes.errors import TelerobotError
from telerobot_nodes.nodes.framework import NodeWiring, client_executor, leave

END_LIMIT = 5.0  # [s] for the thread to end
LOOK = 0.2  # [s] longest time until the thread sees that it should end
_NUMBERS = count(1)


class Carrier(NodeWiring):
    """Wiring whose callbacks hold one lock; a callback that fails is logged and does not end who spins the node."""

    def __init__(self, node: Any, changed: Condition, base: str = "") -> None:
        super().__init__(node, base)
        self._changed = changed

    def subscribe(self, name: str, callback: Callable[[Any], None]) -> Any:
        """Subscription to a topic of the table."""
        return super().subscribe(name, self.guarded(callback))

    def every(self, period: float, callback: Callable[[], None]) -> Any:
        """Call `callback` each `period` [s] of the steady clock."""
        clock = Clock(clock_type=ClockType.STEADY_TIME)
        return self._kept(self.node.destroy_timer, self.node.create_timer(period, self.guarded(callback), clock=clock))

    def guarded(self, callback: Callable[..., None]) -> Callable[..., None]:
        """`callback` under the lock, with its errors logged; who waits for a change is woken."""

        def call(*arguments: Any) -> None:
            with self._changed:
                try:
                    callback(*arguments)
                except TelerobotError as error:
                    self.node.get_logger().warning(f"refused: {error}", throttle_duration_sec=1.0)
                except Exception as error:  # noqa: BLE001 -- boundary: a listener's error must not end the thread
                    text = "".join(traceback.format_exception(error))
                    self.node.get_logger().error(text, throttle_duration_sec=1.0)
                self._changed.notify_all()

        return call

    def close(self) -> None:
        """Take everything back from the node."""
        self.destroy_entities()


class OwnCarrier(Carrier):
    """A node of its own: it works beside others of its kind and inside a program that uses rclpy itself."""

    def __init__(self, name: str, namespace: str, changed: Condition) -> None:
        self._context = rclpy.Context()
        self._context.init(args=[])
        unique = f"telerobot_{name}_{os.getpid()}_{next(_NUMBERS)}"
        super().__init__(rclpy.create_node(unique, context=self._context, namespace=namespace), changed)
        self._executor = client_executor(self._context)
        self._executor.add_node(self.node)
        self._closing = Event()
        self._thread = Thread(target=self._spin, name=unique, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Leave the graph."""
        self._closing.set()
        self._executor.wake()
        self._thread.join(END_LIMIT)  # first: an executor that is shut down under a callback raises in it
        self._executor.shutdown()
        self.destroy_entities()
        leave(self.node)
        self._context.try_shutdown()

    def _spin(self) -> None:
        while not self._closing.is_set():
            try:
                self._executor.spin_once(timeout_sec=LOOK)
            except ExternalShutdownException:
                break
            except Exception as error:  # noqa: BLE001 -- one callback that fails must not end all others
                self.node.get_logger().error(f"callback failed: {error}", throttle_duration_sec=1.0)
