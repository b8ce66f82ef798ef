"""Plays device poses at their recorded times, on its own thread with absolute deadlines.

A process that stood still sends what was due meanwhile at once, with its lateness. After more than `MOST_LATE` it
plays on from where it was instead, as a hand that paused: a burst of old poses is what no device sends.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from enum import Enum

from telerobot_nodes.core.values import FloatArray
from telerobot_nodes.operator.devices.hand import DeviceMotion

LEAD_TIME = 0.1  # [s] from `start` to the first pose
MOST_LATE = 0.2  # [s] to be made up for; more becomes a pause


class ReplayState(Enum):
    """State of a replay."""

    IDLE = "idle"
    PLAYING = "playing"
    FINISHED = "finished"
    STOPPED = "stopped"


class Replay:
    """One replay at a time. `send` gets (7,) poses, and how late each is [s], on the replay's thread.

    The thread is the one place here that reads a clock: it is the device.
    """

    def __init__(self, send: Callable[[FloatArray, float], None], ended: Callable[[ReplayState], None]) -> None:
        self._send = send
        self._ended = ended
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.state = ReplayState.IDLE
        self.sent = 0
        self.lateness_max = 0.0  # [s] of the present or latest replay; what became a pause is in `paused`
        self.lateness_sum = 0.0  # [s]
        self.paused = 0.0  # [s] by which the replay takes longer than the recording

    @property
    def playing(self) -> bool:
        """True from `start` to the end."""
        return self.state is ReplayState.PLAYING

    def start(self, motion: DeviceMotion) -> None:
        """Start a replay; a running one is stopped first."""
        self.stop()
        self._stop.clear()
        self.sent, self.lateness_max, self.lateness_sum, self.paused = 0, 0.0, 0.0, 0.0
        self.state = ReplayState.PLAYING
        self._thread = threading.Thread(target=self._run, args=(motion,), name="replay", daemon=True)
        self._thread.start()

    def stop(self) -> bool:
        """Stop the replay and wait for its thread; False if none was running."""
        was = self.playing
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        return was

    def _run(self, motion: DeviceMotion) -> None:
        start = time.monotonic() + LEAD_TIME
        state = ReplayState.STOPPED
        try:
            state = self._play(motion, start)
        finally:
            self.state = state
            self._ended(state)

    def _play(self, motion: DeviceMotion, start: float) -> ReplayState:
        for at, pose in zip(motion.time, motion.pose, strict=True):
            due = start + self.paused + at
            if self._stop.wait(max(0.0, due - time.monotonic())):
                return ReplayState.STOPPED
            late = time.monotonic() - due
            if late > MOST_LATE:
                self.paused += late
                late = 0.0
            self._send(pose, late)
            self.sent += 1
            self.lateness_max = max(self.lateness_max, late)
            self.lateness_sum += late
        return ReplayState.FINISHED
