"""The messages that wait for the decision thread, in lanes by urgency; a flood of texts finds no room."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from telerobot_nodes.rtc.decision import Output

MAX_WAITING = 200  # texts; more are rejected, so that a flood cannot delay the commands under way
MAX_OF_ONE_SENDER = 40  # of them
MAX_REMARKS = 8  # texts that have halted and are still to be read
MAX_SLEEP = 0.2  # [s]

Task: TypeAlias = Callable[[float], list[Output]]  # time [s] to outputs


@dataclass
class _Waiting:
    task: Task
    sender: str = ""  # of a text


class Inbox:
    """Filled by any thread, emptied by one."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._urgent: deque[_Waiting] = deque()
        self._work_done: deque[_Waiting] = deque()  # of commands under way: before what is new
        self._ordinary: deque[_Waiting] = deque()
        self._remarks: deque[_Waiting] = deque()
        self._waiting_of: Counter[str] = Counter()  # texts, by sender
        self._texts = 0
        self._wake = threading.Condition()
        self._ending = False
        self.refused = 0  # texts

    def __len__(self) -> int:
        return len(self._urgent) + len(self._work_done) + len(self._ordinary) + len(self._remarks)

    def urgent(self, task: Task) -> None:
        """Queue a halt's bookkeeping."""
        self._put(self._urgent, _Waiting(task))

    def work_done(self, task: Task) -> None:
        """Queue news of commands under way."""
        self._put(self._work_done, _Waiting(task))

    def ordinary(self, task: Task) -> None:
        """Queue anything else."""
        self._put(self._ordinary, _Waiting(task))

    def text(self, sender: str, task: Task) -> bool:
        """Queue a text unless too many wait; False, and counted, then."""
        with self._wake:
            if self._texts >= MAX_WAITING or self._waiting_of[sender] >= MAX_OF_ONE_SENDER:
                self.refused += 1
                return False
            self._texts += 1
            self._waiting_of[sender] += 1
            self._ordinary.append(_Waiting(task, sender))
            self._wake.notify()
        return True

    def remark(self, task: Task) -> bool:
        """Queue the reading of a text that has halted, behind everything; False when too many wait."""
        with self._wake:
            if len(self._remarks) >= MAX_REMARKS:
                return False
            self._remarks.append(_Waiting(task))
            self._wake.notify()
        return True

    def end(self) -> None:
        """Nothing more is given out."""
        with self._wake:
            self._ending = True
            self._wake.notify()

    def next(self, tick_at: Callable[[], float]) -> Task | None:
        """The next message, urgent ones first; None when it is time for a tick (`tick_at` [s]) or for the end."""
        with self._wake:
            while not self._ending:
                if self._urgent:
                    return self._urgent.popleft().task
                until = tick_at() - self._clock()
                if until <= 0.0:
                    return None
                for lane in (self._work_done, self._ordinary, self._remarks):
                    if lane:
                        return self._out_of(lane)
                self._wake.wait(min(until, MAX_SLEEP))
        return None

    @property
    def ended(self) -> bool:
        """True after `end`."""
        return self._ending

    def _put(self, lane: deque[_Waiting], waiting: _Waiting) -> None:
        with self._wake:
            lane.append(waiting)
            self._wake.notify()

    def _out_of(self, lane: deque[_Waiting]) -> Task:
        waiting = lane.popleft()
        if waiting.sender:
            self._texts -= 1
            self._waiting_of[waiting.sender] -= 1
            if not self._waiting_of[waiting.sender]:
                del self._waiting_of[waiting.sender]
        return waiting.task
