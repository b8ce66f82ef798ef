"""The four-phase loop of each command [JPL-RTC sections 4 and 5].

Bind, set the evaluation context, send, evaluate the report. If a step fails, the next foreseen recovery runs
(JPL's word: trimming; the source lists the recoveries of a step on its trial stack), else the command fails.
"""

from __future__ import annotations

from collections.abc import Callable

from telerobot_nodes.core.protocol import StepState
from telerobot_nodes.rtc.decision.analysis import Context, Recommendation
from telerobot_nodes.rtc.decision.command_record import CommandRecord
from telerobot_nodes.rtc.decision.command_states import Event, State
from telerobot_nodes.rtc.decision.command_table import CommandTable
from telerobot_nodes.rtc.decision.jobs import (
    BindPrimitive,
    ElaborateScript,
    JobDone,
    JobResult,
    OpenContext,
    Parsed,
    TrialReport,
    TryRequest,
)
from telerobot_nodes.rtc.decision.lifetime import CommandLifetime
from telerobot_nodes.rtc.decision.messages import HoldSubsystem, Progress, Send
from telerobot_nodes.rtc.decision.operator_tasks import OperatorTaskList
from telerobot_nodes.rtc.decision.waits import TimedWaits
from telerobot_nodes.rtc.elaboration import ElaborationError, Request, Script
from telerobot_nodes.rtc.language import Task, Trial
from telerobot_nodes.rtc.skills import Answer, Primitive, ResourceError, Verdict


class StepLoop:
    """Takes the workers' answers for the commands in the table and decides what follows."""

    def __init__(
        self, table: CommandTable, lifetime: CommandLifetime, tasks: OperatorTaskList, waits: TimedWaits
    ) -> None:
        self._table, self._lifetime, self._tasks, self._waits = table, lifetime, tasks, waits
        self._on_result: dict[State, Callable[[CommandRecord, JobResult], None]] = {
            State.PARSING: self._parsed,
            State.ELABORATING: self._elaborated,
            State.BINDING: self._bound,
            State.SETTING_UP: self._ready,
            State.ANALYSING: self._analysed,
        }

    def job_done(self, record: CommandRecord, done: JobDone) -> None:
        """Take a worker's answer."""
        if record.state is State.SETTLING:
            self._lifetime.settled(record, done.result)
        elif done.error:
            self._rejected(record, done.error)
        else:
            self._on_result[record.state](record, done.result)

    def resume(self, record: CommandRecord) -> None:
        """Continue a command that was paused between two steps."""
        self._proceed(record, Event.RESUME)

    def step(self, record: CommandRecord) -> None:
        """Continue a command that waits at a breakpoint."""
        record.wait_no_more(Event.STEP, self._table.now)
        self._bind_next(record)

    def _parsed(self, record: CommandRecord, parsed: JobResult) -> None:
        if not isinstance(parsed, Parsed):
            self._rejected(record, "the parser returned no statement")
            return
        record.rest = parsed.statements[1:]
        record.request = parsed.request
        first = parsed.statements[0]
        if parsed.request is not None and isinstance(first, Trial):
            record.is_trial = True
            record.go(Event.GRANTED)  # a trial holds nothing and commands nothing
            rest = tuple(task for task in first.tasks[1:] if isinstance(task, Task))  # macros are expanded
            self._table.dispatch(record, TryRequest(parsed.request, rest))
        elif parsed.request is not None and isinstance(first, Task):
            self._admit(record, parsed.request)
        else:
            self._rejected(record, "only tasks are commands")

    def _admit(self, record: CommandRecord, request: Request) -> None:
        """Request the resources of a command, all at once."""
        others = (other for other in self._table.commands.values() if other is not record)
        if self._table.global_error:
            self._rejected(record, f"a global error is not reset: {self._table.global_error}")
            return
        if request.label and any(other.label == request.label for other in others):
            self._rejected(record, f"a command called {request.label!r} is under way")
            return
        try:
            reply = self._table.resources.request(record.number, request.resources, request.wait)
        except ResourceError as error:
            self._rejected(record, str(error))
            return
        blocked = ", ".join(f"{name} is held by command {holder}" for name, holder in reply.blocked_by)
        if reply.answer is Answer.REFUSED:
            self._rejected(record, blocked)
        elif reply.answer is Answer.WAITING:
            record.go(Event.UNDERSTOOD_BUSY)
            self._table.out.append(Progress(record.number, "", f"waits: {blocked}"))
        else:
            self._table.grant(record)

    def _elaborated(self, record: CommandRecord, result: JobResult) -> None:
        if isinstance(result, TrialReport):
            self._lifetime.end(record, "succeeded" if result.works else "failed", result.reason, result)
            return
        if not isinstance(result, Script):
            self._rejected(record, "the elaborator returned no script")
            return
        try:
            record.begin(result)
        except ElaborationError as error:
            self._fail(record, str(error))
            return
        if record.paused:
            record.go(Event.PAUSE)
        else:
            self._proceed(record, Event.ELABORATED)

    def _bound(self, record: CommandRecord, primitive: JobResult) -> None:
        if primitive is None:
            record.trace.end(StepState.SKIPPED, self._table.now)
            self._proceed(record, Event.SKIPPED)
            return
        if not isinstance(primitive, Primitive) or record.planned is None or record.request is None:
            self._rejected(record, "the binder returned no primitive")
            return
        record.primitive = primitive
        record.context = Context(record.planned, primitive, record.request, dict(record.results))
        record.go(Event.BOUND)
        self._table.dispatch(record, OpenContext(record.context))

    def _ready(self, record: CommandRecord, context: JobResult) -> None:
        if not isinstance(context, Context) or record.primitive is None or record.planned is None:
            self._rejected(record, "the evaluation context was not set")
            return
        record.context = context
        primitive = record.primitive
        record.sent(primitive, self._table.now)
        record.go(Event.READY)
        record.trace.sent(primitive)
        if primitive.subsystem == "operator":
            self._table.out.append(self._tasks.show(primitive))
        elif primitive.subsystem == "program":
            self._waits.begin(primitive, record.request, self._table.now)
        self._table.out += [_at_step(record, "begun"), Send(primitive)]
        if record.paused:
            self._table.out.append(HoldSubsystem(primitive.number, primitive.subsystem, True))

    def _analysed(self, record: CommandRecord, advice: JobResult) -> None:
        if not isinstance(advice, Recommendation):
            self._rejected(record, "the analysis unit returned no recommendation")
        elif advice.verdict is Verdict.CONTINUE:
            record.steps_done += 1
            self._table.out.append(_at_step(record, "done"))
            record.trace.end(StepState.DONE, self._table.now)
            record.results[record.step_name] = advice.result
            if record.paused:
                record.go(Event.PAUSE)
            else:
                self._proceed(record, Event.CONTINUE)
        elif advice.verdict is Verdict.RECOVER:
            self._recover(record, advice.note)
        elif advice.verdict is Verdict.REACT and advice.rule is not None and record.script is not None:
            self._table.out.append(Progress(record.number, record.step_name, advice.note))
            record.trace.end(StepState.STOPPED, self._table.now, advice.note)
            record.react(advice.rule)
            if record.request is not None:
                self._table.dispatch(record, ElaborateScript(record.request))
        elif advice.verdict is Verdict.GLOBAL:
            self._lifetime.fail_all(record, advice.note)
        else:
            self._fail(record, advice.note)

    def _proceed(self, record: CommandRecord, event: Event) -> None:
        """Bind the next step of the action stack, elaborate again after a recovery or a reflex, or end."""
        if not record.stack and record.reaction is not None:
            if not record.reaction.asks:
                self._fail(record, "done")
                return
            record.go_on(record.reaction)
        if not record.stack and record.replan is not None:
            record.go(Event.REPLAN)
            self._replan(record)
            return
        if record.breaks and record.next_step is not None:
            record.wait(self._table.now)
            self._table.out.append(Progress(record.number, record.next_step.name, record.state.value))
            return
        record.go(event)
        if not record.stack:
            record.go(Event.FINISHED)
            self._lifetime.close(record, "succeeded", "done")
        else:
            self._bind_next(record)

    def _bind_next(self, record: CommandRecord) -> None:
        """Take the next step off the action stack and have its numbers computed."""
        if record.request is not None:
            record.planned = planned = record.stack.pop()
            record.trace.begin(planned, self._table.now)
            record.primitive = record.context = None
            number = self._table.next_primitive()
            began = () if record.reaction else record.began.get(planned.name, ())
            self._table.dispatch(record, BindPrimitive(record.request, planned, number, dict(record.results), began))

    def _recover(self, record: CommandRecord, note: str) -> None:
        """Put the step's next recovery on the action stack; without one the command fails."""
        record.trace.end(StepState.FAILED, self._table.now, note)
        found = record.take_recovery()
        if found is None:
            self._fail(record, note)
            return
        recovery, steps = found
        again = record.repeats_irreversible(recovery)
        if again:
            self._fail(record, f"{note}; {recovery.name} would repeat {again}, which cannot be undone")
            return
        record.push_recovery(recovery, steps)
        self._table.out.append(Progress(record.number, record.step_name, f"{note}; recovery {recovery.name}"))
        self._proceed(record, Event.RECOVER)

    def _replan(self, record: CommandRecord) -> None:
        """Elaborate again from the database as it is now; what was chosen stays, as far as the recovery goes on."""
        if record.script is not None and record.request is not None:
            results = record.results_before(record.script)
            self._table.dispatch(record, ElaborateScript(record.request, results, record.choices_kept(record.script)))

    def _fail(self, record: CommandRecord, reason: str) -> None:
        """No recovery is left: repeat the whole command if allowed, else end it."""
        record.trace.end(StepState.FAILED, self._table.now, reason)
        if record.reaction is not None:
            rule = record.reaction.rule
            reason = f"{record.reaction.reason}, {rule.does}: {reason}"
        if record.may_retry and record.request is not None:
            record.restart(reason)
            self._table.dispatch(record, ElaborateScript(record.request))
            return
        record.go(Event.FAIL)
        self._lifetime.close(record, "failed", reason)

    def _rejected(self, record: CommandRecord, error: str) -> None:
        """A worker rejected its job, or a command is not admitted."""
        if record.state is State.PARSING:
            self._lifetime.end(record, "refused", error)
        elif record.state is State.SETTING_UP:
            record.go(Event.FAIL)
            self._lifetime.close(record, "failed", error)
        else:
            self._fail(record, error)


def _at_step(record: CommandRecord, text: str) -> Progress:
    return Progress(record.number, record.step_name, text, record.origin, shown=False)
