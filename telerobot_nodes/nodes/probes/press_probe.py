"""Records when the robot obeys what an operator presses, in a thread of its own. For the bench of the console."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any

from telerobot.msg import PlanOperation, Resume
from telerobot_nodes.nodes.framework import Foreground

LOOK = 0.05  # [s] between two checks whether the thread must end

PRESSED = {PlanOperation.PAUSE: "pause", PlanOperation.RESUME: "resume", PlanOperation.CLEAR: "clear"}


class PressProbe(Foreground):
    """Times, on the host's monotonic clock [s], of what reached the robot; a context manager.

    `operations`: (received, kind) of each operation of the plan log, at its first copy. `halts`: when the control loop
    had obeyed each halt, by its own clock.
    """

    def __init__(self, namespace: str = "") -> None:
        super().__init__("press_probe", namespace)
        self.operations: list[tuple[float, str]] = []
        self.halts: list[float] = []
        self._seen: set[tuple[int, int]] = set()  # epoch and number of operations
        self._state: Any = None
        self._resumes = self.publisher("gcmsf_control/resume")
        self.subscribe("plan_executor/operations", self._on_operations)
        self.subscribe("gcmsf_control/state", self._on_state)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._receive, daemon=True)

    @property
    def halted(self) -> bool:
        """True while the control loop obeys a halt."""
        return self._state is not None and bool(self._state.halted)

    @property
    def connected(self) -> bool:
        """True when the state of the loop is known."""
        return self._state is not None

    def resume(self) -> None:
        """Publish a resume of the present halt, once."""
        self._resumes.publish(Resume(halt_count=self._state.halt_count, agent="press_probe"))

    def _receive(self) -> None:
        while not self._end.is_set():
            self.wait(self._end.is_set, LOOK, LOOK)

    def _on_operations(self, message: Any) -> None:
        now = self.now()
        for operation in message.operations:
            key = (operation.epoch, operation.number)
            if operation.kind in PRESSED and key not in self._seen:
                self._seen.add(key)
                self.operations.append((now, PRESSED[operation.kind]))

    def _on_state(self, message: Any) -> None:
        if message.halted and not self.halted:
            self.halts.append(message.monotonic)
        self._state = message

    def __enter__(self) -> PressProbe:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end.set()
        self._thread.join()
        super().__exit__(kind, error, at)
