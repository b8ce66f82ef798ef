"""Decision unit: dispatches the workers, holds the resources, ends commands [JPL-RTC section 5].

Time is an argument; each method takes one message and returns its outputs in order. The unit computes nothing, so it
is idle again at once and a halt reaches the subsystems whatever else runs. It never parses, solves kinematics,
evaluates reports, or writes the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from telerobot_nodes.rtc.decision.command_record import NO_BREAKPOINTS, Breakpoints, CommandRecord
from telerobot_nodes.rtc.decision.command_states import MOVING, Event, State
from telerobot_nodes.rtc.decision.command_table import CommandTable
from telerobot_nodes.rtc.decision.jobs import AnalyseReport, JobDone
from telerobot_nodes.rtc.decision.lifetime import CommandLifetime
from telerobot_nodes.rtc.decision.messages import CommandOutcome, HaltSubsystem, HoldSubsystem, Output, Progress
from telerobot_nodes.rtc.decision.operator_tasks import OperatorTaskList
from telerobot_nodes.rtc.decision.script_trace import ScriptState
from telerobot_nodes.rtc.decision.step_loop import StepLoop
from telerobot_nodes.rtc.decision.waits import TimedWaits
from telerobot_nodes.rtc.language import Define, Statement
from telerobot_nodes.rtc.skills import Library, Report, ResourceManager

LATE = 5.0  # [s] beyond a primitive's own limit before its subsystem counts as lost
MAX_MACROS = 1000


class DecisionUnit:
    """The finite state machine of all commands."""

    def __init__(self, library: Library) -> None:
        self.tasks = OperatorTaskList()
        self.waits = TimedWaits()
        self.ignored_reports = 0
        self._shown: dict[int, tuple[object, ...]] = {}  # of each script, as last shown
        self._table = CommandTable(library)
        self._lifetime = CommandLifetime(self._table, self.tasks, self.waits)
        self._loop = StepLoop(self._table, self._lifetime, self.tasks, self.waits)

    @property
    def library(self) -> Library:
        """Skill files in use for new commands."""
        return self._table.library

    @property
    def commands(self) -> Mapping[int, CommandRecord]:
        """Commands under way, by number."""
        return self._table.commands

    @property
    def macros(self) -> dict[str, Define]:
        """Macros by name."""
        return self._table.macros

    @property
    def resources(self) -> ResourceManager:
        """The resources and their holders."""
        return self._table.resources

    @property
    def global_error(self) -> str:
        """Error of the whole workcell that has not been reset, or an empty text."""
        return self._table.global_error

    def reset(self) -> str:
        """Acknowledge the global error; returns it."""
        error, self._table.global_error = self._table.global_error, ""
        return error

    def start(
        self,
        sender: str,
        text: str | bytes,
        now: float,
        statements: tuple[Statement, ...] = (),
        agent: str = "program",
        breakpoints: Breakpoints = NO_BREAKPOINTS,
    ) -> tuple[int, list[Output]]:
        """Start a command for an agent; returns its number and the outputs. `statements`: the text, if parsed."""
        self._table.now = now
        record = self._lifetime.start(sender, text, statements, agent, breakpoints=breakpoints)
        return record.number, self._table.take()

    def job_done(self, done: JobDone, now: float) -> list[Output]:
        """Take a worker's answer; an answer that no command waits for is ignored."""
        self._table.now = now
        record = self._table.waiting_for(done)
        if record is not None:
            self._loop.job_done(record, done)
        return self._table.take()

    def report(self, report: Report, now: float) -> list[Output]:
        """Take a subsystem's report of a primitive; reports of finished primitives are counted and ignored."""
        self._table.now = now
        record = self._table.executing(report.primitive)
        if record is None or record.state not in MOVING or record.context is None:
            self.ignored_reports += 1
            return []
        if not report.final:
            return [Progress(record.number, record.step_name, report.note or report.outcome)]
        self._table.out += self.tasks.withdraw(report.primitive)
        self.waits.remove(report.primitive)
        record.go(Event.REPORTED)
        record.stop_by = float("inf")
        self._table.dispatch(record, AnalyseReport(record.context, report))
        return self._table.take()

    def halt(self, reason: str, now: float, records: Iterable[CommandRecord] | None = None) -> list[Output]:
        """Stop now: the subsystems first, then the bookkeeping. `records` None: everything that can move."""
        self._table.now = now
        chosen = list(self.commands.values()) if records is None else list(records)
        for record in chosen:
            if record.primitive is not None and record.state in MOVING:
                self._table.out.append(HaltSubsystem(record.primitive.subsystem, reason, record.primitive.number))
        if records is None:
            self._table.out += [HaltSubsystem(arm, reason) for arm in self.library.workcell.arms]
        for record in chosen:
            self._lifetime.stop(record, "halted", reason)
        return self._table.take()

    def cancel(
        self, records: Iterable[CommandRecord], now: float, outcome: CommandOutcome = "cancelled", reason: str = ""
    ) -> list[Output]:
        """End commands in order."""
        self._table.now = now
        for record in list(records):
            self._lifetime.stop(record, outcome, reason or outcome)
        return self._table.take()

    def pause(self, records: Iterable[CommandRecord], hold: bool, now: float) -> list[Output]:
        """Hold commands where they are, or let them continue."""
        self._table.now = now
        for record in [record for record in records if record.paused != hold]:
            record.paused = hold
            if hold:
                record.paused_at = now
            else:
                record.sent_at += now - record.paused_at  # time on hold is no time of the primitive
            if record.state is State.EXECUTING and record.primitive is not None:
                self._table.out.append(HoldSubsystem(record.primitive.number, record.primitive.subsystem, hold))
            elif record.state is State.AT_BREAKPOINT and hold:
                record.wait_no_more(Event.PAUSE, now)
            elif record.state is State.PAUSED and not hold:
                self._loop.resume(record)
        return self._table.take()

    def step(self, records: Iterable[CommandRecord], each: bool, now: float) -> list[Output]:
        """Let commands leave their breakpoints. `each`: they wait again before every later step, else no more so."""
        self._table.now = now
        for record in records:
            record.breakpoints = replace(record.breakpoints, each=each)
            if record.state is State.AT_BREAKPOINT:
                self._loop.step(record)
        return self._table.take()

    @staticmethod
    def set_breakpoints(records: Iterable[CommandRecord], names: frozenset[str]) -> None:
        """Add breakpoints to commands under way; none: remove those that they have."""
        for record in records:
            kept = record.breakpoints.names | names if names else names
            record.breakpoints = replace(record.breakpoints, names=kept)

    def tick(self, now: float) -> list[Output]:
        """Check the time: commands out of time, lost subsystems, unconfirmed halts, waits that are over."""
        self._table.now = now
        reports = [*self.waits.progress(now), *self.waits.over(now)]
        out = [output for report in reports for output in self.report(report, now)]
        for record in list(self.commands.values()):
            if now >= record.deadline and record.ending is None:
                self._lifetime.stop(record, "failed", "the command's time is over")
            elif record.state is State.STOPPING and now >= record.stop_by:
                self._lifetime.unconfirmed(record, "the halt was not confirmed")
            elif record.state is State.EXECUTING and record.primitive is not None and now >= record.lost_at(LATE):
                self._lifetime.stop(record, "failed", f"{record.primitive.subsystem} does not answer")
        return out + self._table.take()

    def wake_at(self) -> float:
        """When `tick` is next needed [s]."""
        times = [self.waits.next_end()]
        for record in self.commands.values():
            times += [record.deadline if record.ending is None else float("inf"), record.stop_by]
            times.append(record.lost_at(LATE) if record.state is State.EXECUTING else float("inf"))
        return min(times)

    def script_changes(self, now: float) -> list[ScriptState]:
        """The scripts that have changed since the last call, those that have ended among them."""
        changed, self._table.ended_scripts = self._table.ended_scripts, []
        shown: dict[int, tuple[object, ...]] = {}
        for number, record in self._table.commands.items():
            if record.script is not None:
                shown[number] = (record.trace.version, record.state, record.paused, len(record.stack))
                if shown[number] != self._shown.get(number):
                    changed.append(record.script_state(now))
        self._shown = shown
        return changed

    def adopt(self, library: Library) -> None:
        """Use new skill files for new commands; commands under way keep theirs."""
        self._table.library = library
        for resource in library.workcell.resources:
            known = self.resources.resources.get(resource.name)
            if known != resource and not (known and self.resources.holders(resource.name)):
                self.resources.declare(resource)
