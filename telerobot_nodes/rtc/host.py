"""Runs the interface server: one decision thread that is idle within milliseconds, workers on threads of their own.

What belongs here: threads, queues, who gets which answer. What must never enter: deciding, ROS. A halt of everything
goes to the subsystems from the caller's own thread before anything is written down, and overtakes what waits.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from telerobot_nodes.core.timing import Histogram
from telerobot_nodes.rtc.conditions import Measured, ReflexWatch
from telerobot_nodes.rtc.interface import InterfaceServer, is_urgent
from telerobot_nodes.rtc.messages import (
    CommandReport,
    Dispatch,
    HaltSubsystem,
    HoldSubsystem,
    Job,
    JobDone,
    Output,
    Reply,
    Send,
    Work,
)
from telerobot_nodes.rtc.primitives import Primitive, Report
from telerobot_nodes.rtc.request import Request
from telerobot_nodes.rtc.workers import Workers

MOST_WAITING = 200  # messages; more are refused at the door, so that a flood cannot delay what is under way
MOST_OF_ONE = 40  # of them from the same sender, so that one that floods leaves room for the others
SWITCH_INTERVAL = 0.0005  # [s] a worker may keep the interpreter when the decision thread wants it
LONGEST_WAIT = 0.2  # [s]
IDLE_WORKERS = 3
_WRITERS = frozenset((Work.OPEN, Work.ANALYSE, Work.ABANDON, Work.OBSERVE))  # one at a time, in order

Answer: TypeAlias = Callable[[Reply], None]
Ended: TypeAlias = Callable[[CommandReport], None]
Task: TypeAlias = Callable[[float], list[Output]]


class Subsystems(Protocol):
    """What the decision unit commands. Calls come from the decision thread, `halt_all` from any; none may wait."""

    def send(self, primitive: Primitive, request: Request) -> None:
        """Begin a primitive; its report comes back through `Host.report`."""

    def halt(self, subsystem: str, reason: str, primitive: int) -> None:
        """Stop a subsystem now."""

    def halt_all(self, reason: str) -> None:
        """Stop every arm now."""

    def hold(self, primitive: int, subsystem: str, hold: bool) -> None:
        """Stop on the path and keep the rest, or go on."""

    def slow(self, primitive: Primitive, speed: float) -> None:
        """A reflex slows a primitive down to `speed` [m/s]."""


@dataclass
class _Waiting:
    task: Task
    sender: str = ""  # of a text


@dataclass
class Counts:
    """What has been counted, for diagnostics."""

    taken: int = 0
    refused: int = 0
    handling: Histogram = field(default_factory=Histogram)  # [s] of each message


class Host:
    """The decision thread, its inbox and its workers. `publish` gets every output that is not for a subsystem."""

    def __init__(
        self,
        interface: InterfaceServer,
        workers: Callable[[], Workers],
        subsystems: Subsystems,
        publish: Callable[[Output], None],
        clock: Callable[[], float],
        on_error: Callable[[Exception], None],
    ) -> None:
        """`workers`: made once in each worker's thread, as kinematics keep working memory."""
        self.interface = interface
        self.reflexes = ReflexWatch()
        self.counts = Counts()
        self._subsystems, self._publish, self._clock, self._on_error = subsystems, publish, clock, on_error
        self._urgent: deque[_Waiting] = deque()
        self._work_done: deque[_Waiting] = deque()  # of commands under way: before what is new
        self._ordinary: deque[_Waiting] = deque()
        self._waiting_of: Counter[str] = Counter()  # texts, by sender
        self._wake = threading.Condition()
        self._ending = False
        self._local = threading.local()
        self._make = workers
        self._writers = ThreadPoolExecutor(1, "analysis", self._prepare)
        self._others = ThreadPoolExecutor(IDLE_WORKERS, "worker", self._prepare)
        self._answers: dict[int, Answer] = {}  # by job of the interface
        self._followers: dict[int, Ended] = {}  # by number of the first command of a message
        self._thread = threading.Thread(target=self._run, name="decision", daemon=True)

    # any thread ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to decide."""
        sys.setswitchinterval(SWITCH_INTERVAL)
        self._thread.start()

    def stop(self) -> None:
        """End the threads; what waits is forgotten."""
        with self._wake:
            self._ending = True
            self._wake.notify()
        if self._thread.ident is not None:
            self._thread.join()
        self._others.shutdown(wait=False, cancel_futures=True)
        self._writers.shutdown(wait=True)

    def submit(self, sender: str, text: str | bytes, answer: Answer | None = None, ended: Ended | None = None) -> None:
        """Take a text; `answer` gets its reply, `ended` the last report of the command it began.

        Both are called on the decision thread. A text that begins with `halt` overtakes everything.
        """
        waiting = _Waiting(lambda now: self._submit(sender, text, answer, ended, now))
        if is_urgent(text):
            if _halts_all(text):
                self._subsystems.halt_all(f"halt by {sender}")
            self._put(self._urgent, waiting)
        elif len(self._ordinary) >= MOST_WAITING or self._waiting_of[sender] >= MOST_OF_ONE:
            self.counts.refused += 1
            if answer is not None:
                answer(Reply(sender, "too many messages wait already; say it again", ok=False))
        else:
            waiting.sender = sender
            with self._wake:
                self._waiting_of[sender] += 1
            self._put(self._ordinary, waiting)

    def halt(self, reason: str) -> None:
        """Stop everything: the arms at once, then every command."""
        self._subsystems.halt_all(reason)
        self._put(self._urgent, _Waiting(lambda now: self.interface.unit.halt(reason, now)))

    def report(self, report: Report) -> None:
        """A subsystem's report."""
        self._put(self._work_done, _Waiting(lambda now: self._reported(report, now)))

    def measured(self, arm: str, measured: Measured) -> None:
        """An arm as measured."""
        self._put(self._ordinary, _Waiting(lambda now: self._measured(arm, measured, now)))

    def background(self, task: Callable[[], None]) -> None:
        """Do something slow on the thread that writes the database."""

        def guarded() -> None:
            try:
                task()
            except Exception as error:  # noqa: BLE001 -- thread boundary: a full disk must not end the node
                self._on_error(error)

        with contextlib.suppress(RuntimeError):  # the pool is shut down: the program ends
            self._writers.submit(guarded)

    def ask(self, task: Task) -> None:
        """Do something on the decision thread, in turn."""
        self._put(self._ordinary, _Waiting(task))

    @property
    def waiting(self) -> int:
        """Messages not yet handled."""
        return len(self._urgent) + len(self._work_done) + len(self._ordinary)

    def _put(self, lane: deque[_Waiting], waiting: _Waiting) -> None:
        with self._wake:
            lane.append(waiting)
            self._wake.notify()

    # decision thread -------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._ending:
            waiting = self._next()
            began = self._clock()
            try:
                outputs = waiting.task(began) if waiting is not None else self.interface.tick(began)
                for output in outputs:
                    self._play(output)
            except Exception as error:  # noqa: BLE001 -- thread boundary: one bad message must not end the decision unit
                self._on_error(error)
            if waiting is not None:
                self.counts.taken += 1
                self.counts.handling.add(self._clock() - began)

    def _next(self) -> _Waiting | None:
        """The next message, urgent ones first; None when it is time for a tick."""
        with self._wake:
            while not self._ending:
                if self._urgent:
                    return self._urgent.popleft()
                until = self.interface.unit.wake_at() - self._clock()
                if until <= 0.0:
                    return None
                for lane in (self._work_done, self._ordinary):
                    if lane:
                        return self._out_of(lane)
                self._wake.wait(min(until, LONGEST_WAIT))
        return None

    def _out_of(self, lane: deque[_Waiting]) -> _Waiting:
        waiting = lane.popleft()
        if waiting.sender:
            self._waiting_of[waiting.sender] -= 1
            if not self._waiting_of[waiting.sender]:
                del self._waiting_of[waiting.sender]
        return waiting

    def _submit(
        self, sender: str, text: str | bytes, answer: Answer | None, ended: Ended | None, now: float
    ) -> list[Output]:
        outputs = self.interface.submit(sender, text, now)
        return self._answered(outputs, answer, ended)

    def _answered(self, outputs: list[Output], answer: Answer | None, ended: Ended | None) -> list[Output]:
        """Tie the reply among the outputs, or the job that will give it, to who asked."""
        for output in outputs:
            if isinstance(output, Reply):
                if output.command and ended is not None:
                    self._followers[output.command] = ended
                if answer is not None:
                    answer(output)
                return outputs
        for output in outputs:
            if isinstance(output, Dispatch) and output.job.number < 0:
                self._answers[output.job.number] = lambda reply: self._late(reply, answer, ended)
        return outputs

    def _late(self, reply: Reply, answer: Answer | None, ended: Ended | None) -> None:
        self._answered([reply], answer, ended)

    def _job_done(self, done: JobDone, now: float) -> list[Output]:
        outputs = self.interface.job_done(done, now)
        answer = self._answers.pop(done.job, None)
        for output in outputs:
            if answer is not None and isinstance(output, Reply):
                answer(output)
                break
        return outputs

    def _reported(self, report: Report, now: float) -> list[Output]:
        if report.final:
            self.reflexes.forget(report.primitive)
        return self.interface.report(report, now)

    def _measured(self, arm: str, measured: Measured, now: float) -> list[Output]:
        for firing in self.reflexes.measured(arm, measured, now):
            quantity = firing.rule.action.quantity if firing.rule is not None else None
            if firing.outcome:
                self._subsystems.halt(arm, firing.outcome, firing.primitive.number)
            elif quantity is not None:
                self._subsystems.slow(firing.primitive, quantity.si)
            self.report(Report(firing.primitive.number, "running", final=False, note=firing.text))
        return self.interface.measured(arm, measured.joints, measured.pose, now)

    def _play(self, output: Output) -> None:
        if isinstance(output, HaltSubsystem):
            self._subsystems.halt(output.subsystem, output.reason, output.primitive)
        elif isinstance(output, Dispatch):
            pool = self._writers if output.job.work in _WRITERS else self._others
            with contextlib.suppress(RuntimeError):  # the pool is shut down: the program ends
                pool.submit(self._work, output.job)
        elif isinstance(output, Send):
            self._send(output.primitive)
        elif isinstance(output, HoldSubsystem):
            self._subsystems.hold(output.primitive, output.subsystem, output.hold)
        else:
            self._publish(output)
            if isinstance(output, CommandReport):
                self._ended(output)

    def _send(self, primitive: Primitive) -> None:
        record = self.interface.unit.commands.get(primitive.command)
        if primitive.subsystem in ("operator", "program") or record is None or record.request is None:
            return
        self.reflexes.begin(primitive, record.request, self._clock())
        self._subsystems.send(primitive, record.request)

    def _ended(self, report: CommandReport) -> None:
        if report.more:  # the next statement of the same message goes on
            return
        follower = self._followers.pop(report.origin or report.command, None)
        if follower is not None:
            follower(report)

    # workers ---------------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        self._local.workers = self._make()

    def _work(self, job: Job) -> None:
        try:
            done = self._local.workers.run(job, self._clock())
        except Exception as error:  # noqa: BLE001 -- thread boundary: the command ends, the node does not
            self._on_error(error)
            done = JobDone(job.number, error=f"internal error: {error}")
        self._put(self._work_done, _Waiting(lambda now: self._job_done(done, now)))


def _halts_all(text: str | bytes) -> bool:
    words = (text if isinstance(text, str) else text.decode("ascii", "replace")).lower().split()
    return words in (["halt"], ["halt", "all"])


def facts(counts: Counts) -> Mapping[str, float]:
    """Figures for diagnostics."""
    return {
        "messages": counts.taken,
        "refused_messages": counts.refused,
        "handling_p99_ms": 1e3 * counts.handling.quantile(0.99),
    }
