"""Runs the interface server: one decision thread, which is idle within milliseconds, and worker threads.

This module owns threads, queues and the routing of answers; it takes no decision and knows no ROS. A halt of everything
is sent to the subsystems from the caller's own thread, before any bookkeeping and before all waiting messages.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeAlias

from telerobot_nodes.core.protocol import HaltId, begins_with_halt, role_of
from telerobot_nodes.core.timing import Histogram
from telerobot_nodes.rtc.decision import (
    DATABASE_WORK,
    CommandReport,
    Dispatch,
    HaltSubsystem,
    HoldSubsystem,
    Job,
    JobDone,
    Measured,
    Output,
    ReflexWatch,
    Reply,
    ResumeSubsystems,
    Send,
)
from telerobot_nodes.rtc.language import Control, grammar
from telerobot_nodes.rtc.server.halting import Halting
from telerobot_nodes.rtc.server.inbox import Inbox, Task
from telerobot_nodes.rtc.server.reactions import Reactions
from telerobot_nodes.rtc.server.subsystems import Subsystems
from telerobot_nodes.rtc.server.text_server import EVERYTHING, InterfaceServer
from telerobot_nodes.rtc.server.workers import Workers
from telerobot_nodes.rtc.skills import Primitive, Report

SWITCH_INTERVAL = 0.0005  # [s] a worker may keep the interpreter when the decision thread wants it
IDLE_WORKERS = 3

Answer: TypeAlias = Callable[[Reply], None]
Ended: TypeAlias = Callable[[CommandReport], None]


@dataclass
class Counts:
    """Counters for diagnostics."""

    taken: int = 0
    handling: Histogram = field(default_factory=Histogram)  # [s] of each message


class Host:
    """The decision thread, its inbox and its workers. `publish` receives every output that is not for a subsystem."""

    def __init__(
        self,
        interface: InterfaceServer,
        workers: Callable[[], Workers],
        subsystems: Subsystems,
        publish: Callable[[Output], None],
        clock: Callable[[], float],
        on_error: Callable[[Exception], None],
    ) -> None:
        """`workers` is called once in each worker thread, because kinematics keep working memory."""
        self.interface = interface
        self.reflexes = ReflexWatch()
        self._reactions = Reactions(interface, self.reflexes, subsystems)
        self.counts = Counts()
        self._subsystems, self._publish, self._clock, self._on_error = subsystems, publish, clock, on_error
        self._inbox = Inbox(clock)
        self._halting = Halting(interface, subsystems, self._inbox.urgent, clock)
        self._local = threading.local()
        self._make = workers
        self._writers = ThreadPoolExecutor(1, "analysis", self._prepare)
        self._others = ThreadPoolExecutor(IDLE_WORKERS, "worker", self._prepare)
        self._answers: dict[int, Answer] = {}  # by job of the interface
        self._followers: dict[int, Ended] = {}  # by number of the first command of a message
        self._thread = threading.Thread(target=self._run, name="decision", daemon=True)

    # any thread ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the decision thread."""
        sys.setswitchinterval(SWITCH_INTERVAL)
        grammar()  # the first text does not wait for it
        self._thread.start()

    def stop(self) -> None:
        """End the threads; waiting messages are dropped."""
        self._inbox.end()
        if self._thread.ident is not None:
            self._thread.join()
        self._others.shutdown(wait=False, cancel_futures=True)
        self._writers.shutdown(wait=True)

    def submit(
        self,
        sender: str,
        text: str | bytes,
        answer: Answer | None = None,
        ended: Ended | None = None,
        named: HaltId | None = None,
    ) -> None:
        """Take a text; `answer` receives its reply, `ended` the last report of the command it started.

        Both are called on the decision thread, or on this one when the text need not be read. A text that begins with a
        halt word has stopped the arms when this returns, whatever follows the word; `named` is then its name.
        """
        if begins_with_halt(text):
            self._read_halted(sender, text, self.halt_by_text(sender, text, named), answer)
            return
        arrived = self._clock()

        def task(now: float) -> list[Output]:
            return self._answered(self.interface.submit(sender, text, now, arrived), answer, ended)

        if not self._inbox.text(sender, task) and answer is not None:
            answer(Reply(sender, "too many messages are waiting; send it again", ok=False))

    def halt(self, reason: str, named: HaltId | None = None) -> None:
        """Stop everything: the arms at once, then every command."""
        self._halting.halt(EVERYTHING, reason, named)

    def halt_by_text(self, sender: str, text: str | bytes, named: HaltId | None = None) -> Control:
        """Stop what a text that begins with a halt word means, and read no further."""
        meant = self.interface.halt_meant(text)
        self._halting.halt(meant, f"halt by {role_of(sender)}", named)
        return meant

    def _read_halted(self, sender: str, text: str | bytes, meant: Control, answer: Answer | None) -> None:
        reply = Reply(sender, "halt")
        if not self.interface.needs_no_reading(text, meant):

            def read(now: float) -> list[Output]:
                return self._answered(self.interface.after_halt(sender, text, meant, now), answer)

            if self._inbox.remark(read):
                return
            reply = Reply(sender, "halt: everything is stopped; the text was not read, too many are waiting", ok=False)
        if answer is not None:
            answer(reply)

    def report(self, report: Report) -> None:
        """A subsystem's report."""
        self._inbox.work_done(lambda now: self._reported(report, now))

    def measured(self, arm: str, measured: Measured) -> None:
        """An arm as measured."""
        self._inbox.ordinary(lambda now: self._reactions.measured(arm, measured, now))

    def signal(self, name: str, on: bool) -> None:
        """A signal of the workcell."""
        self._inbox.work_done(lambda now: self.interface.signal(name, on, now))

    def background(self, task: Callable[[], None]) -> None:
        """Run a slow task on the thread that writes the database."""

        def guarded() -> None:
            try:
                task()
            except Exception as error:  # noqa: BLE001 -- thread boundary: a full disk must not end the node
                self._on_error(error)

        with contextlib.suppress(RuntimeError):  # the pool is shut down: the program ends
            self._writers.submit(guarded)

    def ask(self, task: Task) -> None:
        """Run a task on the decision thread, in turn."""
        self._inbox.ordinary(task)

    @property
    def waiting(self) -> int:
        """Messages not yet handled."""
        return len(self._inbox)

    @property
    def refused(self) -> int:
        """Texts that found no room."""
        return self._inbox.refused

    # decision thread -------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._inbox.ended:
            task = self._inbox.next(self.interface.unit.wake_at)
            began = self._clock()
            try:
                outputs = task(began) if task is not None else self.interface.tick(began)
            except Exception as error:  # noqa: BLE001 -- thread boundary: one bad message must not end the decision unit
                outputs = []
                self._on_error(error)
            for output in outputs:
                self._guarded_play(output)
            self._show_scripts()
            if task is not None:
                self.counts.taken += 1
                self.counts.handling.add(self._clock() - began)

    def _answered(self, outputs: list[Output], answer: Answer | None, ended: Ended | None = None) -> list[Output]:
        """Send the reply among the outputs to the caller, now or when the job that makes it is done."""
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

    def _show_scripts(self) -> None:
        """Publish the scripts that have changed; after all that moves or stops something."""
        try:
            for script in self.interface.unit.script_changes(self._clock()):
                self._publish(script)
        except Exception as error:  # noqa: BLE001 -- thread boundary
            self._on_error(error)

    def _guarded_play(self, output: Output) -> None:
        """Play an output; one that fails does not take the others with it."""
        try:
            self._play(output)
        except Exception as error:  # noqa: BLE001 -- thread boundary
            self._on_error(error)

    def _play(self, output: Output) -> None:
        if isinstance(output, HaltSubsystem):
            stop = self._subsystems.halt if output.latch else self._subsystems.stop
            stop(output.subsystem, output.reason, output.primitive)
        elif isinstance(output, ResumeSubsystems):
            self._subsystems.resume_all(output.reason)
        elif isinstance(output, Dispatch):
            pool = self._writers if isinstance(output.job.work, DATABASE_WORK) else self._others
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
        self._inbox.work_done(lambda now: self._job_done(done, now))


def facts(host: Host) -> Mapping[str, float]:
    """Figures for diagnostics."""
    return {
        "messages": host.counts.taken,
        "refused_messages": host.refused,
        "handling_p99_ms": 1e3 * host.counts.handling.quantile(0.99),
    }
