"""Records when the robot obeys what an operator presses, in a thread of its own. For the bench of the console."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any

from telerobot.msg import PlanOperation
from telerobot_nodes.nodes.framework import Foreground

LOOK = 0.05  # [s] between two checks whether the thread must end


class PressProbe(Foreground):
    """Times, on the host's monotonic clock [s], of what reached the robot; a context manager.

    `pauses`: when the first copy of each came. `halts`: when the control loop had obeyed each, by its own clock.
    """

    def __init__(self, namespace: str = "") -> None:
        super().__init__("press_probe", namespace)
        self.pauses: list[float] = []
        self.halts: list[float] = []
        self._seen: set[tuple[int, int]] = set()  # epoch and number of pauses
        self._state: Any = None
        self.subscribe("plan_executor/operations", self._on_operations)
        self.subscribe("gcmsf_control/state", self._on_state)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._receive, daemon=True)

    @property
    def connected(self) -> bool:
        """True when the state of the loop is known."""
        return self._state is not None

    def _receive(self) -> None:
        while not self._end.is_set():
            self.wait(self._end.is_set, LOOK, LOOK)

    def _on_operations(self, message: Any) -> None:
        now = self.now()
        for operation in message.operations:
            key = (operation.epoch, operation.number)
            if operation.kind == PlanOperation.PAUSE and key not in self._seen:
                self._seen.add(key)
                self.pauses.append(now)

    def _on_state(self, message: Any) -> None:
        if message.halted and not (self._state is not None and self._state.halted):
            self.halts.append(message.monotonic)
        self._state = message

    def __enter__(self) -> PressProbe:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end.set()
        self._thread.join()
        super().__exit__(kind, error, at)
