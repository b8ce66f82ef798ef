"""Decision Unit: dispatches the workers, holds the resources, ends commands [JPL-RTC section 5].

Time is an argument, messages go in, outputs come out; it computes nothing itself and is idle again at once, so that
a halt reaches the subsystems whatever else is going on. What belongs here: who is next. What must never enter:
parsing, kinematics, judging reports, writing the database.
"""

from __future__ import annotations

from telerobot_nodes.rtc.command_loop import ON_RESULT, CommandLoop
from telerobot_nodes.rtc.command_record import CommandRecord
from telerobot_nodes.rtc.command_states import MOVING, Event, State
from telerobot_nodes.rtc.messages import (
    HaltSubsystem,
    HoldSubsystem,
    JobDone,
    Output,
    Progress,
    Work,
)
from telerobot_nodes.rtc.primitives import Report
from telerobot_nodes.rtc.skills import Library


class DecisionUnit(CommandLoop):
    """The finite state machine in the middle. Each method takes one message and returns outputs in order."""

    def job_done(self, done: JobDone, now: float) -> list[Output]:
        """A worker's answer; answers nobody waits for any more are dropped."""
        self._now = now
        record = self.commands.get(self._jobs.pop(done.job, 0))
        if record is None or record.job != done.job:
            return []
        record.job = 0
        if record.state is State.SETTLING:
            self._settle(record, done.result)
        elif done.error:
            self._refused_by_worker(record, done.error)
        else:
            ON_RESULT[record.state](self, record, done)
        return self._take()

    def report(self, report: Report, now: float) -> list[Output]:
        """What a subsystem says of a primitive; reports on what is over are counted and ignored."""
        self._now = now
        record = next(
            (r for r in self.commands.values() if r.primitive and r.primitive.number == report.primitive), None
        )
        if record is None or record.state not in MOVING or record.primitive is None or record.context is None:
            self.ignored_reports += 1
            return []
        if not report.final:
            self._out.append(Progress(record.number, record.step_name, report.note or report.outcome))
            return self._take()
        self._out += self.desk.withdraw(report.primitive)
        self.watches.forget(report.primitive)
        record.go(Event.REPORTED)
        record.stop_by = float("inf")
        self._dispatch(record, Work.ANALYSE, context=record.context, report=report)
        return self._take()

    def halt(self, reason: str, now: float, records: list[CommandRecord] | None = None) -> list[Output]:
        """Stop now: the subsystems first, then the bookkeeping. `records` None: everything that can move."""
        self._now = now
        chosen = list(self.commands.values()) if records is None else records
        for record in chosen:
            if record.primitive is not None and record.state in MOVING:
                self._out.append(HaltSubsystem(record.primitive.subsystem, reason, record.primitive.number))
        if records is None:
            for arm in self.library.workcell.arms:
                self._out.append(HaltSubsystem(arm, reason))
        for record in chosen:
            self._stop(record, "halted", reason)
        return self._take()

    def halt_subsystem(self, subsystem: str, reason: str) -> list[Output]:
        """Stop a subsystem that no command moves."""
        return [HaltSubsystem(subsystem, reason)]

    def cancel(
        self, records: list[CommandRecord], now: float, outcome: str = "cancelled", reason: str = ""
    ) -> list[Output]:
        """End commands in order."""
        self._now = now
        for record in records:
            self._stop(record, outcome, reason or outcome)
        return self._take()

    def pause(self, records: list[CommandRecord], hold: bool, now: float) -> list[Output]:
        """Hold commands where they are, or let them go on."""
        self._now = now
        for record in records:
            if record.paused == hold:
                continue
            record.paused = hold
            if hold:
                record.paused_at = now
            else:
                record.sent_at += now - record.paused_at  # time on hold is no time of the primitive
            if record.state is State.EXECUTING and record.primitive is not None:
                self._out.append(HoldSubsystem(record.primitive.number, record.primitive.subsystem, hold))
            elif record.state is State.PAUSED and not hold:
                self._resume(record)
        return self._take()

    def tick(self, now: float) -> list[Output]:
        """Time has passed: timeouts of commands, lost subsystems, halts nobody confirmed, watches that are over."""
        self._now = now
        out: list[Output] = []
        for report in self.watches.over(now):
            out += self.report(report, now)
        for record in list(self.commands.values()):
            if now >= record.deadline and record.ending is None:
                self._stop(record, "failed", "the command's time is over")
            elif record.state is State.STOPPING and now >= record.stop_by:
                self._unconfirmed(record, "the halt was not confirmed")
            elif record.state is State.EXECUTING and now >= self._late(record):
                self._stop(
                    record, "failed", f"{record.primitive.subsystem if record.primitive else '?'} does not answer"
                )
        return out + self._take()

    def wake_at(self) -> float:
        """When `tick` is next needed [s]."""
        times = [self.watches.next()]
        for record in self.commands.values():
            times += [record.deadline if record.ending is None else float("inf"), record.stop_by]
            times.append(self._late(record) if record.state is State.EXECUTING else float("inf"))
        return min(times)

    def adopt(self, library: Library) -> None:
        """Use new skill files for the commands to come; those under way keep theirs."""
        self.library = library
        for resource in library.workcell.resources:
            known = self.resources.resources.get(resource.name)
            if known != resource and not (known and self.resources.holders(resource.name)):
                self.resources.declare(resource)
