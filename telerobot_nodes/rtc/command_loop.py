"""The four-phase processing of each command inside the decision unit [JPL-RTC sections 4 and 5].

Bind, set the evaluation context, send, wait for the report, evaluate, trim or report up; resources all at once; one
report at the end. What belongs here: what follows from a worker's answer. Messages from outside are in `decision.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from telerobot_nodes.rtc.analysis import Context, Recommendation
from telerobot_nodes.rtc.command_record import CommandRecord, Ending
from telerobot_nodes.rtc.command_states import Event, State
from telerobot_nodes.rtc.elaborator import ElaborationError, Script
from telerobot_nodes.rtc.messages import (
    CommandReport,
    Dispatch,
    HaltSubsystem,
    HoldSubsystem,
    Job,
    JobDone,
    JobResult,
    Output,
    Parsed,
    Progress,
    Send,
    TrialReport,
    Work,
)
from telerobot_nodes.rtc.operator_desk import OperatorDesk
from telerobot_nodes.rtc.primitives import Primitive
from telerobot_nodes.rtc.resources import Answer, ResourceError, ResourceManager
from telerobot_nodes.rtc.skills import Library, Verdict
from telerobot_nodes.rtc.syntax import Define, Statement, Task, Trial
from telerobot_nodes.rtc.watches import Watches

STOP_TIME = 2.0  # [s] a subsystem has to confirm that it has stopped
LATE = 5.0  # [s] beyond a primitive's own limit before its subsystem counts as lost
MAX_COMMANDS = 256  # at once
MAX_MACROS = 1000


class CommandLoop:
    """The commands under way and what each waits for."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.resources = ResourceManager(library.workcell.resources)
        self.commands: dict[int, CommandRecord] = {}
        self.macros: dict[str, Define] = {}
        self.global_error = ""
        self.desk = OperatorDesk()
        self.watches = Watches()
        self.ignored_reports = 0
        self._out: list[Output] = []
        self._jobs: dict[int, int] = {}  # job to command
        self._numbers = {"command": 0, "job": 0, "primitive": 0}
        self._now = 0.0

    def start(
        self, sender: str, text: str | bytes, now: float, statement: Statement | None = None
    ) -> tuple[int, list[Output]]:
        """A new command; its number and outputs. Statements of the same message follow one another."""
        self._now = now
        number = self._next("command")
        shown = text if isinstance(text, str) else repr(text[:80])
        record = CommandRecord(number, sender, shown, now, self.library)
        self.commands[number] = record
        if len(self.commands) > MAX_COMMANDS:
            self._end(record, "refused", f"{MAX_COMMANDS} commands are under way")
        else:
            self._dispatch(record, Work.PARSE, text=text, statement=statement, macros=dict(self.macros))
        return number, self._take()

    # ------------------------------------------------------------ results of workers, by state
    def _parsed(self, record: CommandRecord, done: JobDone) -> None:
        parsed = done.result
        if not isinstance(parsed, Parsed):
            self._end(record, "refused", "the parser gave no statement")
            return
        record.rest = (*parsed.statements[1:], *record.rest)
        statement = parsed.statements[0]
        if isinstance(statement, Trial):
            self._begin_trial(record, statement)
        elif isinstance(statement, Task) and parsed.request is not None:
            self._understood(record, parsed)
        else:
            self._end(record, "refused", "only tasks are commands; give the words to the interface", sequel=False)

    def _begin_trial(self, record: CommandRecord, statement: Trial) -> None:
        record.is_trial = True
        self._dispatch(record, Work.PARSE, statement=statement.task, text=record.text, macros=dict(self.macros))

    def _understood(self, record: CommandRecord, parsed: Parsed) -> None:
        record.request = request = parsed.request
        if request is None:
            return
        if record.is_trial:
            record.go(Event.GRANTED)  # nothing is held: nothing is commanded
            self._dispatch(record, Work.TRY, request=request)
            return
        if self.global_error:
            self._end(record, "refused", f"a global error is not reset: {self.global_error}")
            return
        if request.label and any(r.label == request.label and r is not record for r in self.commands.values()):
            self._end(record, "refused", f"a command called {request.label!r} is under way")
            return
        try:
            reply = self.resources.request(record.number, request.resources, request.wait)
        except ResourceError as error:
            self._end(record, "refused", str(error))
            return
        blocked = ", ".join(f"{name} is held by command {holder}" for name, holder in reply.blocked_by)
        if reply.answer is Answer.REFUSED:
            self._end(record, "refused", blocked)
        elif reply.answer is Answer.WAITING:
            record.go(Event.UNDERSTOOD_BUSY)
            self._out.append(Progress(record.number, "", f"waits: {blocked}"))
        else:
            self._granted(record)

    def _granted(self, record: CommandRecord) -> None:
        record.go(Event.GRANTED)
        self._dispatch(record, Work.ELABORATE, request=record.request)

    def _elaborated(self, record: CommandRecord, done: JobDone) -> None:
        if isinstance(done.result, TrialReport):
            outcome = "succeeded" if done.result.works else "failed"
            self._end(record, outcome, done.result.reason, trial=done.result)
            return
        if not isinstance(done.result, Script):
            self._refused_by_worker(record, "the elaborator gave no script")
            return
        try:
            record.begin(done.result)
        except ElaborationError as error:
            self._fail(record, str(error))
            return
        if record.paused:
            record.go(Event.PAUSE)
            return
        record.go(Event.ELABORATED)
        self._advance(record)

    def _bound(self, record: CommandRecord, done: JobDone) -> None:
        if done.nothing:
            record.go(Event.SKIPPED)
            self._advance(record)
            return
        if not isinstance(done.result, Primitive) or record.planned is None or record.request is None:
            self._refused_by_worker(record, "the binder gave no primitive")
            return
        record.primitive = done.result
        record.context = Context(record.planned, done.result, record.request, dict(record.results))
        record.go(Event.BOUND)
        self._dispatch(record, Work.OPEN, context=record.context)

    def _ready(self, record: CommandRecord, done: JobDone) -> None:
        if not isinstance(done.result, Context) or record.primitive is None or record.planned is None:
            self._refused_by_worker(record, "the evaluation context was not set")
            return
        record.context = done.result
        record.sent_at = self._now
        if record.planned.step.irreversible:
            record.irreversible.append(record.planned.name)
        record.go(Event.READY)
        primitive = record.primitive
        if primitive.subsystem == "operator":
            self._out.append(self.desk.show(primitive))
        elif primitive.subsystem == "program":
            self.watches.begin(primitive, record.request, self._now)
        self._out.append(Send(primitive))
        if record.paused:
            self._out.append(HoldSubsystem(primitive.number, primitive.subsystem, True))

    def _analysed(self, record: CommandRecord, done: JobDone) -> None:
        advice = done.result
        if not isinstance(advice, Recommendation):
            self._refused_by_worker(record, "the analysis unit gave no recommendation")
            return
        note = advice.note
        if advice.verdict is Verdict.CONTINUE:
            record.steps_done += 1
            record.results[record.step_name] = advice.result
            self._continue(record)
        elif advice.verdict is Verdict.TRIM:
            self._trim(record, note)
        elif advice.verdict is Verdict.GLOBAL:
            self._global(record, note)
        else:
            self._fail(record, note)

    # ------------------------------------------------------------ the loop of a skill
    def _advance(self, record: CommandRecord) -> None:
        """In BINDING: bind the next step of the action stack, or end."""
        if record.stack:
            record.planned = record.stack.pop()
            record.primitive = record.context = None
            number = self._next("primitive")
            self._dispatch(
                record,
                Work.BIND,
                request=record.request,
                planned=record.planned,
                primitive=number,
                results=dict(record.results),
            )
        elif record.replan is not None:
            record.go(Event.REPLAN)
            self._replan(record)
        else:
            record.go(Event.FINISHED)
            self._close(record, "succeeded", "done")

    def _continue(self, record: CommandRecord) -> None:
        if record.paused:
            record.go(Event.PAUSE)
            return
        if not record.stack and record.replan is not None:
            record.go(Event.REPLAN)
            self._replan(record)
            return
        record.go(Event.CONTINUE)
        self._advance(record)

    def _resume(self, record: CommandRecord) -> None:
        if not record.stack and record.replan is not None:
            record.go(Event.REPLAN)
            self._replan(record)
            return
        record.go(Event.RESUME)
        self._advance(record)

    def _trim(self, record: CommandRecord, note: str) -> None:
        """Determine trimming; if any is available put it on the action stack, else report up."""
        found = record.next_trial()
        if found is None:
            self._fail(record, note)
            return
        trial, steps = found
        again = record.repeats_irreversible(trial)
        if again:
            self._fail(record, f"{note}; {trial.name} would repeat {again}, which cannot be undone")
            return
        record.push_trial(trial, steps)
        self._out.append(Progress(record.number, record.step_name, f"{note}; trial {trial.name}"))
        if record.stack or record.replan is None:
            record.go(Event.TRIM)
            self._advance(record)
        else:
            record.go(Event.REPLAN)
            self._replan(record)

    def _replan(self, record: CommandRecord) -> None:
        """The script anew from the database as it is now; the candidates chosen stay chosen."""
        chosen = record.script.chosen if record.script is not None else None
        results = record.results_before(record.script) if record.script is not None else {}
        self._dispatch(record, Work.ELABORATE, request=record.request, results=results, chosen=chosen)

    def _fail(self, record: CommandRecord, reason: str) -> None:
        """No trial left: the whole command again if it may, else its end."""
        request = record.request
        skill = record.library.skills[request.skill] if request else None
        may = skill is not None and skill.reversible and not record.irreversible
        if (
            request
            and may
            and record.retries_used < request.retries
            and record.state in (State.ANALYSING, State.BINDING)
        ):
            record.retries_used += 1
            record.trims.append(f"retry {record.retries_used}: {reason}")
            record.replan, record.stack, record.script = None, [], None
            record.results.clear()
            record.trims_used.clear()
            record.go(Event.REPLAN)
            self._dispatch(record, Work.ELABORATE, request=request)
            return
        record.go(Event.FAIL)
        self._close(record, "failed", reason)

    def _refused_by_worker(self, record: CommandRecord, error: str) -> None:
        if record.state is State.PARSING:
            self._end(record, "refused", error)
        elif record.state is State.SETTING_UP:
            record.go(Event.FAIL)
            self._close(record, "failed", error)
        else:
            self._fail(record, error)

    # ------------------------------------------------------------ ends
    def _global(self, record: CommandRecord, note: str) -> None:
        """An error of the whole workcell ends every command."""
        self.global_error = note
        record.go(Event.FAIL)
        others = [other for other in self.commands.values() if other is not record]
        self._close(record, "failed", f"global error: {note}")
        for other in others:
            if other.number in self.commands:
                self._stop(other, "halted", f"global error: {note}")

    def _stop(self, record: CommandRecord, outcome: str, reason: str) -> None:
        """Bring a command to its end from any state; a second stop changes nothing."""
        if record.ending is not None:
            return
        record.ending = Ending(outcome, reason)
        record.rest = ()
        before = record.state
        record.go(Event.STOP)
        if before is State.EXECUTING and record.primitive is not None:
            halt = HaltSubsystem(record.primitive.subsystem, reason, record.primitive.number)
            if halt not in self._out:
                self._out.append(halt)
            record.stop_by = self._now + STOP_TIME
            self._out += self.desk.withdraw(record.primitive.number)
            if record.primitive.subsystem in ("operator", "program"):  # people and clocks need not confirm
                self.watches.forget(record.primitive.number)
                self._unconfirmed(record, reason)
        elif record.state is State.ENDED:
            self._drop_job(record)
            self._close(record, outcome, reason)

    def _unconfirmed(self, record: CommandRecord, why: str) -> None:
        record.go(Event.FAIL)
        record.stop_by = float("inf")
        if record.ending is not None and why not in record.ending.reason:
            record.ending.reason += f"; {why}"
        self._dispatch(record, Work.ABANDON, context=record.context, sent=True)

    def _settle(self, record: CommandRecord, result: JobResult) -> None:
        """The last word of the analysis unit on a command that was stopped."""
        if isinstance(result, Context):  # set up, never sent
            self._dispatch(record, Work.ABANDON, context=result, sent=False)
            return
        record.go(Event.SETTLED)
        ending = record.ending or Ending("halted", "stopped")
        self._close(record, ending.outcome, ending.reason)

    def _end(
        self, record: CommandRecord, outcome: str, reason: str, trial: TrialReport | None = None, sequel: bool = True
    ) -> None:
        """End from a state in which nothing is held or moving."""
        record.go(Event.FINISHED if record.state is not State.PARSING else Event.FAIL)
        self._close(record, outcome, reason, trial, sequel)

    def _close(
        self, record: CommandRecord, outcome: str, reason: str, trial: TrialReport | None = None, sequel: bool = True
    ) -> None:
        """The one report, the resources, and who is next."""
        del self.commands[record.number]
        self._drop_job(record)
        left = len(record.rest)
        if left and outcome != "succeeded":
            reason += f"; {left} command{'s' * (left > 1)} after it not begun"
        self._out.append(
            CommandReport(
                record.number,
                record.sender,
                outcome,
                reason,
                record.step_name,
                record.steps_done,
                tuple(record.trims),
                self._now - record.started,
                record.request.text if record.request else record.text,
                record.label,
                record.request.notes if record.request else (),
                trial,
                record.origin or record.number,
                bool(left and outcome == "succeeded" and sequel),
            )
        )
        for number in self.resources.release(record.number):
            if number in self.commands:
                self._granted(self.commands[number])
        if left and outcome == "succeeded" and sequel:
            self._sequel(record)

    def _sequel(self, record: CommandRecord) -> None:
        out, self._out = self._out, []
        number, more = self.start(record.sender, record.text, self._now, record.rest[0])
        if number in self.commands:
            self.commands[number].rest = record.rest[1:]
            self.commands[number].origin = record.origin or record.number
        self._out = out + more

    # ------------------------------------------------------------ bookkeeping
    def _late(self, record: CommandRecord) -> float:
        if record.paused or record.primitive is None:
            return float("inf")
        return record.sent_at + record.primitive.limit + LATE

    def _dispatch(self, record: CommandRecord, work: Work, **values: object) -> None:
        number = self._next("job")
        record.job = number
        self._jobs[number] = record.number
        job = Job(number, record.number, work, library=record.library, **values)  # type: ignore[arg-type]
        self._out.append(Dispatch(job))

    def _drop_job(self, record: CommandRecord) -> None:
        self._jobs.pop(record.job, None)
        record.job = 0

    def _next(self, kind: str) -> int:
        self._numbers[kind] += 1
        return self._numbers[kind]

    def _take(self) -> list[Output]:
        out, self._out = self._out, []
        return out


ON_RESULT: Mapping[State, Callable[[CommandLoop, CommandRecord, JobDone], None]] = {
    State.PARSING: CommandLoop._parsed,
    State.ELABORATING: CommandLoop._elaborated,
    State.BINDING: CommandLoop._bound,
    State.SETTING_UP: CommandLoop._ready,
    State.ANALYSING: CommandLoop._analysed,
}
