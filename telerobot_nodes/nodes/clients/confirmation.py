"""What the robot made of an operation that the plan queue has only sent: RESET, TARE, RESUME.

The queue's answer says that the operation is on its way. The robot may still refuse it; that shows in its reports.
"""

from __future__ import annotations

from telerobot_nodes.core.protocol import ExecutorMode
from telerobot_nodes.operator.client import Command, OperatorClient, Outcome, Result, commands

LEAST_LIMIT = 5.0  # [s] for the robot's answer, and three round trips more
SETTLING = 2.0  # [s] from RESUME to the robot's new mode
STATES = 2  # of the queue after its answer: the first may have been under way before it
STOPPED = frozenset({ExecutorMode.PAUSED, ExecutorMode.HALTED, ExecutorMode.FAULT})
CONFIRMED = (commands.Reset, commands.Tare, commands.Resume)  # what the robot is asked about


class Confirmation:
    """Follows one operation from the moment before it is sent; `step` with every change of the client's state."""

    def __init__(self, client: OperatorClient) -> None:
        self._client = client
        self._refused = client.robot.refused_number
        self._queue: float | None = None  # [s] when the latest state of the queue was received
        self._states = 0
        self._robot: float | None = None  # [s] when the robot was last heard at the queue's acknowledgement

    @property
    def limit(self) -> float:
        """Longest wait for the robot's answer [s]."""
        return LEAST_LIMIT + 3.0 * max(self._client.queue.round_trip, 0.0)

    def sent(self) -> None:
        """The queue has answered: states from now on count."""
        self._queue, self._states, self._robot = self._client.received.queue, 0, None

    def step(self) -> bool:
        """True once the robot has applied or refused everything that was sent."""
        client = self._client
        if self._was_refused:
            return True
        if client.received.queue != self._queue:
            self._queue = client.received.queue
            self._states += 1
        if self._states < STATES or client.queue.unacknowledged > 0:
            self._robot = None
            return False
        if self._robot is None:
            self._robot = client.received.robot
        return client.received.robot != self._robot  # reports of the same age, or newer, than the acknowledgement

    @property
    def settled(self) -> bool:
        """True when the arm may move again, after a RESUME."""
        return not (self._client.robot.estop or self._client.robot.mode in STOPPED)

    def outcome(self, command: Command) -> Outcome:
        """The robot's answer, as far as it is known now."""
        robot = self._client.robot
        if self._was_refused:
            return Outcome(Result.REFUSED, f"the robot refused it: {robot.refusal}")
        if not self.step():
            return Outcome(Result.NO_ANSWER, f"sent; the robot has not confirmed it in {self.limit:g} s")
        if not isinstance(command, commands.Resume):
            return Outcome(Result.DONE, "confirmed by the robot")
        if robot.estop:
            return Outcome(Result.REFUSED, "the e-stop is latched; allowed: after reset")
        if not self.settled:
            return Outcome(Result.REFUSED, f"the robot is still {robot.mode.name.lower()}: {robot.reason}")
        return Outcome(Result.DONE, f"confirmed by the robot; it is {robot.mode.name.lower()}")

    @property
    def _was_refused(self) -> bool:
        return self._client.robot.refused_number not in (0, self._refused)
