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
    """Follows one operation from the moment before it is sent; `step` with every change of the client's state.

    The queue does not tell the number of an operation. It is at most what the robot has applied and what is on its
    way, once the queue's state counts it: a hand that goes on laying points does not keep it back.
    """

    def __init__(self, client: OperatorClient) -> None:
        self._client = client
        self._refused = client.robot.refused_number
        self._queue: float | None = None  # [s] when the latest state of the queue was received
        self._robot: float | None = None  # [s] when the robot was last heard before the queue's state counted it
        self._states = 0  # of the queue since its answer
        self._under_way = 0  # operations, in the first state that counts it
        self._number: int | None = None  # of the latest operation that it can be
        self._confirmed = False

    @property
    def limit(self) -> float:
        """Longest wait for the robot's answer [s]."""
        return LEAST_LIMIT + 3.0 * max(self._client.queue.round_trip, 0.0)

    def sent(self) -> None:
        """The queue has answered: states from now on count."""
        self._queue = self._client.received.queue

    def step(self) -> bool:
        """True once the robot has applied or refused it."""
        received, queue = self._client.received, self._client.queue
        if received.queue != self._queue:
            self._queue, self._states = received.queue, self._states + 1
            if self._states == STATES:
                self._under_way, self._robot = queue.unacknowledged, received.robot
        if self._states >= STATES and received.robot != self._robot:  # its report is not older than the queue's state
            applied = self._client.robot.applied_number
            if self._number is None:
                self._number = applied + self._under_way
            self._confirmed = self._confirmed or applied >= self._number or queue.unacknowledged == 0
        return self._confirmed or self._was_refused

    @property
    def settled(self) -> bool:
        """True when the arm may move again, after a RESUME."""
        return not (self._client.robot.estop or self._client.robot.mode in STOPPED)

    def outcome(self, command: Command) -> Outcome:
        """The robot's answer, as far as it is known now."""
        robot = self._client.robot
        if self._was_refused:
            return Outcome(Result.REFUSED, f"the robot refused it: {robot.refusal}")
        if not self._confirmed:
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
