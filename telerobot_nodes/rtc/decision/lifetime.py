"""Start, stop and end of commands: every command ends with one report [JPL-RTC section 5]."""

from __future__ import annotations

from telerobot_nodes.core.protocol import StepState
from telerobot_nodes.rtc.decision.analysis import Context
from telerobot_nodes.rtc.decision.command_record import NO_BREAKPOINTS, Breakpoints, CommandRecord, Ending
from telerobot_nodes.rtc.decision.command_states import Event, State
from telerobot_nodes.rtc.decision.command_table import CommandTable
from telerobot_nodes.rtc.decision.jobs import AbandonPrimitive, JobResult, ParseText, TrialReport
from telerobot_nodes.rtc.decision.messages import CommandOutcome, CommandReport, HaltSubsystem
from telerobot_nodes.rtc.decision.operator_tasks import OperatorTaskList
from telerobot_nodes.rtc.decision.waits import TimedWaits
from telerobot_nodes.rtc.language import Statement

STOP_TIME = 2.0  # [s] a subsystem has to confirm that it has stopped
MAX_COMMANDS = 256  # at once


class CommandLifetime:
    """Starts and ends commands in the table."""

    def __init__(self, table: CommandTable, tasks: OperatorTaskList, waits: TimedWaits) -> None:
        self._table, self._tasks, self._waits = table, tasks, waits

    def start(
        self,
        sender: str,
        text: str | bytes,
        statements: tuple[Statement, ...] = (),
        agent: str = "program",
        origin: int = 0,
        breakpoints: Breakpoints = NO_BREAKPOINTS,
    ) -> CommandRecord:
        """Start a command. The statements of a message run one after the other; `origin`: the command of the first."""
        record = self._table.open(sender, text)
        record.origin, record.agent, record.breakpoints = origin, agent, breakpoints
        if len(self._table.commands) > MAX_COMMANDS:
            self.end(record, "refused", f"{MAX_COMMANDS} commands are under way")
        else:
            work = ParseText(text, dict(self._table.macros), statements, agent, checked=origin > 0)
            self._table.dispatch(record, work)
        return record

    def stop(self, record: CommandRecord, outcome: CommandOutcome, reason: str) -> None:
        """End a command from any state; a second stop changes nothing."""
        if record.ending is not None:
            return
        record.ending = Ending(outcome, reason)
        record.rest = ()
        before = record.state
        record.go(Event.STOP)
        if before is State.EXECUTING and record.primitive is not None:
            latch = outcome == "halted"
            halt = HaltSubsystem(record.primitive.subsystem, reason, record.primitive.number, latch)
            if halt not in self._table.out:
                self._table.out.append(halt)
            record.stop_by = self._table.now + STOP_TIME
            self._table.out += self._tasks.withdraw(record.primitive.number)
            if record.primitive.subsystem in ("operator", "program"):  # people and clocks need not confirm
                self._waits.remove(record.primitive.number)
                self.unconfirmed(record, reason)
        elif record.state is State.ENDED:
            self._table.drop_job(record)
            self.close(record, outcome, reason)

    def unconfirmed(self, record: CommandRecord, why: str) -> None:
        """No subsystem will confirm the stop of a command: settle the database."""
        record.go(Event.FAIL)
        record.stop_by = float("inf")
        if record.ending is not None and why not in record.ending.reason:
            record.ending.reason += f"; {why}"
        if record.context is not None:
            self._table.dispatch(record, AbandonPrimitive(record.context, sent=True))

    def settled(self, record: CommandRecord, result: JobResult) -> None:
        """The analysis unit has answered for a command that was stopped."""
        if isinstance(result, Context):  # prepared, never sent
            self._table.dispatch(record, AbandonPrimitive(result, sent=False))
            return
        record.go(Event.SETTLED)
        ending = record.ending or Ending("halted", "stopped")
        self.close(record, ending.outcome, ending.reason)

    def fail_all(self, record: CommandRecord, note: str) -> None:
        """A command met an error of the whole workcell: end every command."""
        self._table.global_error = note
        record.go(Event.FAIL)
        others = [other for other in self._table.commands.values() if other is not record]
        self.close(record, "failed", f"global error: {note}")
        for other in others:
            if other.number in self._table.commands:
                self.stop(other, "halted", f"global error: {note}")

    def end(
        self, record: CommandRecord, outcome: CommandOutcome, reason: str, trial: TrialReport | None = None
    ) -> None:
        """End a command that holds and moves nothing."""
        record.go(Event.FINISHED if record.state is not State.PARSING else Event.FAIL)
        self.close(record, outcome, reason, trial)

    def close(
        self, record: CommandRecord, outcome: CommandOutcome, reason: str, trial: TrialReport | None = None
    ) -> None:
        """Report a command, release its resources, grant them to the next, start its sequel."""
        self._table.remove(record)
        record.trace.end(StepState.STOPPED, self._table.now, reason)
        if record.script is not None:
            self._table.ended_scripts.append(record.script_state(self._table.now, outcome, reason))
        left = len(record.rest)
        goes_on = bool(left) and outcome == "succeeded"
        if left and not goes_on:
            reason += f"; {left} command{'s' * (left > 1)} after it not begun"
        self._table.out.append(_report(record, outcome, reason, trial, self._table.now, goes_on))
        for number in self._table.resources.release(record.number):
            if number in self._table.commands:
                self._table.grant(self._table.commands[number])
        if goes_on:
            origin = record.origin or record.number
            self.start(record.sender, record.text, record.rest, record.agent, origin, record.breakpoints)


def _report(
    record: CommandRecord, outcome: CommandOutcome, reason: str, trial: TrialReport | None, now: float, more: bool
) -> CommandReport:
    return CommandReport(
        command=record.number,
        sender=record.sender,
        outcome=outcome,
        reason=reason,
        step=record.step_name,
        steps_done=record.steps_done,
        trims=tuple(record.recoveries),
        elapsed=now - record.started,
        text=record.request.text if record.request else record.text,
        label=record.label,
        notes=record.request.notes if record.request else (),
        trial=trial,
        origin=record.origin or record.number,
        more=more,
    )
