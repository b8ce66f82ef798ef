"""Texts of one robot under way: what was sent, what was reported, how it ended."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition
from typing import Any

from telerobot_nodes.nodes.clients.under_way.carrier import Carrier
from telerobot_nodes.nodes.clients.under_way.ongoing import Ongoing
from telerobot_nodes.nodes.clients.under_way.text_sender import REPORTS, TASKS, TextSender
from telerobot_nodes.operator.client import CommandEnd, CommandReport, CommandResult, ReportKind, TrialStep

GONE = 10.0  # [s] without a publisher of reports


class RunningText(Ongoing[CommandReport, CommandResult]):
    """A text that the decision unit executes."""

    def __init__(self, changed: Condition, limit: float, cancel: Callable[[str], object]) -> None:
        super().__init__(changed, CommandResult(CommandEnd.RUNNING, f"not ended in {limit:g} s"), limit)
        self.command = 0  # number; 0: none yet
        self._cancel = cancel

    def cancel(self) -> None:
        """Ask for its end; `wait` returns it."""
        if self.command and not self.ended:
            self._cancel(f"cancel command {self.command}")

    def receive(self, report: CommandReport) -> None:
        """Take a report of this text, on the graph's side."""
        self.command = self.command or report.command
        self.tell(report)
        if report.kind is ReportKind.REPLY and not report.command:
            end = CommandEnd.ANSWERED if report.ok else CommandEnd.REFUSED
            self.finish(CommandResult(end, "" if report.ok else report.text, report))
        elif report.kind is ReportKind.ENDED and not report.more and report.end is not None:
            self.finish(CommandResult(report.end, report.reason, report))


class Texts:
    """The texts of one sender."""

    def __init__(self, carrier: Carrier, changed: Condition, sender: str) -> None:
        self._carrier, self._changed = carrier, changed
        self._sender = TextSender(carrier, sender)
        self._running: dict[int, RunningText] = {}
        self._alive = carrier.now()  # [s] when reports were published last
        self.tasks: dict[int, str] = {}  # shown to the operator now
        carrier.subscribe(REPORTS, self._on_report)
        carrier.subscribe(TASKS, self._on_task)

    def begin(self, text: str, limit: float) -> RunningText:
        """Send a text."""
        with self._changed:
            running = RunningText(self._changed, limit, lambda words: self.begin(words, limit))
            self._running[self._sender.send(text, self._carrier.now())] = running
            return running

    def step(self, now: float) -> None:
        """Send again what is due; end what is not answered."""
        late = [sent.number for sent in self._sender.step(now)]
        if self._carrier.node.count_publishers(self._carrier.topic_name(REPORTS)) or not self._running:
            self._alive = now
        gone = list(self._running) if now - self._alive > GONE else []
        for number in (*late, *gone):
            running = self._running.pop(number, None)
            if running is not None:
                running.finish(CommandResult(CommandEnd.NO_ANSWER, "the decision unit has gone" if gone else ""))

    def _on_report(self, message: Any) -> None:
        if not self._sender.take(message, self._carrier.now()):
            return
        running = self._running.get(message.text_number)
        if running is not None:
            running.receive(report_from_message(message))
            if running.ended:
                del self._running[message.text_number]

    def _on_task(self, message: Any) -> None:
        if message.shown:
            self.tasks[message.task] = message.text
        else:
            self.tasks.pop(message.task, None)


def report_from_message(message: Any) -> CommandReport:
    """Value of CommandReport.msg."""
    steps = (TrialStep(t.step, t.kind, t.ok, t.note, t.duration, tuple(t.target)) for t in message.trial)
    return CommandReport(
        kind=ReportKind(message.kind),
        text=message.text,
        ok=message.ok,
        command=message.command,
        end=CommandEnd(message.outcome) if message.outcome else None,
        reason=message.reason,
        step=message.step,
        steps_done=message.steps_done,
        trims=tuple(message.trims),
        notes=tuple(message.notes),
        trial=tuple(steps),
        elapsed=message.elapsed,
        more=message.more,
    )
