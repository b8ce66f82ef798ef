"""The host's end of the process that receives halts, `halt_receiver.py`: start, signs of life, end."""

from __future__ import annotations

import contextlib
import select
import subprocess
import sys
from collections.abc import Mapping

from telerobot_nodes.core.memory import HaltSlot, ReceivedHalt
from telerobot_nodes.errors import TelerobotError

MODULE = "telerobot_nodes.nodes.halts.halt_receiver"
START_LIMIT = 60.0  # [s]
SILENCE_LIMIT = 5.0  # [s] without a sign of life: it hangs
END_LIMIT = 2.0  # [s]


class HaltProcessError(TelerobotError):
    """The process that receives halts did not start."""


class HaltProcess:
    """Receives halts for the loop whose memory `descriptor` is; `received` is the latest."""

    def __init__(
        self, descriptor: int, slot: HaltSlot, name: str, texts: str, arm_name: str, topics: Mapping[str, str]
    ) -> None:
        """`name`: of its ROS node; `texts`: topic of commands; `arm_name`: topic of ArmName.msg.

        `topics` of halts: name -> the word before the senders. All names are absolute.
        """
        self._slot = slot
        self._count, self.received = 0, ReceivedHalt()
        self._beats, self._alive_at = -1, 0.0
        words = [f"{topic}={word}" for topic, word in topics.items()]
        self._process = subprocess.Popen(
            [sys.executable, "-m", MODULE, str(descriptor), name, texts, arm_name, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(descriptor,),
        )

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def wait_ready(self) -> None:
        """Wait until it receives. Raises HaltProcessError."""
        stdout = self._process.stdout
        assert stdout is not None
        ready, _, _ = select.select([stdout], [], [], START_LIMIT)
        if not ready or not stdout.read(1):
            self.stop()
            raise HaltProcessError("the process that receives halts did not start; see its output")

    def trouble(self, now: float) -> str:
        """Why no halt is received; "" while the process gives signs of life."""
        if self.ended:
            return f"the process that receives halts ended with code {self._process.returncode}"
        if self._slot.beats != self._beats:
            self._beats, self._alive_at = self._slot.beats, now
        if now - self._alive_at > SILENCE_LIMIT:
            return f"the process that receives halts hangs since {SILENCE_LIMIT:g} s"
        return ""

    @property
    def ended(self) -> bool:
        """True when the process has ended."""
        return self._process.poll() is not None

    def news(self) -> bool:
        """True when a halt came since the last call; it is then in `received`."""
        if self._slot.count == self._count:
            return False
        self._count, self.received = self._slot.count, self._slot.read()
        return True

    def stop(self) -> None:
        """End the process."""
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self._process.communicate(timeout=END_LIMIT)
        if not self.ended:
            self._process.kill()
            self._process.wait()
